package io.cassia.testkit.simulation;

import io.cassia.base.Clock;
import java.util.concurrent.TimeUnit;

/**
 * Confined to one thread. The clock of one machine: its monotonic time starts anywhere and runs a
 * little fast or slow; its wall clock can be set.
 */
public final class VirtualClock implements Clock {
    private static final long MILLION = 1_000_000;

    private final VirtualTime time;
    private final long originNanos;
    private final long driftPpm;
    private long epochMillisAtStart;

    /**
     * @param originNanos what the monotonic clock shows when the world begins
     * @param driftPpm microseconds that it gains per second; negative when it is slow
     */
    public VirtualClock(VirtualTime time, long originNanos, long driftPpm) {
        this.time = time;
        this.originNanos = originNanos;
        this.driftPpm = driftPpm;
        this.epochMillisAtStart = 1_800_000_000_000L;
    }

    @Override
    public long nanos() {
        long passed = time.nanos();
        return originNanos + passed + passed / MILLION * driftPpm;
    }

    @Override
    public long epochMillis() {
        return epochMillisAtStart + TimeUnit.NANOSECONDS.toMillis(time.nanos());
    }

    /** Somebody sets the machine's wall clock forward or back. */
    public void stepWall(long millis) {
        epochMillisAtStart += millis;
    }
}
