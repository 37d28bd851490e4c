package io.cassia.datadist.link;

import io.cassia.base.Clock;
import java.time.Duration;

/** Times that users give, as nanoseconds that can be added to a clock. Immutable. */
public final class TimeLimit {
    private static final Duration MOST = Duration.ofDays(365);

    private TimeLimit() {}

    /** A year at most: more is for ever, and would overflow. 0 for a negative time. */
    public static long nanos(Duration time) {
        if (time.isNegative()) {
            return 0;
        }
        return (time.compareTo(MOST) > 0 ? MOST : time).toNanos();
    }

    /** When that time is over. */
    public static long deadline(Clock clock, Duration time) {
        return clock.nanos() + nanos(time);
    }
}
