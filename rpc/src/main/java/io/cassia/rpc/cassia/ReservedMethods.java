package io.cassia.rpc.cassia;

import static io.cassia.rpc.pack.WireType.BOOL;
import static io.cassia.rpc.pack.WireType.BYTES;
import static io.cassia.rpc.pack.WireType.MONOSTATE;
import static io.cassia.rpc.pack.WireType.U64;
import static io.cassia.rpc.pack.WireType.expected;
import static io.cassia.rpc.pack.WireType.list;
import static io.cassia.rpc.pack.WireType.struct;

import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.cassia.CheckedMessages.EndChecked;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.cassia.ReservedMessages.Commit;
import io.cassia.rpc.cassia.ReservedMessages.EndReserving;
import io.cassia.rpc.cassia.ReservedMessages.Ended;
import io.cassia.rpc.cassia.ReservedMessages.GiveBack;
import io.cassia.rpc.cassia.ReservedMessages.Reserved;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.rpc.pack.WireType;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.util.List;

/**
 * The methods of a master that announces the capability {@link #CAPABILITY}: a put in one trip
 * (docs/adr/0067). Immutable.
 */
public final class ReservedMethods {
    /** In the master's Hello: it reserves space for the next put. */
    public static final String CAPABILITY = "reserve";

    private static final WireType<List<Long>> U64S = list(U64);
    private static final WireType<List<List<ReplicaDescriptor>>> SPACES =
            list(MasterMethods.REPLICA_DESCRIPTORS);
    private static final WireType<Uuid> UUID = MasterMethods.PING.arguments().type();
    private static final WireType<ReplicateConfig> CONFIG = MasterMethods.REPLICATE_CONFIG;
    private static final WireType<EndChecked> END = CheckedMethods.END_CHECKED.arguments().type();
    private static final WireType<List<WrittenObject>> ALL_WRITTEN = list(CheckedMethods.WRITTEN);
    private static final WireType<List<Outcome<Long>>> VERSIONS = list(expected(U64));

    private static final WireType<Wanted> WANTED =
            struct(
                    r -> new Wanted(U64S.read(r), CONFIG.read(r)),
                    (w, v) -> {
                        U64S.write(w, v.lengths());
                        CONFIG.write(w, v.placement());
                    },
                    U64S,
                    CONFIG);

    private static final WireType<Reserved> RESERVED =
            struct(
                    r -> new Reserved(r.i64(), r.i64(), SPACES.read(r)),
                    (w, v) -> {
                        w.i64(v.ttlMs());
                        w.i64(v.termMs());
                        SPACES.write(w, v.spaces());
                    },
                    U64,
                    U64,
                    SPACES);

    private static final WireType<EndReserving> RESERVING =
            struct(
                    r -> new EndReserving(END.read(r), U64S.read(r), WANTED.read(r)),
                    (w, v) -> {
                        END.write(w, v.end());
                        U64S.write(w, v.puts());
                        WANTED.write(w, v.next());
                    },
                    END,
                    U64S,
                    WANTED);

    private static final WireType<Commit> COMMITTED =
            struct(
                    r ->
                            new Commit(
                                    UUID.read(r),
                                    ALL_WRITTEN.read(r),
                                    U64S.read(r),
                                    U64S.read(r),
                                    CONFIG.read(r),
                                    r.bool(),
                                    r.bytes(),
                                    WANTED.read(r)),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        ALL_WRITTEN.write(w, v.objects());
                        U64S.write(w, v.lengths());
                        U64S.write(w, v.spaces());
                        CONFIG.write(w, v.config());
                        w.bool(v.upsert());
                        w.bytes(v.tenant());
                        WANTED.write(w, v.next());
                    },
                    UUID,
                    ALL_WRITTEN,
                    U64S,
                    U64S,
                    CONFIG,
                    BOOL,
                    BYTES,
                    WANTED);

    private static final WireType<Ended> ENDED =
            struct(
                    r -> new Ended(VERSIONS.read(r), RESERVED.read(r)),
                    (w, v) -> {
                        VERSIONS.write(w, v.versions());
                        RESERVED.write(w, v.next());
                    },
                    VERSIONS,
                    RESERVED);

    private static final WireType<GiveBack> GIVEN_BACK =
            struct(
                    r -> new GiveBack(UUID.read(r), U64S.read(r)),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        U64S.write(w, v.spaces());
                    },
                    UUID,
                    U64S);

    /** Ends puts as {@link CheckedMethods#END_CHECKED} does, and reserves space for the next. */
    public static final RpcMethod<EndReserving, Outcome<Ended>> END_RESERVING =
            method("EndReserving", RESERVING, expected(ENDED));

    /**
     * For each object what a Start and an End would have answered at that moment; INVALID_WRITE
     * when its space is not its client's any more: nothing has changed then. The space of an object
     * that is refused is free.
     */
    public static final RpcMethod<Commit, Outcome<Ended>> COMMIT =
            method("Commit", COMMITTED, expected(ENDED));

    /** Spaces that are not this client's are passed over. */
    public static final RpcMethod<GiveBack, Outcome<Done>> GIVE_BACK =
            method("GiveBack", GIVEN_BACK, expected(MONOSTATE));

    /** All of the above. */
    public static final List<RpcMethod<?, ?>> ALL = List.of(END_RESERVING, COMMIT, GIVE_BACK);

    private ReservedMethods() {}

    private static <A, R> RpcMethod<A, R> method(
            String name, WireType<A> arguments, WireType<R> result) {
        return RpcMethod.of("cassia::Master::" + name, arguments, result);
    }
}
