package io.cassia.rpc.cassia;

import static io.cassia.rpc.pack.WireType.BOOL;
import static io.cassia.rpc.pack.WireType.BYTES;
import static io.cassia.rpc.pack.WireType.U64;
import static io.cassia.rpc.pack.WireType.expected;
import static io.cassia.rpc.pack.WireType.list;
import static io.cassia.rpc.pack.WireType.struct;

import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.cassia.CassiaMessages.Acquire;
import io.cassia.rpc.cassia.CheckedMessages.CheckedAcquired;
import io.cassia.rpc.cassia.CheckedMessages.CheckedObject;
import io.cassia.rpc.cassia.CheckedMessages.DropReplica;
import io.cassia.rpc.cassia.CheckedMessages.EndChecked;
import io.cassia.rpc.cassia.CheckedMessages.UpsertStartIf;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.rpc.pack.WireReader;
import io.cassia.rpc.pack.WireType;
import io.cassia.rpc.pack.WireWriter;
import io.cassia.status.Outcome;
import java.util.List;
import java.util.OptionalLong;

/** The methods of a master that announces the capability {@link #CAPABILITY}. Immutable. */
public final class CheckedMethods {
    /** In the master's Hello: it keeps checksums and versions. */
    public static final String CAPABILITY = "checked";

    private static final WireType<List<ReplicaDescriptor>> REPLICAS =
            MasterMethods.REPLICA_DESCRIPTORS;

    private static final WireType<CheckedObject> OBJECT =
            struct(
                    r -> new CheckedObject(REPLICAS.read(r), r.i64(), readOptional(r), r.bytes()),
                    (w, v) -> {
                        REPLICAS.write(w, v.replicas());
                        w.i64(v.version());
                        writeOptional(w, v.crc64());
                        w.bytes(v.sums());
                    },
                    REPLICAS,
                    U64,
                    BOOL,
                    U64,
                    BYTES);

    private static final WireType<List<Outcome<CheckedObject>>> OBJECTS = list(expected(OBJECT));

    private static final WireType<CheckedAcquired> ACQUIRED =
            struct(
                    r -> new CheckedAcquired(r.i64(), r.i64(), OBJECTS.read(r)),
                    (w, v) -> {
                        w.i64(v.leaseId());
                        w.i64(v.leaseTtlMs());
                        OBJECTS.write(w, v.objects());
                    },
                    U64,
                    U64,
                    OBJECTS);

    static final WireType<WrittenObject> WRITTEN =
            struct(
                    r -> new WrittenObject(r.bytes(), readOptional(r), r.bytes()),
                    (w, v) -> {
                        w.bytes(v.key());
                        writeOptional(w, v.crc64());
                        w.bytes(v.sums());
                    },
                    BYTES,
                    BOOL,
                    U64,
                    BYTES);

    private static final WireType<Uuid> UUID = MasterMethods.PING.arguments().type();
    private static final WireType<List<WrittenObject>> ALL_WRITTEN = list(WRITTEN);

    private static final WireType<EndChecked> END =
            struct(
                    r -> new EndChecked(UUID.read(r), ALL_WRITTEN.read(r), r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        ALL_WRITTEN.write(w, v.objects());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    ALL_WRITTEN,
                    BYTES);

    private static final WireType<Args.PutStart> PUT =
            MasterMethods.UPSERT_START.arguments().type();

    private static final WireType<UpsertStartIf> UPSERT =
            struct(
                    r -> new UpsertStartIf(PUT.read(r), r.i64()),
                    (w, v) -> {
                        PUT.write(w, v.put());
                        w.i64(v.version());
                    },
                    PUT,
                    U64);

    private static final WireType<DropReplica> DROP =
            struct(
                    r -> new DropReplica(r.bytes(), r.bytes(), r.i64(), r.i64()),
                    (w, v) -> {
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                        w.i64(v.version());
                        w.i64(v.replica());
                    },
                    BYTES,
                    BYTES,
                    U64,
                    U64);

    /** As {@link CassiaMethods#ACQUIRE}, with checksums and versions. */
    public static final RpcMethod<Acquire, Outcome<CheckedAcquired>> ACQUIRE_CHECKED =
            method("AcquireChecked", CassiaMethods.ACQUIRE.arguments().type(), expected(ACQUIRED));

    /** Ends puts and upserts; the value is the version that became readable. */
    public static final RpcMethod<EndChecked, List<Outcome<Long>>> END_CHECKED =
            method("EndChecked", END, list(expected(U64)));

    /**
     * INVALID_VERSION when the object has another version, OBJECT_NOT_FOUND when there is none;
     * OBJECT_ALREADY_EXISTS when there must be none, as of PutStart.
     */
    public static final RpcMethod<UpsertStartIf, Outcome<List<ReplicaDescriptor>>> UPSERT_START_IF =
            method("UpsertStartIf", UPSERT, MasterMethods.UPSERT_START.result().type());

    /** Takes a replica out of service; false when that version or replica is gone already. */
    public static final RpcMethod<DropReplica, Outcome<Boolean>> DROP_REPLICA =
            method("DropReplica", DROP, expected(BOOL));

    /** All of the above. */
    public static final List<RpcMethod<?, ?>> ALL =
            List.of(ACQUIRE_CHECKED, END_CHECKED, UPSERT_START_IF, DROP_REPLICA);

    private CheckedMethods() {}

    private static OptionalLong readOptional(WireReader reader) {
        boolean present = reader.bool();
        long value = reader.i64();
        return present ? OptionalLong.of(value) : OptionalLong.empty();
    }

    private static void writeOptional(WireWriter writer, OptionalLong value) {
        writer.bool(value.isPresent());
        writer.i64(value.orElse(0));
    }

    private static <A, R> RpcMethod<A, R> method(
            String name, WireType<A> arguments, WireType<R> result) {
        return RpcMethod.of("cassia::Master::" + name, arguments, result);
    }
}
