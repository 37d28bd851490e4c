package io.cassia.transfer;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Looks now and then for connections that nobody uses any more. Without it, peers that were met
 * once and are gone would leave a descriptor or more behind each. Confined to its thread, but for
 * closing.
 */
final class IdleLanes implements AutoCloseable {
    private final Runnable sweep;
    private final Duration interval;
    private final CountDownLatch stop = new CountDownLatch(1);

    /** Runs from now on. */
    IdleLanes(Runnable sweep, Duration interval) {
        this.sweep = sweep;
        this.interval = interval;
        Thread.ofVirtual().name("cassia-idle-lanes").start(this::run);
    }

    private void run() {
        try {
            while (!stop.await(interval.toNanos(), TimeUnit.NANOSECONDS)) {
                sweep.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop.countDown();
    }
}
