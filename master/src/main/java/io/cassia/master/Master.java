package io.cassia.master;

import io.cassia.base.Clock;
import io.cassia.base.Entropy;
import io.cassia.master.core.CoreConfig;
import io.cassia.master.core.TaskRules;
import io.cassia.master.http.AdminServer;
import io.cassia.rpc.RpcServer;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A running master: the core behind its lock, the RPC server, the timer and the admin server.
 * Thread-safe.
 */
public final class Master implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Master.class.getName());

    /** Share of the heap that objects may cost when the configuration does not say. */
    private static final double METADATA_SHARE = 0.6;

    /** A silent client's data is kept for so many of its times to live. */
    private static final long SUSPECT_TTLS = 3;

    private final MasterLoop loop;
    private final RpcServer rpc;
    private final @Nullable AdminServer http;

    /** The registry's gauges know it only weakly. */
    private final MasterMetrics metrics;

    private Master(
            MasterLoop loop, RpcServer rpc, @Nullable AdminServer http, MasterMetrics metrics) {
        this.loop = loop;
        this.rpc = rpc;
        this.metrics = metrics;
        this.http = http;
    }

    /** As the other {@code start}; {@code /metrics} is empty. */
    public static Outcome<Master> start(MasterConfig config, Clock clock, MeterRegistry meters) {
        return start(config, clock, meters, () -> "");
    }

    /**
     * Starts all parts. RPC_FAIL when an address cannot be listened on, INVALID_PARAMS when the
     * configuration asks for what this master does not have; nothing is left running then.
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
        MasterLoop loop = new MasterLoop(coreConfig(config), clock);
        return tenantAdmin(config, loop)
                .then(tenants -> serve(config, clock, meters, metricsText, loop, tenants));
    }

    private static Outcome<TenantAdmin> tenantAdmin(MasterConfig config, MasterLoop loop) {
        boolean inFile = config.enableMultiTenants() && config.tenantFile().isPresent();
        return inFile
                ? TenantAdmin.withFile(loop, new TenantPolicyFile(config.tenantFile().get()))
                : Outcome.ok(TenantAdmin.inMemory(loop));
    }

    private static Outcome<Master> serve(
            MasterConfig config,
            Clock clock,
            MeterRegistry meters,
            Supplier<String> metricsText,
            MasterLoop loop,
            TenantAdmin tenants) {
        MasterMetrics metrics = new MasterMetrics(loop, clock, meters);
        RpcServer.Builder server =
                RpcServer.builder(meters)
                        .bind(config.rpcHost(), config.rpcPort())
                        .clock(clock)
                        .gate(loop);
        new MooncakeBinding(config, loop, meters).register(server);
        new TaskBinding(loop, clock, meters).register(server);
        new CassiaBinding(loop, clock, tenants).register(server);
        Outcome<RpcServer> rpc = server.start();
        return rpc.then(
                running -> {
                    Outcome<Master> master = withHttp(config, loop, running, metrics, metricsText);
                    if (master.isOk()) {
                        loop.start();
                    } else {
                        running.close();
                    }
                    return master;
                });
    }

    private static Outcome<Master> withHttp(
            MasterConfig config,
            MasterLoop loop,
            RpcServer rpc,
            MasterMetrics metrics,
            Supplier<String> metricsText) {
        if (config.httpPort() == MasterConfig.HTTP_OFF) {
            return Outcome.ok(started(new Master(loop, rpc, null, metrics)));
        }
        Supplier<String> fresh =
                () -> {
                    metrics.refreshSegments();
                    return metricsText.get();
                };
        return AdminServer.start(config.httpHost(), config.httpPort(), new LoopQueries(loop), fresh)
                .map(http -> started(new Master(loop, rpc, http, metrics)));
    }

    private static Master started(Master master) {
        LOG.log(
                System.Logger.Level.INFO,
                "master started rpc={0} http={1}",
                Integer.toString(master.rpcPort()),
                Integer.toString(master.httpPort()));
        return master;
    }

    private static TaskRules taskRules(TaskLimits limits) {
        return new TaskRules(
                limits.maxPending(),
                limits.maxProcessing(),
                limits.maxFinished(),
                limits.pendingTimeout().toNanos(),
                limits.processingTimeout().toNanos(),
                limits.maxRetryAttempts());
    }

    private static CoreConfig coreConfig(MasterConfig config) {
        long metadata =
                config.maxMetadataBytes() > 0
                        ? config.maxMetadataBytes()
                        : (long) (Runtime.getRuntime().maxMemory() * METADATA_SHARE);
        return new CoreConfig(
                config.defaultLeaseTtl().toNanos(),
                config.defaultSoftPinTtl().toNanos(),
                config.maxSoftPinTtl().toNanos(),
                config.allowEvictSoftPinned(),
                config.clientTtl().toNanos(),
                config.putDiscardTimeout().toNanos(),
                config.putReleaseTimeout().toNanos(),
                config.evictionHighWatermarkRatio(),
                config.evictionRatio(),
                config.allocationStrategy(),
                config.enableMultiTenants(),
                metadata,
                config.maxClients(),
                config.maxLeases(),
                config.clientTtl().toNanos() * SUSPECT_TTLS,
                config.maxObjects(),
                false,
                taskRules(config.tasks()),
                MasterLoop.TICK.toNanos(),
                Entropy.system().nextLong());
    }

    /** The port that RPC clients connect to. */
    public int rpcPort() {
        return rpc.port();
    }

    /** The port of the admin server; {@link MasterConfig#HTTP_OFF} when there is none. */
    public int httpPort() {
        return http == null ? MasterConfig.HTTP_OFF : http.port();
    }

    /** Brings gauges that are per segment up to date; a scrape through {@code /metrics} does it. */
    public void refreshMetrics() {
        metrics.refreshSegments();
    }

    /**
     * Stops serving. Objects are forgotten; nodes keep their memory and will be told to remount.
     */
    @Override
    public void close() {
        if (http != null) {
            http.close();
        }
        rpc.close();
        loop.close();
    }
}
