package io.cassia.app.cli;

import io.cassia.app.cluster.MasterSettings;
import io.cassia.master.MasterConfig;
import io.cassia.master.core.AllocationStrategy;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a master. Confined to its command. */
final class MasterOptions {
    private static final MasterConfig DEFAULT = MasterConfig.DEFAULT;

    @Option(
            names = "--rpc-port",
            paramLabel = "PORT",
            converter = Converters.Port.class,
            description = "Port of the RPC server; 0 takes a free one. Default: 50051.")
    private int rpcPort = DEFAULT.rpcPort();

    @Option(
            names = "--http-port",
            paramLabel = "PORT",
            converter = Converters.PortOrOff.class,
            description = "Port of the admin and metrics server; 'off' starts none. Default: 9003.")
    private int httpPort = DEFAULT.httpPort();

    @Option(
            names = "--metadata-port",
            paramLabel = "PORT",
            converter = Converters.PortOrOff.class,
            description =
                    "Port of the Transfer Engine metadata server; 'off' starts none. Default:"
                            + " 8080.")
    private int metadataPort = MasterSettings.METADATA_PORT;

    @Option(
            names = "--enable-http-metadata-server",
            arity = "0..1",
            fallbackValue = "true",
            hidden = true,
            description = "Upstream's switch for --metadata-port.")
    private @Nullable Boolean metadataServer;

    @Option(
            names = "--default-kv-lease-ttl",
            paramLabel = "DURATION",
            converter = Converters.Millis.class,
            description =
                    "How long a read protects an object; a plain number is milliseconds. Default:"
                            + " 10s.")
    private Duration leaseTtl = DEFAULT.defaultLeaseTtl();

    @Option(
            names = "--default-kv-soft-pin-ttl",
            paramLabel = "DURATION",
            converter = Converters.Millis.class,
            description = "Soft pin of a put that asks for one without a time. Default: 30m.")
    private Duration softPinTtl = DEFAULT.defaultSoftPinTtl();

    @Option(
            names = "--max-kv-soft-pin-ttl",
            paramLabel = "DURATION",
            converter = Converters.Millis.class,
            description = "Longest soft pin that a put may ask for. Default: 1d.")
    private Duration maxSoftPinTtl = DEFAULT.maxSoftPinTtl();

    @Option(
            names = "--allow-evict-soft-pinned-objects",
            paramLabel = "BOOLEAN",
            arity = "0..1",
            fallbackValue = "true",
            description =
                    "Whether soft-pinned objects may go when nothing else is left. Default: true.")
    private boolean allowEvictSoftPinned = DEFAULT.allowEvictSoftPinned();

    @Option(
            names = "--eviction-high-watermark-ratio",
            paramLabel = "RATIO",
            converter = Converters.Ratio.class,
            description =
                    "Share of used memory from which objects are evicted ahead of need; 1 evicts"
                            + " only on demand. Default: 0.9.")
    private double evictionHighWatermark = DEFAULT.evictionHighWatermarkRatio();

    @Option(
            names = "--eviction-ratio",
            paramLabel = "RATIO",
            converter = Converters.Ratio.class,
            description = "Share of the memory that one round frees. Default: 0.05.")
    private double evictionRatio = DEFAULT.evictionRatio();

    @Option(
            names = "--client-ttl",
            paramLabel = "DURATION",
            converter = Converters.Seconds.class,
            description =
                    "Silence after which a node counts as dead; a plain number is seconds."
                            + " Default: 10s.")
    private Duration clientTtl = DEFAULT.clientTtl();

    @Option(
            names = "--put-start-discard-timeout",
            paramLabel = "DURATION",
            converter = Converters.Seconds.class,
            description =
                    "Age from which an unfinished put may be taken over; a plain number is seconds."
                            + " Default: 30s.")
    private Duration putDiscardTimeout = DEFAULT.putDiscardTimeout();

    @Option(
            names = "--put-start-release-timeout",
            paramLabel = "DURATION",
            converter = Converters.Seconds.class,
            description =
                    "Age from which the space of an unfinished put is used again; a plain number is"
                            + " seconds. Default: 10m.")
    private Duration putReleaseTimeout = DEFAULT.putReleaseTimeout();

    @Option(
            names = "--allocation-strategy",
            paramLabel = "NAME",
            converter = Converters.Strategy.class,
            description =
                    "Which segment is tried first: random, free-ratio-first or local-first."
                            + " Default: random.")
    private AllocationStrategy allocationStrategy = DEFAULT.allocationStrategy();

    @Option(
            names = "--enable-multi-tenants",
            paramLabel = "BOOLEAN",
            arity = "0..1",
            fallbackValue = "true",
            description =
                    "Whether tenants have key spaces of their own; if not, all names mean the"
                            + " default tenant. Default: false.")
    private boolean enableMultiTenants = DEFAULT.enableMultiTenants();

    @Option(
            names = "--cluster-id",
            paramLabel = "NAME",
            description = "Name of the cluster. Default: mooncake_cluster.")
    private String clusterId = DEFAULT.clusterId();

    /** INVALID_PARAMS when values exclude each other. */
    Outcome<MasterSettings> settings(String rpcHost, String httpHost) {
        boolean off = metadataServer != null && !metadataServer;
        MasterConfig.Builder config =
                MasterConfig.builder()
                        .rpc(rpcHost, rpcPort)
                        .http(httpHost, httpPort)
                        .defaultLeaseTtl(leaseTtl)
                        .softPinTtl(softPinTtl, maxSoftPinTtl)
                        .allowEvictSoftPinned(allowEvictSoftPinned)
                        .eviction(evictionHighWatermark, evictionRatio)
                        .clientTtl(clientTtl)
                        .putTimeouts(putDiscardTimeout, putReleaseTimeout)
                        .allocationStrategy(allocationStrategy)
                        .enableMultiTenants(enableMultiTenants)
                        .clusterId(clusterId);
        try {
            return Outcome.ok(
                    new MasterSettings(
                            config.build(), off ? MasterSettings.NO_METADATA : metadataPort));
        } catch (IllegalArgumentException e) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, String.valueOf(e.getMessage()));
        }
    }
}
