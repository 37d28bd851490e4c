package io.cassia.app.cluster;

import java.time.Duration;

/**
 * What the command line says about a master. Immutable. Port 0 takes any free port.
 *
 * @param rpcHost interface that the RPC server listens on
 * @param httpPort admin and metrics
 * @param metadataPort Transfer Engine metadata server beside the master; -1 starts none
 * @param leaseTtl how long a read protects an object
 * @param evictionHighWatermark share of the memory from which objects are evicted ahead of need; 1
 *     evicts only when an allocation needs room
 * @param evictionRatio share of the objects that one round evicts
 * @param clientTtl silence after which a node counts as dead
 * @param putDiscardTimeout age from which an unfinished put may be taken over
 * @param putReleaseTimeout age from which the space of a taken-over put is used again
 */
public record MasterSettings(
        String rpcHost,
        int rpcPort,
        String httpHost,
        int httpPort,
        int metadataPort,
        Duration leaseTtl,
        double evictionHighWatermark,
        double evictionRatio,
        Duration clientTtl,
        Duration putDiscardTimeout,
        Duration putReleaseTimeout) {
    public static final int NO_METADATA = -1;

    /** Upstream's defaults on loopback. */
    public static final MasterSettings DEFAULT =
            new MasterSettings(
                    "127.0.0.1",
                    50051,
                    "127.0.0.1",
                    9003,
                    8080,
                    Duration.ofSeconds(10),
                    0.90,
                    0.05,
                    Duration.ofSeconds(10),
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(600));

    /** A master of this process alone: free ports, no metadata server, eviction only on demand. */
    public static MasterSettings embedded() {
        return new MasterSettings(
                "127.0.0.1",
                0,
                "127.0.0.1",
                0,
                NO_METADATA,
                DEFAULT.leaseTtl,
                1.0,
                DEFAULT.evictionRatio,
                DEFAULT.clientTtl,
                DEFAULT.putDiscardTimeout,
                DEFAULT.putReleaseTimeout);
    }
}
