package io.cassia.lab.process;

import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Tries until something works, with a limit: for states that other processes reach by their clocks.
 */
public final class Eventually {
    private Eventually() {}

    /** The first success, or the last failure when the time is over. */
    public static <T> Outcome<T> ok(Duration limit, Supplier<Outcome<T>> attempt) {
        long end = System.nanoTime() + limit.toNanos();
        Outcome<T> last = attempt.get();
        while (!last.isOk() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(100_000_000);
            last = attempt.get();
        }
        return last;
    }
}
