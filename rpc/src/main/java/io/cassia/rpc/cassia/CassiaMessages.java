package io.cassia.rpc.cassia;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
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
}
