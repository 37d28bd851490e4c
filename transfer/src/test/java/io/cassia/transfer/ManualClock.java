package io.cassia.transfer;

import io.cassia.base.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Time that passes when a test says so. Guarded: atomic. */
public final class ManualClock implements Clock {
    private final AtomicLong nanos = new AtomicLong(1_000_000_000_000L);

    @Override
    public long nanos() {
        return nanos.get();
    }

    @Override
    public long epochMillis() {
        return 1_796_000_000_000L + nanos.get() / 1_000_000;
    }

    public void advance(Duration time) {
        nanos.addAndGet(time.toNanos());
    }
}
