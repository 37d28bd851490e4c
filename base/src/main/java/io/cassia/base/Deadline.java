package io.cassia.base;

import java.time.Duration;

/**
 * A moment on the monotonic clock until which a call and all its steps may run. Immutable.
 *
 * @param clock the clock that the moment belongs to
 * @param atNanos the moment
 */
public record Deadline(Clock clock, long atNanos) {
    /** The moment {@code timeout} from now. */
    public static Deadline after(Clock clock, Duration timeout) {
        return new Deadline(clock, clock.nanos() + timeout.toNanos());
    }

    /** Time left; zero when the moment has passed. */
    public Duration remaining() {
        return Duration.ofNanos(Math.max(0, atNanos - clock.nanos()));
    }

    public boolean hasPassed() {
        return clock.nanos() - atNanos >= 0;
    }
}
