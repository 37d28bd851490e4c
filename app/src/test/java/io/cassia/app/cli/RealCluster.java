package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.cluster.Running;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** A cluster of the product's own parts in this process. Immutable. */
final class RealCluster {
    private RealCluster() {}

    static Running start(Backend backend, Long... segments) {
        Outcome<Running> started =
                backend.startCluster(MasterSettings.embedded(), "127.0.0.1", List.of(segments));
        // To go when the master is joined.
        if (started instanceof Outcome.Failed<Running> failure
                && failure.code() == StoreCode.UNAVAILABLE_IN_CURRENT_MODE) {
            Assumptions.abort(failure.detail());
        }
        return started.orThrow();
    }
}
