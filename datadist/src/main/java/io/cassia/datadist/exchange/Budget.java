package io.cassia.datadist.exchange;

import io.cassia.base.Clock;
import java.time.Duration;

/**
 * The time of one call. Immutable.
 *
 * @param clock time
 * @param deadlineNanos when the call has to end
 */
record Budget(Clock clock, long deadlineNanos) {
    static Budget of(Clock clock, Duration timeout) {
        return new Budget(clock, clock.nanos() + timeout.toNanos());
    }

    long leftNanos() {
        return deadlineNanos - clock.nanos();
    }

    /** A deadline for a last word to the peer, which the caller does not wait for. */
    long graceNanos() {
        return Math.max(deadlineNanos, clock.nanos() + Duration.ofMillis(20).toNanos());
    }
}
