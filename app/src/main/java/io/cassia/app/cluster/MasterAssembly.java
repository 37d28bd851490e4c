package io.cassia.app.cluster;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;

/** Wires a master and the metadata server beside it. Immutable. */
final class MasterAssembly {
    private MasterAssembly() {}

    /** Adds a master to the process; on failure the parts before it are stopped too. */
    static Outcome<Running.Builder> start(
            MasterSettings settings, Clock clock, Running.Builder parts) {
        // The master module is not joined yet.
        parts.abandon();
        return Outcome.failed(
                StoreCode.UNAVAILABLE_IN_CURRENT_MODE,
                "master on %s:%d at %d: not built into this version"
                        .formatted(settings.rpcHost(), settings.rpcPort(), clock.epochMillis()));
    }
}
