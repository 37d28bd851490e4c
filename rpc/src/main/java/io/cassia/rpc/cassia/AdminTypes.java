package io.cassia.rpc.cassia;

import static io.cassia.rpc.pack.WireType.BOOL;
import static io.cassia.rpc.pack.WireType.BYTES;
import static io.cassia.rpc.pack.WireType.I32;
import static io.cassia.rpc.pack.WireType.I64;
import static io.cassia.rpc.pack.WireType.STRING;
import static io.cassia.rpc.pack.WireType.U64;
import static io.cassia.rpc.pack.WireType.list;
import static io.cassia.rpc.pack.WireType.struct;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.ClientInfo;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMessages.Decision;
import io.cassia.rpc.cassia.CassiaMessages.DrainJob;
import io.cassia.rpc.cassia.CassiaMessages.Explain;
import io.cassia.rpc.cassia.CassiaMessages.Explanation;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.KeyShard;
import io.cassia.rpc.cassia.CassiaMessages.ListShard;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
import io.cassia.rpc.cassia.CassiaMessages.PrefixHit;
import io.cassia.rpc.cassia.CassiaMessages.SetTenantQuota;
import io.cassia.rpc.cassia.CassiaMessages.TenantQuota;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.rpc.pack.WireType;
import io.cassia.status.Outcome;
import java.util.List;

/** Wire forms of what {@link CassiaMethods} beyond reading and listing carry. Immutable. */
final class AdminTypes {
    private static final WireType<List<ByteString>> KEYS = list(BYTES);
    private static final WireType<List<String>> STRINGS = list(STRING);
    private static final WireType<Uuid> UUID = MasterMethods.PING.arguments().type();
    private static final WireType<List<Outcome<ReplicaList>>> OBJECTS =
            list(MasterMethods.GET_REPLICA_LIST.result().type());

    static final WireType<LongestPrefix> LONGEST_PREFIX =
            struct(
                    r -> new LongestPrefix(KEYS.read(r), r.bytes(), r.i64(), r.bool(), r.bool()),
                    (w, v) -> {
                        KEYS.write(w, v.keys());
                        w.bytes(v.tenant());
                        w.i64(v.leaseTtlMs());
                        w.bool(v.counted());
                        w.bool(v.withReplicas());
                    },
                    KEYS,
                    BYTES,
                    U64,
                    BOOL,
                    BOOL);

    static final WireType<PrefixHit> PREFIX_HIT =
            struct(
                    r -> new PrefixHit(r.i64(), r.i64(), r.i64(), OBJECTS.read(r)),
                    (w, v) -> {
                        w.i64(v.count());
                        w.i64(v.leaseId());
                        w.i64(v.leaseTtlMs());
                        OBJECTS.write(w, v.objects());
                    },
                    U64,
                    U64,
                    U64,
                    OBJECTS);

    static final WireType<Explain> EXPLAIN =
            struct(
                    r -> new Explain(r.bytes(), r.bytes()),
                    (w, v) -> {
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                    },
                    BYTES,
                    BYTES);

    private static final WireType<Decision> DECISION =
            struct(
                    r -> new Decision(r.string(), r.i64(), r.i64(), r.string()),
                    (w, v) -> {
                        w.string(v.what());
                        w.i64(v.agoMs());
                        w.i64(v.size());
                        w.string(v.detail());
                    },
                    STRING,
                    U64,
                    U64,
                    STRING);
    private static final WireType<List<Decision>> DECISIONS = list(DECISION);

    static final WireType<Explanation> EXPLANATION =
            struct(
                    r -> new Explanation(r.string(), r.bool(), DECISIONS.read(r)),
                    (w, v) -> {
                        w.string(v.state());
                        w.bool(v.readable());
                        DECISIONS.write(w, v.decisions());
                    },
                    STRING,
                    BOOL,
                    DECISIONS);

    static final WireType<SetTenantQuota> SET_TENANT_QUOTA =
            struct(
                    r -> new SetTenantQuota(r.bytes(), r.i64()),
                    (w, v) -> {
                        w.bytes(v.tenant());
                        w.i64(v.requestedBytes());
                    },
                    BYTES,
                    U64);

    static final WireType<TenantQuota> TENANT_QUOTA =
            struct(
                    r ->
                            new TenantQuota(
                                    r.bytes(), r.i64(), r.i64(), r.i64(), r.i64(), r.bool(),
                                    r.bool(), r.bool()),
                    (w, v) -> {
                        w.bytes(v.tenant());
                        w.i64(v.requestedBytes());
                        w.i64(v.effectiveBytes());
                        w.i64(v.chargedBytes());
                        w.i64(v.objects());
                        w.bool(v.admissionClosed());
                        w.bool(v.overQuota());
                        w.bool(v.explicit());
                    },
                    BYTES,
                    U64,
                    U64,
                    U64,
                    U64,
                    BOOL,
                    BOOL,
                    BOOL);

    static final WireType<CreateDrainJob> CREATE_DRAIN_JOB =
            struct(
                    r -> new CreateDrainJob(STRINGS.read(r), STRINGS.read(r), r.i64()),
                    (w, v) -> {
                        STRINGS.write(w, v.segments());
                        STRINGS.write(w, v.targets());
                        w.i64(v.maxConcurrency());
                    },
                    STRINGS,
                    STRINGS,
                    U64);

    static final WireType<DrainJob> DRAIN_JOB =
            struct(
                    r ->
                            new DrainJob(
                                    UUID.read(r),
                                    r.i32(),
                                    r.i64(),
                                    r.i64(),
                                    STRINGS.read(r),
                                    STRINGS.read(r),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.string()),
                    (w, v) -> {
                        UUID.write(w, v.id());
                        w.i32(v.status());
                        w.i64(v.createdAtMs());
                        w.i64(v.updatedAtMs());
                        STRINGS.write(w, v.segments());
                        STRINGS.write(w, v.targets());
                        w.i64(v.maxConcurrency());
                        w.i64(v.succeededUnits());
                        w.i64(v.failedUnits());
                        w.i64(v.blockedUnits());
                        w.i64(v.activeUnits());
                        w.i64(v.migratedBytes());
                        w.string(v.message());
                    },
                    UUID,
                    I32,
                    I64,
                    I64,
                    STRINGS,
                    STRINGS,
                    U64,
                    U64,
                    U64,
                    U64,
                    U64,
                    U64,
                    STRING);

    static final WireType<ClientInfo> CLIENT_INFO =
            struct(
                    r -> new ClientInfo(UUID.read(r), r.i32(), r.i64(), STRINGS.read(r)),
                    (w, v) -> {
                        UUID.write(w, v.id());
                        w.i32(v.state());
                        w.i64(v.silentMs());
                        STRINGS.write(w, v.segments());
                    },
                    UUID,
                    I32,
                    U64,
                    STRINGS);

    static final WireType<ListShard> LIST_SHARD =
            struct(
                    r -> new ListShard(r.i64(), r.bytes()),
                    (w, v) -> {
                        w.i64(v.shard());
                        w.bytes(v.tenant());
                    },
                    U64,
                    BYTES);

    static WireType<KeyShard> keyShard(WireType<List<KeyInfo>> keys) {
        return struct(
                r -> new KeyShard(r.i64(), keys.read(r)),
                (w, v) -> {
                    w.i64(v.shards());
                    keys.write(w, v.keys());
                },
                U64,
                keys);
    }

    private AdminTypes() {}
}
