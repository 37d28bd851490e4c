package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Reads the descriptors of opened segments again at an interval, for those who want to meet a
 * restarted peer before a transfer does. Confined to its thread, but for closing.
 */
final class DescriptorRefresher implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(DescriptorRefresher.class.getName());

    private final SegmentTable segments;
    private final Duration interval;
    private final Clock clock;
    private final CountDownLatch stop = new CountDownLatch(1);

    /**
     * A refresher, which runs from now on.
     *
     * @param interval zero: never
     */
    DescriptorRefresher(SegmentTable segments, Duration interval, Clock clock) {
        this.segments = segments;
        this.interval = interval;
        this.clock = clock;
        if (!interval.isZero()) {
            Thread.ofVirtual().name("cassia-descriptor-refresh").start(this::run);
        }
    }

    private void run() {
        try {
            while (!stop.await(interval.toNanos(), TimeUnit.NANOSECONDS)) {
                for (Segment segment : segments.opened()) {
                    if (stop.getCount() > 0) {
                        refresh(segment);
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void refresh(Segment segment) {
        Outcome<Done> outcome = segment.reread(clock.nanos() + interval.toNanos());
        if (outcome instanceof Outcome.Failed<Done>(var code, String detail)) {
            // What was known still leads on, and a transfer that needs more will tell.
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "descriptor-not-refreshed segment={0} code={1} detail=\"{2}\"",
                    segment.name(),
                    code.label(),
                    detail);
        }
    }

    @Override
    public void close() {
        stop.countDown();
    }
}
