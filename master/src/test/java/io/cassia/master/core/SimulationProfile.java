package io.cassia.master.core;

import io.cassia.testkit.simulation.NetworkFaults;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * What kind of world a seed makes. Immutable. Times are a twentieth of the product's.
 *
 * @param checksums whether readers verify the bytes; then writes may land late, for that is what
 *     checksums are for, and a master that starts again gives out space at once. If not, readers
 *     trust their leases alone, writers obey their deadlines, and the master waits at its start
 * @param namesPuts whether an End or a Revoke says which Start it belongs to, as Cassia's clients
 *     do, so that a late one of an earlier put of the same client cannot pass for the current
 *     one's. If not, as Mooncake's, clients wait until their messages about a key are over, and no
 *     Start arrives twice
 */
record SimulationProfile(
        CoreConfig config,
        NetworkFaults network,
        boolean checksums,
        boolean namesPuts,
        int nodes,
        long nodeBytes,
        int clients,
        int keys,
        int tenants,
        long faultEveryNanos) {
    static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    /**
     * The same for another master, which draws another seed.
     *
     * @param graceNanos the first of all need not wait for what was before
     */
    CoreConfig config(long graceNanos, long seed) {
        return new CoreConfig(
                config.leaseNanos(),
                config.softPinNanos(),
                config.maxSoftPinNanos(),
                config.evictSoftPinned(),
                config.clientTtlNanos(),
                config.putDiscardNanos(),
                config.putReleaseNanos(),
                config.evictionHighWatermark(),
                config.evictionRatio(),
                config.strategy(),
                config.multiTenant(),
                config.maxMetadataBytes(),
                config.maxClients(),
                config.maxLeases(),
                config.wipeNanos(),
                config.maxObjects(),
                config.allReplicas(),
                config.tasks(),
                config.policy(),
                graceNanos,
                config.tickNanos(),
                seed);
    }

    static SimulationProfile of(SplittableRandom random) {
        boolean tenants = random.nextInt(3) == 0;
        long lease = (20 + random.nextInt(480)) * MILLI;
        boolean demandOnly = random.nextBoolean();
        boolean checksums = random.nextBoolean();
        CoreConfig config =
                new CoreConfig(
                        lease,
                        400 * MILLI,
                        5000 * MILLI,
                        random.nextInt(3) != 0,
                        500 * MILLI,
                        300 * MILLI,
                        1500 * MILLI,
                        demandOnly ? 1.0 : 0.8,
                        demandOnly ? 0.05 : 0.1,
                        List.of(AllocationStrategy.values())
                                .get(random.nextInt(AllocationStrategy.values().length)),
                        tenants,
                        random.nextInt(4) == 0 ? 8000 : Long.MAX_VALUE,
                        64,
                        random.nextInt(4) == 0 ? 8 : 1000,
                        (random.nextBoolean() ? 500 : 1500) * MILLI,
                        random.nextInt(4) == 0 ? 16 : 0,
                        random.nextInt(4) == 0,
                        new TaskRules(20, 10, 50, 500 * MILLI, 800 * MILLI, 3),
                        random.nextBoolean() ? EvictionPolicy.LRU : EvictionPolicy.TWO_QUEUES,
                        checksums ? 0 : 1500 * MILLI + lease,
                        10 * MILLI,
                        random.nextLong());
        boolean calm = random.nextInt(5) == 0;
        NetworkFaults network =
                new NetworkFaults(
                        50_000,
                        400_000,
                        calm ? 0 : 0.01,
                        calm ? 0 : 0.03,
                        1200 * MILLI,
                        calm ? 0 : 0.02);
        return new SimulationProfile(
                config,
                network,
                checksums,
                random.nextInt(4) != 0,
                2 + random.nextInt(3),
                (4 + random.nextInt(16)) * 1024L,
                3 + random.nextInt(3),
                4 + random.nextInt(20),
                tenants ? 3 : 1,
                (calm ? 600 : 60 + random.nextInt(200)) * MILLI);
    }
}
