package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transfer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Counts the tasks of a batch, so that asking for its status costs the same however many there are.
 * Confined to the holder of the batch's lock.
 */
final class BatchTally {
    private int tasks;
    private int completed;
    private int failed;
    private int timedOut;
    private int canceled;
    private long transferredBytes;
    private Outcome.@Nullable Failed<Done> firstFailure;

    void submitted(int count) {
        tasks += count;
    }

    void ended(Transfer task) {
        switch (task.end()) {
            case COMPLETED -> {
                completed++;
                transferredBytes += task.lengthBytes();
            }
            case FAILED -> failed++;
            case TIMED_OUT -> timedOut++;
            case CANCELED -> canceled++;
        }
        if (firstFailure == null && task.outcome() instanceof Outcome.Failed<Done> failure) {
            firstFailure = failure;
        }
    }

    int tasks() {
        return tasks;
    }

    int running() {
        return tasks - completed - failed - timedOut - canceled;
    }

    /** Of the task that was the first to end without success. */
    Optional<Outcome.Failed<Done>> firstFailure() {
        return Optional.ofNullable(firstFailure);
    }

    BatchStatus status() {
        return new BatchStatus(
                state(), transferredBytes, tasks, completed, failed + timedOut + canceled);
    }

    private TransferState state() {
        if (running() > 0) {
            return TransferState.WAITING;
        }
        if (failed > 0) {
            return TransferState.FAILED;
        }
        if (timedOut > 0) {
            return TransferState.TIMEOUT;
        }
        return canceled > 0 ? TransferState.CANCELED : TransferState.COMPLETED;
    }
}
