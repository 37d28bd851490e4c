package io.cassia.rpc;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for its answer. {@code done} may be set by any thread; the rest is guarded by
 * the lock of the {@link ReadTurn} that it queues at.
 */
final class Waiter {
    private final Thread thread;
    private volatile boolean done;

    boolean queued;
    boolean promoted;
    @Nullable Waiter previous;
    @Nullable Waiter next;

    Waiter(Thread thread) {
        this.thread = thread;
    }

    boolean isDone() {
        return done;
    }

    /** Whoever made the answer says so. */
    void done() {
        done = true;
        wake();
    }

    /** Before waiting for another answer. Only by the waiting thread. */
    void again() {
        done = false;
    }

    void wake() {
        if (thread != Thread.currentThread()) {
            LockSupport.unpark(thread);
        }
    }
}
