package io.cassia.base;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Tells threads that do something from time to time that their owner closes. Thread-safe. */
public final class Closing {
    private final CountDownLatch begun = new CountDownLatch(1);

    /** Ends all pauses, those to come as well. */
    public void begin() {
        begun.countDown();
    }

    public boolean hasBegun() {
        return begun.getCount() == 0;
    }

    /** Waits so long; true, and at once, when the owner closes or the thread is interrupted. */
    @CanIgnoreReturnValue
    public boolean pause(Duration time) {
        try {
            return begun.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
