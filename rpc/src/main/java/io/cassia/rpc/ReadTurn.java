package io.cassia.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is to read a connection. Guarded by its lock.
 *
 * <p>Leader and followers: a caller that waits for an answer reads the socket itself if nobody else
 * does, and completes other callers' answers on the way, so that a lone caller needs no second
 * thread. Who got what it waited for gives the turn back, which wakes one of the others. A newcomer
 * may take the turn before the woken one gets to it; the woken one then queues again.
 *
 * <pre>
 * invariant: the turn is taken, or nobody queues, or one who was woken (promoted) is on its way
 * </pre>
 */
final class ReadTurn {
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private boolean taken;

    @GuardedBy("lock")
    private @Nullable Waiter first;

    @GuardedBy("lock")
    private @Nullable Waiter last;

    /** Takes the turn, or queues for it. */
    boolean takeOrQueue(Waiter waiter) {
        lock.lock();
        try {
            if (!taken) {
                taken = true;
                unlink(waiter);
                waiter.promoted = false;
                return true;
            }
            waiter.promoted = false;
            link(waiter);
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the turn if it is free. */
    boolean tryTake() {
        lock.lock();
        try {
            boolean free = !taken;
            taken = true;
            return free;
        } finally {
            lock.unlock();
        }
    }

    /** Gives the turn back. Only by the thread that has it. */
    void pass() {
        lock.lock();
        try {
            taken = false;
            promoteOne();
        } finally {
            lock.unlock();
        }
    }

    /** Stops queueing. */
    void leave(Waiter waiter) {
        lock.lock();
        try {
            unlink(waiter);
            if (waiter.promoted) {
                waiter.promoted = false;
                if (!taken) {
                    promoteOne();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Wakes the first who still waits for something. */
    @GuardedBy("lock")
    private void promoteOne() {
        for (Waiter waiter = first; waiter != null; waiter = waiter.next) {
            if (!waiter.isDone()) {
                unlink(waiter);
                waiter.promoted = true;
                waiter.wake();
                return;
            }
        }
    }

    @GuardedBy("lock")
    private void link(Waiter waiter) {
        if (waiter.queued) {
            return;
        }
        waiter.queued = true;
        waiter.next = null;
        waiter.previous = last;
        if (last == null) {
            first = waiter;
        } else {
            last.next = waiter;
        }
        last = waiter;
    }

    @GuardedBy("lock")
    private void unlink(Waiter waiter) {
        if (!waiter.queued) {
            return;
        }
        waiter.queued = false;
        if (waiter.previous == null) {
            first = waiter.next;
        } else {
            waiter.previous.next = waiter.next;
        }
        if (waiter.next == null) {
            last = waiter.previous;
        } else {
            waiter.next.previous = waiter.previous;
        }
        waiter.previous = null;
        waiter.next = null;
    }
}
