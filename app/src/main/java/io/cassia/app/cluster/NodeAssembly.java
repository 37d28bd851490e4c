package io.cassia.app.cluster;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.store.NodeConfig;
import io.cassia.store.StorageNode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/** Wires a storage node. Immutable. */
final class NodeAssembly {
    private NodeAssembly() {}

    /** Adds a node to the process; on failure the parts before it are stopped too. */
    static Outcome<Running.Builder> start(NodeConfig config, Clock clock, Running.Builder parts) {
        return switch (StorageNode.start(config, clock, new SimpleMeterRegistry())) {
            case Outcome.Ok<StorageNode>(StorageNode node) ->
                    Outcome.ok(parts.onClose(node::close).node(node.endpoint()));
            case Outcome.Failed<StorageNode> failure -> {
                parts.abandon();
                yield failure.in("storage node of " + config.segmentBytes() + " bytes");
            }
        };
    }
}
