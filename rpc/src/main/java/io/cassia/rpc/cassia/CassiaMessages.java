package io.cassia.rpc.cassia;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import java.util.List;

/** Arguments and results of the {@code cassia::Master::*} methods. Immutable data. */
public final class CassiaMessages {
    private CassiaMessages() {}

    /**
     * Answer of {@code cassia::Master::Hello}, which takes the client's id.
     *
     * @param product name and version of the master
     * @param capabilities names of the extensions that this master speaks
     */
    public record HelloResult(String product, List<String> capabilities) {}

    /**
     * {@code cassia::Master::Acquire}: find replicas and take one lease on all that are returned.
     *
     * @param keys in the caller's order
     * @param tenant namespace of the keys
     * @param prefixOnly stop at the first key that is not readable; later keys are not leased
     * @param leaseTtlMs wanted lease in milliseconds; 0 means the master's default, which is also
     *     the longest
     */
    public record Acquire(
            List<ByteString> keys, ByteString tenant, boolean prefixOnly, long leaseTtlMs) {}

    /**
     * Replicas and the lease that covers them.
     *
     * @param leaseId for {@code Release}; 0 when nothing was leased
     * @param leaseTtlMs milliseconds from the arrival of the request
     * @param objects one per key; with {@code prefixOnly} only the leading readable keys
     */
    public record Acquired(
            long leaseId, long leaseTtlMs, List<Outcome<List<ReplicaDescriptor>>> objects) {}

    /**
     * {@code cassia::Master::Release}: give leases back before they run out. An id that has run out
     * or was released is ignored.
     */
    public record Release(List<Long> leaseIds) {}

    /**
     * {@code cassia::Master::ListKeys}: keys in byte order.
     *
     * @param prefix only keys that start with it
     * @param after only keys behind it; empty for the first page
     * @param limit keys in the answer at most
     */
    public record ListKeys(ByteString prefix, ByteString after, long limit, ByteString tenant) {}

    /**
     * One listed object.
     *
     * @param size bytes
     * @param readable whether a get would find a complete replica
     * @param replicas number of replicas
     * @param leaseMs milliseconds until its last lease ends; 0 when not leased
     */
    public record KeyInfo(
            ByteString key, long size, boolean readable, long replicas, long leaseMs) {}

    /**
     * {@code cassia::Master::Stats}: the pool at one moment. Byte counts are of memory replicas.
     *
     * @param largestFreeBytes largest single allocation that would succeed now
     * @param leasedBytes bytes that a lease protects from eviction now
     * @param evictedObjects since the master started
     */
    public record Stats(
            long capacityBytes,
            long usedBytes,
            long largestFreeBytes,
            long leasedBytes,
            long pinnedBytes,
            long objects,
            long clients,
            long evictedObjects,
            long evictedBytes,
            long putStartFailures,
            List<SegmentStats> segments) {}

    /** One mounted segment. */
    public record SegmentStats(
            Uuid id,
            String name,
            String endpoint,
            int status,
            Uuid client,
            long capacityBytes,
            long usedBytes,
            long largestFreeBytes) {}

    /**
     * {@code cassia::Master::LongestPrefix}: how many leading keys are readable now, in one round
     * trip; exactly those are leased.
     *
     * @param keys in the caller's order
     * @param tenant namespace of the keys
     * @param leaseTtlMs wanted lease in milliseconds; 0 means the master's default, which is also
     *     the longest
     * @param counted take one lease that {@code Release} gives back; else each object gets the
     *     lease of a read, which runs out by time
     * @param withReplicas answer where the objects are, too
     */
    public record LongestPrefix(
            List<ByteString> keys,
            ByteString tenant,
            long leaseTtlMs,
            boolean counted,
            boolean withReplicas) {}

    /**
     * The leading keys that are readable.
     *
     * @param count number of them
     * @param leaseId for {@code Release}; 0 when nothing was leased or the lease is not counted
     * @param leaseTtlMs milliseconds from the arrival of the request
     * @param objects one per leading key, all found; empty when not asked for
     */
    public record PrefixHit(
            long count, long leaseId, long leaseTtlMs, List<Outcome<ReplicaList>> objects) {}

    /** {@code cassia::Master::Explain}: what became of a key. */
    public record Explain(ByteString key, ByteString tenant) {}

    /**
     * What the master knows of a key.
     *
     * @param state in words: absent, being put, readable, ...
     * @param readable whether a get would find a replica
     * @param decisions what was decided about it lately, the latest first; those of long ago are
     *     forgotten
     */
    public record Explanation(String state, boolean readable, List<Decision> decisions) {}

    /**
     * One decision about an object.
     *
     * @param what in lower case with hyphens: evicted, removed, node-lost, ...
     * @param agoMs milliseconds since then
     * @param size bytes of the object
     * @param detail a segment, or empty
     */
    public record Decision(String what, long agoMs, long size, String detail) {}

    /** {@code cassia::Master::SetTenantQuota}: registers a tenant or changes its quota. */
    public record SetTenantQuota(ByteString tenant, long requestedBytes) {}

    /**
     * A tenant's quota and use (spec mooncake-store 9.1).
     *
     * @param requestedBytes as registered; 0 for a tenant that only has objects
     * @param effectiveBytes its share while the quotas exceed the capacity
     * @param chargedBytes memory of its replicas, finished or not
     * @param admissionClosed whether it may not write: it has objects but no quota
     * @param explicit whether it is registered
     */
    public record TenantQuota(
            ByteString tenant,
            long requestedBytes,
            long effectiveBytes,
            long chargedBytes,
            long objects,
            boolean admissionClosed,
            boolean overQuota,
            boolean explicit) {}

    /**
     * {@code cassia::Master::CreateDrainJob}: move all objects off segments.
     *
     * @param segments names of those to empty
     * @param targets names of those that may take the objects; any other one when empty
     * @param maxConcurrency moves at one time
     */
    public record CreateDrainJob(
            List<String> segments, List<String> targets, long maxConcurrency) {}

    /**
     * State of a drain job (spec mooncake-store 8.3).
     *
     * @param status 0 CREATED, 1 PLANNING, 2 RUNNING, 3 SUCCEEDED, 4 FAILED, 5 CANCELED
     * @param succeededUnits replicas moved
     * @param failedUnits replicas that were given up
     * @param blockedUnits replicas that cannot move now; {@code message} says why
     */
    public record DrainJob(
            Uuid id,
            int status,
            long createdAtMs,
            long updatedAtMs,
            List<String> segments,
            List<String> targets,
            long maxConcurrency,
            long succeededUnits,
            long failedUnits,
            long blockedUnits,
            long activeUnits,
            long migratedBytes,
            String message) {}

    /**
     * A client as the master sees it.
     *
     * @param state 1 mounted, 2 has to mount again, 3 silent: its data is kept for some time
     * @param silentMs milliseconds since its last sign of life
     * @param segments names of its segments
     */
    public record ClientInfo(Uuid id, int state, long silentMs, List<String> segments) {}

    /**
     * {@code cassia::Master::ListShard}: the keys in one part of the master's table, for those who
     * want all keys and share the work.
     *
     * @param shard 0 to {@link KeyShard#shards} - 1
     */
    public record ListShard(long shard, ByteString tenant) {}

    /** Keys of one part, in no order, and how many parts there are. */
    public record KeyShard(long shards, List<KeyInfo> keys) {}
}
