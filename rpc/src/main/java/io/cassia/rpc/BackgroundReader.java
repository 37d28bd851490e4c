package io.cassia.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.rpc.ClientMetrics.Event;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Reads for those who do not wait: ends asynchronous calls in time, completes their futures, sends
 * what is held back, and goes on writing when the socket was full. Guarded by its lock and
 * concurrent collections; its thread starts with the first need and ends with the connection.
 */
final class BackgroundReader {
    /** How long it reads at most when no deadline is near. */
    private static final long LONGEST_READ_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** How long a request that is held back waits for another one to go with. */
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** After so many in which nothing was held back the thread sleeps until it is woken up. */
    private static final int QUIET_TICKS = 100;

    private final ClientConnection connection;
    private final String name;
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicInteger unfinished = new AtomicInteger();
    private final ConcurrentLinkedQueue<AsyncCall<?>> ended = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Thread thread;
    private volatile boolean reading;
    private volatile boolean closed;

    /** A request is held back, or was sent with another one since. */
    private volatile boolean heldBack;

    /** The thread looks at {@link #heldBack} at every tick. */
    private volatile boolean ticking;

    // Of the thread alone.
    private int quietTicks;

    @GuardedBy("lock")
    private boolean hasDeadline;

    /** Not later than the earliest deadline of a call in flight. */
    @GuardedBy("lock")
    private long deadlineNanos;

    BackgroundReader(ClientConnection connection, String name) {
        this.connection = connection;
        this.name = name;
    }

    /** An asynchronous call is about to be sent. */
    void begin() {
        if (unfinished.getAndIncrement() == 0) {
            wake();
        }
    }

    /** It was not sent after all. */
    void cancel() {
        unfinished.decrementAndGet();
    }

    /** It was sent, and must end by then. */
    void watch(long deadline) {
        lock.lock();
        try {
            if (hasDeadline && deadline - deadlineNanos >= 0) {
                return;
            }
            hasDeadline = true;
            deadlineNanos = deadline;
        } finally {
            lock.unlock();
        }
        wake();
        if (reading) {
            connection.wakeReader();
        }
    }

    /** A request that nobody waits for is held back: it leaves with the next one or by the tick. */
    void sendSoon(long deadline) {
        heldBack = true;
        lock.lock();
        try {
            if (!hasDeadline) {
                hasDeadline = true;
                deadlineNanos = deadline;
            }
        } finally {
            lock.unlock();
        }
        if (!ticking) {
            wake();
            if (reading) {
                connection.wakeReader();
            }
        }
    }

    /** The call has its outcome; its future is completed by the background thread. */
    void ended(AsyncCall<?> call) {
        ended.add(call);
        if (closed) {
            // The thread may be gone already.
            completeEnded();
        } else {
            wake();
        }
    }

    /** Sees to it that the thread runs and looks for something to do. */
    void wake() {
        Thread running = thread;
        if (running == null) {
            running = startThread();
        }
        if (running != Thread.currentThread()) {
            LockSupport.unpark(running);
        }
    }

    boolean isCurrentThread() {
        return Thread.currentThread() == thread;
    }

    private Thread startThread() {
        lock.lock();
        try {
            Thread running = thread;
            if (running == null) {
                running = Thread.ofPlatform().daemon().name(name).start(this::run);
                thread = running;
            }
            return running;
        } finally {
            lock.unlock();
        }
    }

    /** The connection is lost and its calls have ended. */
    void close() {
        closed = true;
        Thread running = thread;
        if (running != null) {
            LockSupport.unpark(running);
        }
    }

    private void run() {
        Waiter waiter = new Waiter(Thread.currentThread());
        while (true) {
            // Looked at before the queue: what ended before the close must not stay in it.
            boolean last = closed;
            completeEnded();
            if (last) {
                return;
            }
            boolean ticks = tick();
            if (hasWork()) {
                readOrWait(waiter, ticks ? TICK_NANOS : LONGEST_READ_NANOS);
            } else {
                // A waiter that does not come when it is promoted would block those behind it.
                connection.leaveTurn(waiter);
                if (ticks) {
                    tickIdle();
                } else if (isQuiet() && !hasWork() && !heldBack) {
                    LockSupport.park(this);
                }
            }
        }
    }

    /** Sends what was held back since the last tick; whether there shall be another tick. */
    private boolean tick() {
        if (heldBack) {
            quietTicks = 0;
            if (ticking) {
                heldBack = false;
                connection.flush();
            } else {
                ticking = true;
            }
        } else if (ticking && ++quietTicks > QUIET_TICKS) {
            ticking = false;
        }
        // Whoever held back before it was false has not woken the thread up.
        return ticking || heldBack;
    }

    /** Waits for the next tick and handles answers that nobody waits for. */
    private void tickIdle() {
        if (isQuiet()) {
            LockSupport.parkNanos(this, TICK_NANOS);
        }
        connection.readIdle();
        long _ = expire();
    }

    private boolean hasWork() {
        return unfinished.get() > 0 || connection.isStuck();
    }

    private void readOrWait(Waiter waiter, long longestNanos) {
        // Set before the deadline is looked at: an earlier one then interrupts the read.
        reading = true;
        long nanos = Math.min(expire(), longestNanos);
        if (nanos > 0 && isQuiet() && !connection.readInTurn(waiter, nanos) && isQuiet()) {
            LockSupport.parkNanos(this, nanos);
        }
        reading = false;
    }

    /**
     * Whether nothing came up since the queue was emptied. Asked right before each park, because
     * locks and foreign code in between swallow wake-ups.
     */
    private boolean isQuiet() {
        return ended.isEmpty() && !closed;
    }

    private void completeEnded() {
        AsyncCall<?> call = ended.poll();
        while (call != null) {
            unfinished.decrementAndGet();
            call.complete();
            call = ended.poll();
        }
    }

    /** Ends calls whose time is over; nanoseconds until the next one's is, at most. */
    private long expire() {
        long now = connection.clock().nanos();
        lock.lock();
        try {
            if (!hasDeadline) {
                return LONGEST_READ_NANOS;
            }
            if (deadlineNanos - now > 0) {
                return Math.min(deadlineNanos - now, LONGEST_READ_NANOS);
            }
            hasDeadline = false;
        } finally {
            lock.unlock();
        }
        connection
                .calls()
                .forEach(
                        call -> {
                            if (call instanceof AsyncCall<?> || call instanceof SilentCall<?>) {
                                expireOrWatch(call, now);
                            }
                        });
        return 0;
    }

    private void expireOrWatch(ClientCall<?> call, long now) {
        if (call.deadlineNanos() - now <= 0) {
            connection.expire(call, Event.TIMED_OUT);
        } else {
            watch(call.deadlineNanos());
        }
    }
}
