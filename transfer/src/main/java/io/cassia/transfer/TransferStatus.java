package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transfer;
import java.util.Optional;

/**
 * One task of a batch at one moment. Immutable.
 *
 * @param state where it stands
 * @param transferredBytes bytes known to have arrived; all of them once COMPLETED
 * @param failure why it ended without success; nothing when its owner cancelled it
 */
public record TransferStatus(
        TransferState state, long transferredBytes, Optional<Outcome.Failed<Done>> failure) {
    static TransferStatus of(Transfer task) {
        if (!task.isEnded()) {
            return new TransferStatus(TransferState.WAITING, 0, Optional.empty());
        }
        return switch (task.end()) {
            case COMPLETED ->
                    new TransferStatus(
                            TransferState.COMPLETED, task.lengthBytes(), Optional.empty());
            case CANCELED -> new TransferStatus(TransferState.CANCELED, 0, Optional.empty());
            case TIMED_OUT -> failed(TransferState.TIMEOUT, task.outcome());
            case FAILED -> failed(TransferState.FAILED, task.outcome());
        };
    }

    private static TransferStatus failed(TransferState state, Outcome<Done> outcome) {
        return new TransferStatus(
                state,
                0,
                outcome instanceof Outcome.Failed<Done> failure
                        ? Optional.of(failure)
                        : Optional.empty());
    }
}
