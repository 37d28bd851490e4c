package io.cassia.master.core;

/**
 * Immutable. Limits of copy and move tasks (spec mooncake-store 8.1).
 *
 * @param maxPending tasks that no client has fetched yet
 * @param maxProcessing tasks that clients are working on
 * @param maxFinished tasks whose end is remembered
 * @param pendingNanos a task that nobody fetched for so long has failed; 0 means never
 * @param processingNanos a task that its client has not ended for so long has failed; 0 means never
 * @param maxRetryAttempts what clients are told
 */
public record TaskRules(
        int maxPending,
        int maxProcessing,
        int maxFinished,
        long pendingNanos,
        long processingNanos,
        int maxRetryAttempts) {
    /** Upstream's. */
    public static final TaskRules DEFAULT =
            new TaskRules(10_000, 10_000, 10_000, 300_000_000_000L, 300_000_000_000L, 10);

    public TaskRules {
        if (maxPending < 0 || maxProcessing < 0 || maxFinished < 0) {
            throw new IllegalArgumentException("task limits must not be negative");
        }
        if (pendingNanos < 0 || processingNanos < 0 || maxRetryAttempts < 0) {
            throw new IllegalArgumentException("task times and retries must not be negative");
        }
    }
}
