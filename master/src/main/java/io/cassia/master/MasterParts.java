package io.cassia.master;

import io.cassia.base.Clock;
import io.cassia.base.Entropy;
import io.cassia.master.core.CoreConfig;
import io.cassia.master.core.TaskRules;
import io.cassia.master.events.KvEventPublisher;
import io.cassia.master.events.KvEventsConfig;
import io.cassia.master.http.AdminQueries;
import io.cassia.master.http.AdminQueries.EventCounts;
import io.cassia.master.http.AdminServer;
import io.cassia.rpc.RpcServer;
import io.cassia.rpc.ServerLimits;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
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

    /** How to stop what has been started. */
    private final List<Runnable> stops = new ArrayList<>();

    MasterParts(MasterConfig config, Clock clock, MeterRegistry meters) {
        this.config = config;
        this.clock = clock;
        this.meters = meters;
        this.loop = new MasterLoop(coreConfig(config), clock);
        this.metrics = new MasterMetrics(loop, clock, meters);
    }

    /** Starts all, or nothing. */
    Outcome<Master> start(Supplier<String> metricsText) {
        Outcome<Master> master =
                tenants()
                        .then(
                                tenants ->
                                        events().then(
                                                        counts ->
                                                                serve(
                                                                        tenants,
                                                                        counts,
                                                                        metricsText)));
        if (!master.isOk()) {
            stops.reversed().forEach(Runnable::run);
        }
        return master;
    }

    private Outcome<TenantAdmin> tenants() {
        boolean inFile = config.enableMultiTenants() && config.tenantFile().isPresent();
        return inFile
                ? TenantAdmin.withFile(loop, new TenantPolicyFile(config.tenantFile().get()))
                : Outcome.ok(TenantAdmin.inMemory(loop));
    }

    private Outcome<Supplier<EventCounts>> events() {
        if (config.kvEvents().isEmpty()) {
            return Outcome.ok(() -> EventCounts.OFF);
        }
        KvEventsConfig events = config.kvEvents().get();
        loop.keepEvents(events.queueCapacity());
        FunctionCounter.builder("cassia.kv.events.dropped", loop, MasterLoop::droppedEvents)
                .description("Events that were too many for the queue")
                .register(meters);
        return KvEventPublisher.start(events, loop::takeEvents, clock, meters)
                .map(
                        publisher -> {
                            stops.add(publisher::close);
                            return () ->
                                    new EventCounts(
                                            true,
                                            publisher.publishedBatches(),
                                            publisher.publishedEvents(),
                                            loop.droppedEvents(),
                                            publisher.skippedKeys());
                        });
    }

    private Outcome<Master> serve(
            TenantAdmin tenants, Supplier<EventCounts> counts, Supplier<String> metricsText) {
        AdminQueries queries = new LoopQueries(loop, clock, tenants, counts);
        return rpc(tenants)
                .then(
                        rpc ->
                                http(metricsText, queries)
                                        .map(
                                                http -> {
                                                    startTimers(queries);
                                                    return new Master(
                                                            rpc, http.server, metrics, stops);
                                                }));
    }

    private void startTimers(AdminQueries queries) {
        loop.start();
        stops.add(loop::close);
        if (config.reportMetrics()) {
            PoolReport report = new PoolReport(queries);
            report.start();
            stops.add(report::close);
        }
    }

    private Outcome<RpcServer> rpc(TenantAdmin tenants) {
        RpcServer.Builder server =
                RpcServer.builder(meters)
                        .bind(config.rpcHost(), config.rpcPort())
                        .clock(clock)
                        .limits(ServerLimits.DEFAULT.withIdle(config.rpcIdleTimeout()))
                        .gate(loop);
        PutTerm term = new PutTerm(config.putReleaseTimeout());
        PutMeters puts = PutMeters.of(meters);
        new MooncakeBinding(config, loop, term, meters, puts).register(server);
        new TaskBinding(loop, clock, term, meters).register(server);
        new CassiaBinding(loop, clock, term, tenants, puts).register(server);
        return server.start()
                .map(
                        started -> {
                            stops.add(started::close);
                            return started;
                        });
    }

    /** The admin server, or none. Immutable. */
    private record HttpPart(@Nullable AdminServer server) {}

    private Outcome<HttpPart> http(Supplier<String> metricsText, AdminQueries queries) {
        if (config.httpPort() == MasterConfig.HTTP_OFF) {
            return Outcome.ok(new HttpPart(null));
        }
        Supplier<String> fresh =
                () -> {
                    metrics.refresh();
                    return metricsText.get();
                };
        return AdminServer.start(config.httpHost(), config.httpPort(), queries, fresh, meters)
                .map(
                        started -> {
                            stops.add(started::close);
                            return new HttpPart(started);
                        });
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

    static CoreConfig coreConfig(MasterConfig config) {
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
                config.evictionPolicy(),
                config.restartGrace().toNanos(),
                MasterLoop.TICK.toNanos(),
                Entropy.system().nextLong());
    }
}
