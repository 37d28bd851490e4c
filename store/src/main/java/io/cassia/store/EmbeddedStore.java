package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * A client that lends memory of its own process: what upstream calls an embedded real client.
 * Immutable. Objects in the own memory are read and written by a copy; what is stored here ends
 * with the process, unless the node's configuration lets it drain.
 */
public record EmbeddedStore(StorageNode node, StoreClient client) implements AutoCloseable {
    /** Starts both or nothing; the codes are those of {@link StorageNode#start}. */
    public static Outcome<EmbeddedStore> start(
            NodeConfig memory, StoreClientConfig config, Clock clock, MeterRegistry meters) {
        return StorageNode.start(memory, clock, meters)
                .then(
                        node -> {
                            Outcome<EmbeddedStore> both =
                                    StoreClient.connect(config, clock, meters)
                                            .map(client -> new EmbeddedStore(node, client));
                            if (!both.isOk()) {
                                node.close();
                            }
                            return both;
                        });
    }

    /** The client first, so that nothing of it is under way when the memory goes. */
    @Override
    public void close() {
        client.close();
        node.close();
    }
}
