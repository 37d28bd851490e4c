package io.cassia.master;

import io.cassia.base.Clock;
import io.cassia.base.Entropy;
import io.cassia.master.core.CoreConfig;
import io.cassia.master.core.TaskRules;
import io.cassia.master.http.AdminQueries;
import io.cassia.master.http.AdminServer;
import io.cassia.rpc.RpcServer;
import io.cassia.rpc.ServerLimits;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.Outcome.Ok;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes the parts of a master and starts them. Confined to the thread that starts it. */
final class MasterParts {
    /** Share of the heap that objects may cost when the configuration does not say. */
    private static final double METADATA_SHARE = 0.6;

    /** A silent client's data is kept for so many of its times to live, unless it is said. */
    private static final long SUSPECT_TTLS = 3;

    private final MasterConfig config;
    private final Clock clock;
    private final MeterRegistry meters;
    private final MasterLoop loop;
    private final MasterMetrics metrics;

    MasterParts(MasterConfig config, Clock clock, MeterRegistry meters) {
        this.config = config;
        this.clock = clock;
        this.meters = meters;
        this.loop = new MasterLoop(coreConfig(config), clock);
        this.metrics = new MasterMetrics(loop, clock, meters);
    }

    /** Starts all, or nothing. */
    Outcome<Master> start(Supplier<String> metricsText) {
        return tenants().then(tenants -> start(metricsText, tenants));
    }

    private Outcome<TenantAdmin> tenants() {
        boolean inFile = config.enableMultiTenants() && config.tenantFile().isPresent();
        return inFile
                ? TenantAdmin.withFile(loop, new TenantPolicyFile(config.tenantFile().get()))
                : Outcome.ok(TenantAdmin.inMemory(loop));
    }

    private Outcome<Master> start(Supplier<String> metricsText, TenantAdmin tenants) {
        AdminQueries queries = new LoopQueries(loop, clock, tenants);
        return switch (rpc(tenants)) {
            case Failed<RpcServer> failed -> failed.as();
            case Ok<RpcServer>(RpcServer rpc) ->
                    switch (http(metricsText, queries)) {
                        case Failed<HttpPart> failed -> {
                            rpc.close();
                            yield failed.as();
                        }
                        case Ok<HttpPart>(HttpPart http) -> {
                            loop.start();
                            PoolReport report = new PoolReport(queries);
                            if (config.reportMetrics()) {
                                report.start();
                            }
                            yield Outcome.ok(new Master(loop, rpc, http.server, metrics, report));
                        }
                    };
        };
    }

    private Outcome<RpcServer> rpc(TenantAdmin tenants) {
        RpcServer.Builder server =
                RpcServer.builder(meters)
                        .bind(config.rpcHost(), config.rpcPort())
                        .clock(clock)
                        .limits(ServerLimits.DEFAULT.withIdle(config.rpcIdleTimeout()))
                        .gate(loop);
        new MooncakeBinding(config, loop, meters).register(server);
        new TaskBinding(loop, clock, meters).register(server);
        new CassiaBinding(loop, clock, tenants).register(server);
        return server.start();
    }

    /** The admin server, or none. Immutable. */
    private record HttpPart(@Nullable AdminServer server) {}

    private Outcome<HttpPart> http(Supplier<String> metricsText, AdminQueries queries) {
        if (config.httpPort() == MasterConfig.HTTP_OFF) {
            return Outcome.ok(new HttpPart(null));
        }
        Supplier<String> fresh =
                () -> {
                    metrics.refreshSegments();
                    return metricsText.get();
                };
        return AdminServer.start(config.httpHost(), config.httpPort(), queries, fresh, meters)
                .map(HttpPart::new);
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
        long ttl = config.clientTtl().toNanos();
        return new CoreConfig(
                config.defaultLeaseTtl().toNanos(),
                config.defaultSoftPinTtl().toNanos(),
                config.maxSoftPinTtl().toNanos(),
                config.allowEvictSoftPinned(),
                ttl,
                config.putDiscardTimeout().toNanos(),
                config.putReleaseTimeout().toNanos(),
                config.evictionHighWatermarkRatio(),
                config.evictionRatio(),
                config.allocationStrategy(),
                config.enableMultiTenants(),
                metadata,
                config.maxClients(),
                config.maxLeases(),
                config.clientWipe().isZero() ? ttl * SUSPECT_TTLS : config.clientWipe().toNanos(),
                config.maxObjects(),
                config.allReplicas(),
                taskRules(config.tasks()),
                MasterLoop.TICK.toNanos(),
                Entropy.system().nextLong());
    }
}
