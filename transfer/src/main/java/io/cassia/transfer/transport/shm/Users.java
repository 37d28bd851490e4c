package io.cassia.transfer.transport.shm;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts who uses something, and lets go of it once, when it is closed and nobody uses it any more.
 * Guarded.
 */
final class Users implements AutoCloseable {
    private static final int CLOSED = 1 << 31;

    private final AtomicInteger word = new AtomicInteger();
    private final Runnable letGo;

    /**
     * Nobody yet.
     *
     * @param letGo called on the thread that is the last to leave, or closes
     */
    Users(Runnable letGo) {
        this.letGo = letGo;
    }

    /** Whether the caller may use it; then it must {@link #leave}. */
    boolean enter() {
        int before = word.get();
        while (before >= 0) {
            if (word.compareAndSet(before, before + 1)) {
                return true;
            }
            before = word.get();
        }
        return false;
    }

    void leave() {
        if (word.decrementAndGet() == CLOSED) {
            letGo.run();
        }
    }

    /** Admits nobody any more. */
    @Override
    public void close() {
        int before = word.getAndUpdate(now -> now | CLOSED);
        if (before == 0) {
            letGo.run();
        }
    }

    boolean isClosed() {
        return word.get() < 0;
    }
}
