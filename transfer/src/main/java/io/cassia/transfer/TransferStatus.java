package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.util.Optional;

/**
 * One task of a batch at one moment. Immutable.
 *
 * @param state where it stands
 * @param transferredBytes bytes known to have arrived; all of them once COMPLETED
 * @param failure why it ended without success
 */
public record TransferStatus(
        TransferState state, long transferredBytes, Optional<Outcome.Failed<Done>> failure) {}
