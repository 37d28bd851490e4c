package io.cassia.rpc.cassia;

import static io.cassia.rpc.pack.WireType.BOOL;
import static io.cassia.rpc.pack.WireType.BYTES;
import static io.cassia.rpc.pack.WireType.I32;
import static io.cassia.rpc.pack.WireType.MONOSTATE;
import static io.cassia.rpc.pack.WireType.NO_ARGUMENTS;
import static io.cassia.rpc.pack.WireType.STRING;
import static io.cassia.rpc.pack.WireType.U64;
import static io.cassia.rpc.pack.WireType.expected;
import static io.cassia.rpc.pack.WireType.list;
import static io.cassia.rpc.pack.WireType.struct;

import io.cassia.base.ByteString;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.cassia.CassiaMessages.Acquire;
import io.cassia.rpc.cassia.CassiaMessages.Acquired;
import io.cassia.rpc.cassia.CassiaMessages.ClientInfo;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMessages.DrainJob;
import io.cassia.rpc.cassia.CassiaMessages.Explain;
import io.cassia.rpc.cassia.CassiaMessages.Explanation;
import io.cassia.rpc.cassia.CassiaMessages.HelloResult;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.KeyShard;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CassiaMessages.ListShard;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
import io.cassia.rpc.cassia.CassiaMessages.PrefixHit;
import io.cassia.rpc.cassia.CassiaMessages.Release;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.SetTenantQuota;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.cassia.CassiaMessages.TenantQuota;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.rpc.pack.WireType;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.util.List;

/**
 * Cassia's own methods of a master. Immutable. A Mooncake master answers them with "not
 * registered", which is how a client tells the two apart.
 */
public final class CassiaMethods {
    private static final WireType<List<ByteString>> KEYS = list(BYTES);
    private static final WireType<List<String>> STRINGS = list(STRING);
    private static final WireType<List<Long>> U64S = list(U64);
    private static final WireType<List<Outcome<List<ReplicaDescriptor>>>> OBJECTS =
            list(MasterMethods.PUT_START.result().type());

    private static final WireType<HelloResult> HELLO_RESULT =
            struct(
                    r -> new HelloResult(r.string(), STRINGS.read(r)),
                    (w, v) -> {
                        w.string(v.product());
                        STRINGS.write(w, v.capabilities());
                    },
                    STRING,
                    STRINGS);

    private static final WireType<Acquire> ACQUIRE_ARGUMENTS =
            struct(
                    r -> new Acquire(KEYS.read(r), r.bytes(), r.bool(), r.i64()),
                    (w, v) -> {
                        KEYS.write(w, v.keys());
                        w.bytes(v.tenant());
                        w.bool(v.prefixOnly());
                        w.i64(v.leaseTtlMs());
                    },
                    KEYS,
                    BYTES,
                    BOOL,
                    U64);

    private static final WireType<Acquired> ACQUIRED =
            struct(
                    r -> new Acquired(r.i64(), r.i64(), OBJECTS.read(r)),
                    (w, v) -> {
                        w.i64(v.leaseId());
                        w.i64(v.leaseTtlMs());
                        OBJECTS.write(w, v.objects());
                    },
                    U64,
                    U64,
                    OBJECTS);

    private static final WireType<Release> RELEASE_ARGUMENTS =
            struct(r -> new Release(U64S.read(r)), (w, v) -> U64S.write(w, v.leaseIds()), U64S);

    private static final WireType<ListKeys> LIST_KEYS_ARGUMENTS =
            struct(
                    r -> new ListKeys(r.bytes(), r.bytes(), r.i64(), r.bytes()),
                    (w, v) -> {
                        w.bytes(v.prefix());
                        w.bytes(v.after());
                        w.i64(v.limit());
                        w.bytes(v.tenant());
                    },
                    BYTES,
                    BYTES,
                    U64,
                    BYTES);

    private static final WireType<KeyInfo> KEY_INFO =
            struct(
                    r -> new KeyInfo(r.bytes(), r.i64(), r.bool(), r.i64(), r.i64()),
                    (w, v) -> {
                        w.bytes(v.key());
                        w.i64(v.size());
                        w.bool(v.readable());
                        w.i64(v.replicas());
                        w.i64(v.leaseMs());
                    },
                    BYTES,
                    U64,
                    BOOL,
                    U64,
                    U64);

    private static final WireType<Uuid> UUID = MasterMethods.PING.arguments().type();

    private static final WireType<SegmentStats> SEGMENT_STATS =
            struct(
                    r ->
                            new SegmentStats(
                                    UUID.read(r),
                                    r.string(),
                                    r.string(),
                                    r.i32(),
                                    UUID.read(r),
                                    r.i64(),
                                    r.i64(),
                                    r.i64()),
                    (w, v) -> {
                        UUID.write(w, v.id());
                        w.string(v.name());
                        w.string(v.endpoint());
                        w.i32(v.status());
                        UUID.write(w, v.client());
                        w.i64(v.capacityBytes());
                        w.i64(v.usedBytes());
                        w.i64(v.largestFreeBytes());
                    },
                    UUID,
                    STRING,
                    STRING,
                    I32,
                    UUID,
                    U64,
                    U64,
                    U64);
    private static final WireType<List<SegmentStats>> SEGMENTS_STATS = list(SEGMENT_STATS);

