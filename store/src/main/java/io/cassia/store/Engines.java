package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.MeterRegistry;

/** Starts the Transfer Engine of a client or node. Immutable. */
final class Engines {
    private Engines() {}

    /** TRANSFER_FAIL with the engine's own code in the detail when it cannot start. */
    static Outcome<TransferEngine> start(
            String metadata, String localName, Clock clock, MeterRegistry meters) {
        return switch (TransferEngine.start(
                TransferConfig.of(metadata, localName), clock, meters)) {
            case Outcome.Ok<TransferEngine> started -> started;
            case Outcome.Failed<TransferEngine> failed -> failed(failed, "own transfer engine");
        };
    }

    /** The engine's failure in the store's own code. */
    static <T> Outcome<T> failed(Outcome.Failed<?> failed, String context) {
        return Outcome.failed(
                StoreCode.TRANSFER_FAIL,
                context + ": " + failed.code().label() + ": " + failed.detail());
    }
}
