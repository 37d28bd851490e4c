package io.cassia.datadist.exchange;

import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.base.Spin;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The time of one call. Immutable.
 *
 * @param clock time
 * @param deadlineNanos when the call has to end
 */
record Budget(Clock clock, long deadlineNanos) {
    /** Bytes that come in a nanosecond where they come fast. */
    private static final long FAST_BYTES = 20;

    private static final long MOST_AWAKE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long MAX_CLAIM_MICROS = TimeUnit.HOURS.toMicros(1);

    static Budget of(Clock clock, Duration timeout) {
        return new Budget(clock, Deadline.after(clock, timeout).atNanos());
    }

    /** Time that a peer claims to have, as nanoseconds; an hour at most. */
    static long claimedNanos(long micros) {
        return TimeUnit.MICROSECONDS.toNanos(Math.clamp(micros, 0L, MAX_CLAIM_MICROS));
    }

    /**
     * How long to stay awake over an answer that goes with so many bytes: a twentieth of what those
     * take, and what any small request is worth.
     */
    static long awakeNanos(long bytes) {
        return Math.min(Spin.LONGEST_NANOS + bytes / (20 * FAST_BYTES), MOST_AWAKE_NANOS);
    }

    long leftNanos() {
        return deadlineNanos - clock.nanos();
    }

    /** A deadline for a last word to the peer, which the caller does not wait for. */
    long graceNanos() {
        return Math.max(deadlineNanos, clock.nanos() + Duration.ofMillis(20).toNanos());
    }
}
