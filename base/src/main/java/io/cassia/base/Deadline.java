package io.cassia.base;

import java.time.Duration;

/**
 * A moment on the monotonic clock until which a call and all its steps may run. Immutable.
 *
 * @param clock the clock that the moment belongs to
 * @param atNanos the moment
 */
public record Deadline(Clock clock, long atNanos) {
    /** Longer than anybody waits, and far from where moments of the clock are turned around. */
    private static final Duration LONGEST = Duration.ofDays(1000);

    /** The moment {@code timeout} from now; of a timeout without an end, in a thousand days. */
    public static Deadline after(Clock clock, Duration timeout) {
        return new Deadline(clock, clock.nanos() + nanos(timeout));
    }

    /** The moment that never comes, as far as anybody waits. */
    public static Deadline never(Clock clock) {
        return after(clock, LONGEST);
    }

    /** Nanoseconds of a timeout: none when it is negative, at most those of a thousand days. */
    public static long nanos(Duration timeout) {
        if (timeout.isNegative()) {
            return 0;
        }
        return (timeout.compareTo(LONGEST) < 0 ? timeout : LONGEST).toNanos();
    }

    /** Time left; zero when the moment has passed. */
    public Duration remaining() {
        return Duration.ofNanos(Math.max(0, atNanos - clock.nanos()));
    }

    /** The earlier of this and another moment of the same clock. */
    public Deadline earlier(Deadline other) {
        return atNanos - other.atNanos <= 0 ? this : other;
    }

    public boolean hasPassed() {
        return clock.nanos() - atNanos >= 0;
    }
}
