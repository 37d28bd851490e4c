package io.cassia.transfer.transport.tcp;

import java.time.Duration;

/**
 * When a peer that could not be connected is tried again: after a pause that doubles with each
 * failure. Confined to the holder of its owner's lock. Times are those of one monotonic clock, in
 * nanoseconds.
 */
final class Backoff {
    private static final long SHORTEST_NANOS = Duration.ofMillis(10).toNanos();
    private static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();

    private long pauseNanos;
    private long untilNanos;
    private String cause = "";

    /** Time that is left of the pause; 0 when there is none. */
    long leftNanos(long now) {
        return pauseNanos == 0 ? 0 : Math.max(0, untilNanos - now);
    }

    /** Why the last attempt failed; empty when none has. */
    String cause() {
        return cause;
    }

    /**
     * An attempt has failed. Those that were under way together tell the same of the peer: only the
     * first of them makes the pause longer.
     *
     * @param began when the attempt did
     * @param now when it failed
     * @param why for people
     */
    void failed(long began, long now, String why) {
        if (pauseNanos == 0 || began - untilNanos >= 0) {
            pauseNanos = Math.clamp(2 * pauseNanos, SHORTEST_NANOS, LONGEST_NANOS);
            untilNanos = now + pauseNanos;
        }
        cause = why;
    }

    /** The peer could be connected: the next failure is a first one. */
    void succeeded() {
        pauseNanos = 0;
    }
}
