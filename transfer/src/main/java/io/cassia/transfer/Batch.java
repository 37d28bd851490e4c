package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.List;

/**
 * Requests that run in the background, with one status per task. Guarded: any thread may submit,
 * poll and wait. Task numbers continue over several submissions.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class Batch {
    Batch() {}

    /** Number of tasks it may ever hold. */
    public int capacity() {
        throw new UnsupportedOperationException();
    }

    /**
     * Hands requests over: all or none. ERR_TOO_MANY_REQUESTS when they exceed the capacity,
     * ERR_INVALID_ARGUMENT for an unknown target, for memory that other threads may not touch, or
     * when the batch was freed. I/O failures show up in the tasks' status.
     */
    public Outcome<Done> submit(List<TransferRequest> requests) {
        throw new UnsupportedOperationException();
    }

    /**
     * Status of a task, by its number in order of submission.
     *
     * @throws IndexOutOfBoundsException when there is no such task
     */
    public TransferStatus status(int task) {
        throw new UnsupportedOperationException();
    }

    /** Status of the whole. */
    public BatchStatus status() {
        throw new UnsupportedOperationException();
    }

    /** Waits until every submitted task has ended; false when the time is over before. */
    public boolean await(Duration timeout) {
        throw new UnsupportedOperationException();
    }

    /** Gives the batch back; ERR_BATCH_BUSY while a task runs, and the batch stays valid. */
    public Outcome<Done> free() {
        throw new UnsupportedOperationException();
    }
}
