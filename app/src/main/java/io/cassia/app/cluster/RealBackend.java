package io.cassia.app.cluster;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.store.NodeConfig;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;

/** The product's own parts, one assembly each. Immutable. */
record RealBackend(Clock clock) implements Backend {
    @Override
    public Outcome<ObjectStore> connect(StoreClientConfig config) {
        return ClientAssembly.connect(config, clock, new SimpleMeterRegistry());
    }

    @Override
    public Outcome<Running> startMaster(MasterSettings settings) {
        return finish(MasterAssembly.start(settings, clock, new Running.Builder()));
    }

    @Override
    public Outcome<Running> startNode(NodeConfig config) {
        Running.Builder parts = new Running.Builder();
        parts.reachedAt(config.master(), config.metadata());
        return finish(NodeAssembly.start(config, clock, parts));
    }

    @Override
    public Outcome<Running> startCluster(
            MasterSettings settings, String host, List<Long> segments) {
        Outcome<Running.Builder> parts =
                MasterAssembly.start(settings, clock, new Running.Builder());
        for (long bytes : segments) {
            parts =
                    parts.then(
                            started ->
                                    NodeAssembly.start(
                                            new NodeConfig(
                                                    started.master(),
                                                    started.metadata(),
                                                    host,
                                                    bytes),
                                            clock,
                                            started));
        }
        return finish(parts);
    }

    private static Outcome<Running> finish(Outcome<Running.Builder> parts) {
        return parts.map(Running.Builder::build);
    }
}
