package io.cassia.app.cluster;

import io.cassia.base.Clock;
import io.cassia.gateways.rest.RestConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.NodeConfig;
import io.cassia.store.StoreClientConfig;
import io.cassia.transfer.environment.EngineEnvironment;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Map;

/** The product's own parts, one assembly each. Immutable. */
record RealBackend(Clock clock, Map<String, String> variables) implements Backend {
    /** Settings of all engines of this process. */
    private Outcome<EngineEnvironment> engine() {
        return switch (EngineEnvironment.read(variables)) {
            case Outcome.Ok<EngineEnvironment> ok -> ok;
            case Outcome.Failed<EngineEnvironment> failed ->
                    Outcome.failed(StoreCode.INVALID_PARAMS, failed.detail());
        };
    }

    @Override
    public Outcome<ObjectStore> connect(StoreClientConfig config) {
        return engine().then(
                        engine ->
                                ClientAssembly.connect(
                                        config.withEngine(engine),
                                        clock,
                                        new SimpleMeterRegistry()));
    }

    @Override
    public Outcome<Running> startMaster(MasterSettings settings) {
        return finish(MasterAssembly.start(settings, clock, new Running.Builder()));
    }

    @Override
    public Outcome<Running> startNode(NodeConfig config) {
        Running.Builder parts = new Running.Builder();
        parts.reachedAt(config.master(), config.metadata());
        return finish(
                engine().then(
                                engine ->
                                        NodeAssembly.start(
                                                config.withEngine(engine), clock, parts)));
    }

    @Override
    public Outcome<Running> startCluster(MasterSettings settings, List<NodeConfig> nodes) {
        return engine().then(engine -> startCluster(settings, nodes, engine));
    }

    private Outcome<Running> startCluster(
            MasterSettings settings, List<NodeConfig> nodes, EngineEnvironment engine) {
        Outcome<Running.Builder> parts =
                MasterAssembly.start(settings, clock, new Running.Builder());
        for (NodeConfig node : nodes) {
            parts =
                    parts.then(
                            started ->
                                    NodeAssembly.start(
                                            node.withCluster(started.master(), started.metadata())
                                                    .withEngine(engine),
                                            clock,
                                            started));
        }
        return finish(parts);
    }

    @Override
    public Outcome<Running> startGateway(StoreClientConfig client, RestConfig rest) {
        Running.Builder parts = new Running.Builder();
        parts.reachedAt(client.master(), client.metadata());
        return finish(
                engine().then(
                                engine ->
                                        GatewayAssembly.start(
                                                client.withEngine(engine), rest, clock, parts)));
    }

    private static Outcome<Running> finish(Outcome<Running.Builder> parts) {
        return parts.map(Running.Builder::build);
    }
}
