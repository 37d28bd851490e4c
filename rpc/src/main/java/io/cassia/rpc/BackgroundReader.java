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
 * Reads for those who do not wait: ends asynchronous calls in time, completes their futures, and
 * goes on writing when the socket was full. Guarded by its lock and concurrent collections; its
 * thread starts with the first need and ends with the connection.
 */
final class BackgroundReader {
    /** How long it reads at most when no deadline is near. */
    private static final long LONGEST_READ_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ClientConnection connection;
    private final String name;
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicInteger unfinished = new AtomicInteger();
    private final ConcurrentLinkedQueue<AsyncCall<?>> ended = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Thread thread;
    private volatile boolean reading;
    private volatile boolean closed;

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
            if (hasWork()) {
                readOrWait(waiter);
            } else {
                // A waiter that does not come when it is promoted would block those behind it.
                connection.leaveTurn(waiter);
                if (isQuiet() && !hasWork()) {
                    LockSupport.park(this);
                }
            }
        }
    }

    private boolean hasWork() {
        return unfinished.get() > 0 || connection.isStuck();
    }

    private void readOrWait(Waiter waiter) {
        // Set before the deadline is looked at: an earlier one then interrupts the read.
        reading = true;
        long nanos = expire();
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
                            if (call instanceof AsyncCall<?>) {
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
