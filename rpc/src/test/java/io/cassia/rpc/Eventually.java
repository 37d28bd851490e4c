package io.cassia.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Conditions that other threads bring about. */
final class Eventually {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private Eventually() {}

    static void until(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("never: %s", what).isLessThan(deadline);
            Thread.sleep(1);
        }
    }

    static double count(MeterRegistry metrics, String name, String tag, String value) {
        return metrics.get(name).tag(tag, value).counter().count();
    }

    static void counted(MeterRegistry metrics, String name, String tag, String value)
            throws InterruptedException {
        until(name + " " + value, () -> count(metrics, name, tag, value) > 0);
    }
}
