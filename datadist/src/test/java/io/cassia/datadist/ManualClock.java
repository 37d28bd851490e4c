package io.cassia.datadist;

import io.cassia.base.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Guarded. Time that passes when a test says so. */
public final class ManualClock implements Clock {
    private final AtomicLong nanos = new AtomicLong(1_000_000_000L);

    public void advance(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    @Override
    public long nanos() {
        return nanos.get();
    }

    @Override
    public long epochMillis() {
        return nanos.get() / 1_000_000;
    }
}
