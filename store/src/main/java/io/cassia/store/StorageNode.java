package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;

/** A process part that mounts memory into the pool and keeps it mounted. Guarded. */
@SuppressWarnings("DoNotCallSuggester")
public final class StorageNode implements AutoCloseable {
    private StorageNode() {}

    /** Mounts the memory; fails with the code of the step that failed and nothing left behind. */
    public static Outcome<StorageNode> start(NodeConfig config, Clock clock, MeterRegistry meters) {
        throw new UnsupportedOperationException();
    }

    /** The Transfer Engine name peers open, {@code host:port}. */
    public String endpoint() {
        throw new UnsupportedOperationException();
    }

    /** Unmounts and frees the memory. */
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
