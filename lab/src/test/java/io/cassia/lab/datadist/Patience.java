package io.cassia.lab.datadist;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what another process or thread is about to do, with a limit. Immutable. */
final class Patience {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private Patience() {}

    static boolean until(BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            LockSupport.parkNanos(5_000_000);
        }
        return true;
    }
}
