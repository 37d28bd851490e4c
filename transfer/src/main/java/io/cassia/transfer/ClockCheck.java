package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.time.Instant;

/**
 * Whether an engine can live by a clock. Immutable.
 *
 * <p>Every deadline is a moment of the monotonic clock, and every restart is told from its
 * predecessor by the wall clock. A device clock may not be readable; a host without a battery for
 * its clock starts in 1970, and an engine of that day would lose its own name to the one of
 * yesterday.
 */
final class ClockCheck {
    /** No engine of this protocol was started earlier. */
    private static final Instant FIRST = Instant.parse("2024-11-01T00:00:00Z");

    private ClockCheck() {}

    /** ERR_CLOCK, with the reason, when it cannot. */
    static Outcome<Done> check(Clock clock) {
        try {
            long before = clock.nanos();
            Instant today = Instant.ofEpochMilli(clock.epochMillis());
            long after = clock.nanos();
            if (after - before < 0) {
                return failed("it went back by %d ns".formatted(before - after));
            }
            return today.isBefore(FIRST)
                    ? failed("it says %s; set the clock of this host".formatted(today))
                    : Outcome.done();
        } catch (RuntimeException e) {
            // A clock of the caller's, on a device that may be gone or closed to this process.
            return failed("it cannot be read: " + e);
        }
    }

    private static Outcome<Done> failed(String why) {
        return Outcome.failed(
                TransferCode.ERR_CLOCK, "an engine cannot live by this clock: " + why);
    }
}
