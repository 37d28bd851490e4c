package io.cassia.gateways.rest;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Ends requests whose client is too slow: it may pause for the configured patience, and on average
 * must move {@link #MIN_BYTES_PER_SECOND}. Whoever sends a byte now and then would hold memory for
 * ever otherwise. Guarded by the lock of each call.
 *
 * <p>The server's streams have no time-outs; interrupting the thread that waits closes its
 * connection, which ends the read or write.
 */
final class SlowClients implements AutoCloseable {
    static final long MIN_BYTES_PER_SECOND = 16 << 10;

    private static final Duration LOOK = Duration.ofMillis(100);

    private final Clock clock;
    private final long patienceNanos;
    private final Runnable onCut;
    private final Set<Call> calls = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService looks =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("cassia-rest-slow").factory());

    /**
     * @param onCut told of each request that is ended
     */
    SlowClients(Clock clock, Duration patience, Runnable onCut) {
        this.clock = clock;
        this.patienceNanos = patience.toNanos();
        this.onCut = onCut;
        // A look cannot fail: it only compares numbers and interrupts.
        var _ =
                looks.scheduleWithFixedDelay(
                        this::look, LOOK.toNanos(), LOOK.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The calling thread's request; it waits for its client from the start, for the header. */
    Call enter() {
        Call call = new Call(Thread.currentThread());
        call.awaitClient();
        calls.add(call);
        return call;
    }

    void leave(Call call) {
        call.goOn();
        calls.remove(call);
    }

    private void look() {
        long now = clock.nanos();
        for (Call call : calls) {
            if (call.cutIfLate(now)) {
                onCut.run();
            }
        }
    }

    /** A request on its way. Guarded. */
    final class Call {
        private final Thread thread;
        private final ReentrantLock lock = new ReentrantLock();

        @GuardedBy("lock")
        private boolean waiting;

        @GuardedBy("lock")
        private boolean cut;

        @GuardedBy("lock")
        private long beganNanos;

        @GuardedBy("lock")
        private long lastNanos;

        @GuardedBy("lock")
        private long bytes;

        private Call(Thread thread) {
            this.thread = thread;
        }

        /** From here on the thread waits for its client and may be interrupted. */
        void awaitClient() {
            lock.lock();
            try {
                waiting = true;
                beganNanos = clock.nanos();
                lastNanos = beganNanos;
                bytes = 0;
            } finally {
                lock.unlock();
            }
        }

        /** The client has sent or taken bytes. */
        void moved(long more) {
            lock.lock();
            try {
                lastNanos = clock.nanos();
                bytes += more;
            } finally {
                lock.unlock();
            }
        }

        /** From here on the thread does something else; an interrupt that came late is taken. */
        void goOn() {
            lock.lock();
            try {
                waiting = false;
                if (cut) {
                    var _ = Thread.interrupted();
                }
            } finally {
                lock.unlock();
            }
        }

        private boolean cutIfLate(long now) {
            lock.lock();
            try {
                long allowed = patienceNanos + bytes * 1_000_000_000L / MIN_BYTES_PER_SECOND;
                boolean late = now - lastNanos > patienceNanos || now - beganNanos > allowed;
                if (!waiting || cut || !late) {
                    return false;
                }
                cut = true;
                thread.interrupt();
                return true;
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public void close() {
        looks.shutdownNow();
    }
}
