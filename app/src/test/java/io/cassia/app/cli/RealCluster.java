package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.cluster.Running;
import java.util.List;

/** A cluster of the product's own parts in this process. Immutable. */
final class RealCluster {
    private RealCluster() {}

    static Running start(Backend backend, Long... segments) {
        return backend.startCluster(MasterSettings.embedded(), "127.0.0.1", List.of(segments))
                .orThrow();
    }
}
