package io.cassia.master;

import io.cassia.base.Clock;
import io.cassia.master.http.AdminServer;
import io.cassia.rpc.RpcServer;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A running master: the core behind its lock, the RPC server, the timer and the admin server.
 * Thread-safe.
 */
public final class Master implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Master.class.getName());

    private final RpcServer rpc;
    private final @Nullable AdminServer http;

    /** The registry's gauges know it only weakly. */
    private final MasterMetrics metrics;

    private final List<Runnable> stops;

    /**
     * @param stops of the parts, in the order in which they were started
     */
    Master(RpcServer rpc, @Nullable AdminServer http, MasterMetrics metrics, List<Runnable> stops) {
        this.rpc = rpc;
        this.http = http;
        this.metrics = metrics;
        this.stops = List.copyOf(stops);
        LOG.log(
                System.Logger.Level.INFO,
                "master started rpc={0} http={1}",
                Integer.toString(rpcPort()),
                Integer.toString(httpPort()));
    }

    /** As the other {@code start}; {@code /metrics} is empty. */
    public static Outcome<Master> start(MasterConfig config, Clock clock, MeterRegistry meters) {
        return start(config, clock, meters, () -> "");
    }

    /**
     * Starts all parts. RPC_FAIL when an address cannot be listened on, INVALID_PARAMS when the
     * configuration asks for what this master does not have, FILE_NOT_FOUND, FILE_READ_FAIL and
     * DESERIALIZE_FAIL of the tenants' policy; nothing is left running then.
     *
     * @param metricsText the registry as Prometheus text, for {@code /metrics}
     */
    public static Outcome<Master> start(
            MasterConfig config, Clock clock, MeterRegistry meters, Supplier<String> metricsText) {
        if (!config.rootFsDir().isEmpty()) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "root_fs_dir="
                            + config.rootFsDir()
                            + ": this master has no shared file system tier; leave it empty");
        }
        return new MasterParts(config, clock, meters).start(metricsText);
    }

    /** The port that RPC clients connect to. */
    public int rpcPort() {
        return rpc.port();
    }

    /** The port of the admin server; {@link MasterConfig#HTTP_OFF} when there is none. */
    public int httpPort() {
        return http == null ? MasterConfig.HTTP_OFF : http.port();
    }

    /**
     * Brings figures that are per segment or tenant up to date; a scrape through {@code /metrics}
     * does it.
     */
    public void refreshMetrics() {
        metrics.refresh();
    }

    /**
     * Stops serving. Objects are forgotten; nodes keep their memory and will be told to remount.
     */
    @Override
    public void close() {
        stops.reversed().forEach(Runnable::run);
    }
}
