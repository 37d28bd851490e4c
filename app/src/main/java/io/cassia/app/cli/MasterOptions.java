package io.cassia.app.cli;

import io.cassia.app.cluster.MasterSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a master. Confined to its command. */
final class MasterOptions {
    @Option(
            names = "--rpc-port",
            paramLabel = "PORT",
            converter = Converters.Port.class,
            description = "Port of the RPC server; 0 takes a free one. Default: 50051.")
    private int rpcPort = MasterSettings.DEFAULT.rpcPort();

    @Option(
            names = "--http-port",
            paramLabel = "PORT",
            converter = Converters.Port.class,
            description = "Port of the admin and metrics server. Default: 9003.")
    private int httpPort = MasterSettings.DEFAULT.httpPort();

    @Option(
            names = "--metadata-port",
            paramLabel = "PORT",
            converter = Converters.PortOrOff.class,
            description =
                    "Port of the Transfer Engine metadata server; 'off' starts none. Default:"
                            + " 8080.")
    private int metadataPort = MasterSettings.DEFAULT.metadataPort();

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
    private Duration leaseTtl = MasterSettings.DEFAULT.leaseTtl();

    @Option(
            names = "--eviction-high-watermark-ratio",
            paramLabel = "RATIO",
            converter = Converters.Ratio.class,
            description =
                    "Share of used memory from which objects are evicted ahead of need; 1 evicts"
                            + " only on demand. Default: 0.9.")
    private double evictionHighWatermark = MasterSettings.DEFAULT.evictionHighWatermark();

    @Option(
            names = "--eviction-ratio",
            paramLabel = "RATIO",
            converter = Converters.Ratio.class,
            description = "Share of the objects that one round evicts. Default: 0.05.")
    private double evictionRatio = MasterSettings.DEFAULT.evictionRatio();

    @Option(
            names = "--client-ttl",
            paramLabel = "DURATION",
            converter = Converters.Seconds.class,
            description =
                    "Silence after which a node counts as dead; a plain number is seconds."
                            + " Default: 10s.")
    private Duration clientTtl = MasterSettings.DEFAULT.clientTtl();

    @Option(
            names = "--put-start-discard-timeout",
            paramLabel = "DURATION",
            converter = Converters.Seconds.class,
            description =
                    "Age from which an unfinished put may be taken over; a plain number is seconds."
                            + " Default: 30s.")
    private Duration putDiscardTimeout = MasterSettings.DEFAULT.putDiscardTimeout();

    @Option(
            names = "--put-start-release-timeout",
            paramLabel = "DURATION",
            converter = Converters.Seconds.class,
            description =
                    "Age from which the space of a taken-over put is used again; a plain number is"
                            + " seconds. Default: 600s.")
    private Duration putReleaseTimeout = MasterSettings.DEFAULT.putReleaseTimeout();

    MasterSettings settings(String rpcHost, String httpHost) {
        boolean off = metadataServer != null && !metadataServer;
        return new MasterSettings(
                rpcHost,
                rpcPort,
                httpHost,
                httpPort,
                off ? MasterSettings.NO_METADATA : metadataPort,
                leaseTtl,
                evictionHighWatermark,
                evictionRatio,
                clientTtl,
                putDiscardTimeout,
                putReleaseTimeout);
    }
}
