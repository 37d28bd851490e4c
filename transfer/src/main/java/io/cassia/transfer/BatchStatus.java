package io.cassia.transfer;

/**
 * A batch at one moment. Immutable.
 *
 * @param state WAITING while any task runs; then COMPLETED, or the worst end of any task (FAILED
 *     over TIMEOUT over CANCELED). An empty batch is COMPLETED.
 * @param transferredBytes sum over completed tasks
 * @param tasks tasks submitted so far
 * @param completed tasks that ended well
 * @param failed tasks that ended otherwise
 */
public record BatchStatus(
        TransferState state, long transferredBytes, int tasks, int completed, int failed) {}
