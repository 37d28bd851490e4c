package io.cassia.datadist.link;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Pauses between attempts, which the end of an instance cuts short. Guarded. */
final class Rest {
    private final CountDownLatch over = new CountDownLatch(1);

    /** Pauses; false when the instance has ended, or the thread was interrupted. */
    boolean pause(long nanos) {
        try {
            return !over.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Nobody pauses any more. */
    void end() {
        over.countDown();
    }
}