    private static final WireType<Stats> STATS_RESULT =
            struct(
                    r ->
                            new Stats(
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    SEGMENTS_STATS.read(r)),
                    (w, v) -> {
                        w.i64(v.capacityBytes());
                        w.i64(v.usedBytes());
                        w.i64(v.largestFreeBytes());
                        w.i64(v.leasedBytes());
                        w.i64(v.pinnedBytes());
                        w.i64(v.objects());
                        w.i64(v.clients());
                        w.i64(v.evictedObjects());
                        w.i64(v.evictedBytes());
                        w.i64(v.putStartFailures());
                        SEGMENTS_STATS.write(w, v.segments());
                    },
                    U64,
                    U64,
                    U64,
                    U64,
                    U64,
                    U64,
                    U64,
                    U64,
                    U64,
                    U64,
                    SEGMENTS_STATS);

    /** Who the master is and what it can do; the argument is the caller's client id. */
    public static final RpcMethod<Uuid, Outcome<HelloResult>> HELLO =
            method("Hello", UUID, expected(HELLO_RESULT));

    public static final RpcMethod<Acquire, Outcome<Acquired>> ACQUIRE =
            method("Acquire", ACQUIRE_ARGUMENTS, expected(ACQUIRED));

    public static final RpcMethod<Release, Outcome<Done>> RELEASE =
            method("Release", RELEASE_ARGUMENTS, expected(MONOSTATE));

    public static final RpcMethod<ListKeys, Outcome<List<KeyInfo>>> LIST_KEYS =
            method("ListKeys", LIST_KEYS_ARGUMENTS, expected(list(KEY_INFO)));

    public static final RpcMethod<Done, Outcome<Stats>> STATS =
            method("Stats", NO_ARGUMENTS, expected(STATS_RESULT));

    public static final RpcMethod<LongestPrefix, Outcome<PrefixHit>> LONGEST_PREFIX =
            method("LongestPrefix", AdminTypes.LONGEST_PREFIX, expected(AdminTypes.PREFIX_HIT));

    public static final RpcMethod<Explain, Outcome<Explanation>> EXPLAIN =
            method("Explain", AdminTypes.EXPLAIN, expected(AdminTypes.EXPLANATION));

    /** TENANT_NOT_EMPTY and the like: spec mooncake-store 9.2. */
    public static final RpcMethod<SetTenantQuota, Outcome<TenantQuota>> SET_TENANT_QUOTA =
            method(
                    "SetTenantQuota",
                    AdminTypes.SET_TENANT_QUOTA,
                    expected(AdminTypes.TENANT_QUOTA));

    /** One tenant, or all when the name is empty. */
    public static final RpcMethod<ByteString, Outcome<List<TenantQuota>>> TENANT_QUOTAS =
            method("TenantQuotas", BYTES, expected(list(AdminTypes.TENANT_QUOTA)));

    public static final RpcMethod<ByteString, Outcome<Done>> DELETE_TENANT_QUOTA =
            method("DeleteTenantQuota", BYTES, expected(MONOSTATE));

    /** The id of the new job. */
    public static final RpcMethod<CreateDrainJob, Outcome<Uuid>> CREATE_DRAIN_JOB =
            method("CreateDrainJob", AdminTypes.CREATE_DRAIN_JOB, expected(UUID));

    public static final RpcMethod<Uuid, Outcome<DrainJob>> QUERY_DRAIN_JOB =
            method("QueryDrainJob", UUID, expected(AdminTypes.DRAIN_JOB));

    public static final RpcMethod<Uuid, Outcome<Done>> CANCEL_DRAIN_JOB =
            method("CancelDrainJob", UUID, expected(MONOSTATE));

    /** One client, or all when the id is zero; CLIENT_NOT_FOUND for one that is not known. */
    public static final RpcMethod<Uuid, Outcome<List<ClientInfo>>> CLIENTS =
            method("Clients", UUID, expected(list(AdminTypes.CLIENT_INFO)));

    /** SHARD_INDEX_OUT_OF_RANGE for a part that there is not. */
    public static final RpcMethod<ListShard, Outcome<KeyShard>> LIST_SHARD =
            method(
                    "ListShard",
                    AdminTypes.LIST_SHARD,
                    expected(AdminTypes.keyShard(list(KEY_INFO))));

    /** All of the above. */
    public static final List<RpcMethod<?, ?>> ALL =
            List.of(
                    HELLO,
                    ACQUIRE,
                    RELEASE,
                    LIST_KEYS,
                    STATS,
                    LONGEST_PREFIX,
                    EXPLAIN,
                    SET_TENANT_QUOTA,
                    TENANT_QUOTAS,
                    DELETE_TENANT_QUOTA,
                    CREATE_DRAIN_JOB,
                    QUERY_DRAIN_JOB,
                    CANCEL_DRAIN_JOB,
                    CLIENTS,
                    LIST_SHARD);

    private CassiaMethods() {}

    private static <A, R> RpcMethod<A, R> method(
            String name, WireType<A> arguments, WireType<R> result) {
        return RpcMethod.of("cassia::Master::" + name, arguments, result);
    }
}
