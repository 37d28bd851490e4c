package io.cassia.master;

import java.time.Duration;

/**
 * Limits of copy and move tasks (spec mooncake-store 8.1). Immutable.
 *
 * @param maxPending tasks that wait to be fetched; more are refused
 * @param maxProcessing tasks that clients work on
 * @param maxFinished ended tasks that are remembered
 * @param pendingTimeout age at which an unfetched task has failed; zero: never
 * @param processingTimeout time after which a fetched task has failed; zero: never
 * @param maxRetryAttempts told to clients
 */
public record TaskLimits(
        int maxPending,
        int maxProcessing,
        int maxFinished,
        Duration pendingTimeout,
        Duration processingTimeout,
        int maxRetryAttempts) {
    public static final TaskLimits DEFAULT =
            new TaskLimits(
                    10_000, 10_000, 10_000, Duration.ofMinutes(5), Duration.ofMinutes(5), 10);

    public TaskLimits {
        if (maxPending < 0 || maxProcessing < 0 || maxFinished < 0 || maxRetryAttempts < 0) {
            throw new IllegalArgumentException("a limit of tasks is negative");
        }
        if (pendingTimeout.isNegative() || processingTimeout.isNegative()) {
            throw new IllegalArgumentException("a time-out of tasks is negative");
        }
    }
}
