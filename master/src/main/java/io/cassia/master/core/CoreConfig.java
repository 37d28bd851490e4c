package io.cassia.master.core;

/**
 * Immutable. What the state machine's decisions depend on beside commands and time.
 *
 * @param leaseNanos lease of a read, an exist or an acquire
 * @param softPinNanos soft pin of a put that asks for one without a time
 * @param maxSoftPinNanos longest soft pin that a put may ask for
 * @param evictSoftPinned whether soft-pinned objects may be evicted when nothing else is left
 * @param clientTtlNanos silence after which a client is taken for dead
 * @param putDiscardNanos after this another writer may take a key over from an unfinished put
 * @param putReleaseNanos after this the space of an unfinished put is given back
 * @param evictionHighWatermark used share of the capacity above which objects are evicted; 1.0
 *     evicts on demand only
 * @param evictionRatio share of the capacity that an eviction above the watermark frees
 * @param strategy order in which segments are tried
 * @param multiTenant whether tenants have key spaces of their own; if not, all share one
 * @param maxMetadataBytes heap bytes that objects may cost
 * @param maxClients clients tracked at one time
 * @param maxLeases counted leases at one time
 * @param wipeNanos silence after which a dead client's objects are given up; not shorter than
 *     {@code clientTtlNanos}
 * @param maxObjects objects at one time; old ones go beyond it; 0 means no limit
 * @param allReplicas whether a put fails that cannot have all the replicas it asks for; if not, one
 *     is enough, as upstream
 * @param tasks limits of copy and move tasks
 * @param policy which objects an eviction takes first
 * @param restartGraceNanos how long after its start the master gives out no space; reads and writes
 *     by leave of a master before it are over then
 * @param tickNanos time between two {@link Command.Tick}s; a longer gap counts as a stall
 * @param seed of the key hash and of random placement
 */
public record CoreConfig(
        long leaseNanos,
        long softPinNanos,
        long maxSoftPinNanos,
        boolean evictSoftPinned,
        long clientTtlNanos,
        long putDiscardNanos,
        long putReleaseNanos,
        double evictionHighWatermark,
        double evictionRatio,
        AllocationStrategy strategy,
        boolean multiTenant,
        long maxMetadataBytes,
        int maxClients,
        int maxLeases,
        long wipeNanos,
        long maxObjects,
        boolean allReplicas,
        TaskRules tasks,
        EvictionPolicy policy,
        long restartGraceNanos,
        long tickNanos,
        long seed) {
    public CoreConfig {
        positive(leaseNanos, "lease");
        positive(clientTtlNanos, "client ttl");
        positive(putDiscardNanos, "put discard timeout");
        positive(maxMetadataBytes, "metadata limit");
        positive(maxClients, "client limit");
        positive(maxLeases, "lease limit");
        positive(tickNanos, "tick");
        if (restartGraceNanos < 0) {
            throw new IllegalArgumentException("the restart grace must not be negative");
        }
        if (wipeNanos < clientTtlNanos || maxObjects < 0) {
            throw new IllegalArgumentException(
                    "clients cannot be wiped before they are suspected, nor objects be below 0");
        }
        if (putReleaseNanos <= putDiscardNanos) {
            throw new IllegalArgumentException(
                    "the put release timeout must be longer than the discard timeout");
        }
        if (softPinNanos < 0 || softPinNanos > maxSoftPinNanos) {
            throw new IllegalArgumentException("soft pin ttl exceeds its maximum");
        }
        if (!(evictionHighWatermark > 0 && evictionHighWatermark <= 1)
                || !(evictionRatio >= 0 && evictionRatio <= evictionHighWatermark)) {
            throw new IllegalArgumentException(
                    "eviction ratios must be 0 < high watermark <= 1, 0 <= ratio <= watermark");
        }
    }

    /** With the default policy and no grace. */
    public CoreConfig(
            long leaseNanos,
            long softPinNanos,
            long maxSoftPinNanos,
            boolean evictSoftPinned,
            long clientTtlNanos,
            long putDiscardNanos,
            long putReleaseNanos,
            double evictionHighWatermark,
            double evictionRatio,
            AllocationStrategy strategy,
            boolean multiTenant,
            long maxMetadataBytes,
            int maxClients,
            int maxLeases,
            long wipeNanos,
            long maxObjects,
            boolean allReplicas,
            TaskRules tasks,
            long tickNanos,
            long seed) {
        this(
                leaseNanos,
                softPinNanos,
                maxSoftPinNanos,
                evictSoftPinned,
                clientTtlNanos,
                putDiscardNanos,
                putReleaseNanos,
                evictionHighWatermark,
                evictionRatio,
                strategy,
                multiTenant,
                maxMetadataBytes,
                maxClients,
                maxLeases,
                wipeNanos,
                maxObjects,
                allReplicas,
                tasks,
                EvictionPolicy.LRU,
                0,
                tickNanos,
                seed);
    }

    private static void positive(long value, String name) {
        if (value <= 0) {
            throw new IllegalArgumentException(name + " must be positive, not " + value);
        }
    }
}
