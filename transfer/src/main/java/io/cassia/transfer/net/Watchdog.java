package io.cassia.transfer.net;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.Clock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends blocking I/O whose deadline is over, by closing its connection from a thread of its own.
 * Guarded.
 *
 * <p>Blocking sockets have no timeout for reads into memory segments, and asking the kernel before
 * each call would double the system calls. So each connection has a {@link Watch}; arming it costs
 * two volatile accesses, and the watchdog looks at all watches only when the nearest deadline is
 * due.
 *
 * <p>It must neither miss a deadline nor be woken by each of a hundred thousand operations per
 * second. {@code wakeAtNanos} is when it will look next; who arms a nearer deadline wakes it. While
 * operations come and go it looks once per {@link #TICK}, so that it need not be woken for each;
 * without any it sleeps until the nearest deadline, or until it is woken. During a look {@code
 * wakeAtNanos} is far in the future, so that whoever arms meanwhile wakes it for another look.
 */
public final class Watchdog implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Watchdog.class.getName());
    private static final Duration TICK = Duration.ofMillis(50);
    private static final long FAR_NANOS = Duration.ofDays(365).toNanos();

    private final Clock clock;
    private final Set<Watch> watches = ConcurrentHashMap.newKeySet();
    private final Thread thread;
    private volatile boolean active;
    private volatile long wakeAtNanos;
    private volatile boolean closed;

    public Watchdog(Clock clock, String name) {
        this.clock = clock;
        this.wakeAtNanos = clock.nanos() + FAR_NANOS;
        this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
        thread.start();
    }

    /**
     * Watches over one connection until it is forgotten.
     *
     * @param expire closes the connection; called on the watchdog's thread, must not block
     */
    public Watch watch(Runnable expire) {
        Watch watch = new Watch(this, expire);
        watches.add(watch);
        return watch;
    }

    private void run() {
        while (!closed) {
            long now = clock.nanos();
            wakeAtNanos = now + FAR_NANOS;
            boolean busy = active;
            active = false;
            long next = busy ? now + TICK.toNanos() : now + FAR_NANOS;
            for (Watch watch : watches) {
                next = watch.look(now, next);
            }
            wakeAtNanos = next;
            // Armed during the look; the wake-up may have been used up by a lock inside expire.
            long soon = now + TICK.toNanos();
            long until = active && soon - next < 0 ? soon : next;
            LockSupport.parkNanos(this, until - clock.nanos());
        }
        watches.forEach(Watch::expireNow);
    }

    private void armed(long deadlineNanos) {
        if (!active) {
            active = true;
        }
        if (deadlineNanos - wakeAtNanos < 0) {
            LockSupport.unpark(thread);
        }
        if (closed) {
            watches.forEach(Watch::expireNow);
        }
    }

    /** Ends what is under a deadline now, and what comes to be so later. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    /**
     * The deadline of one connection. Guarded: armed and disarmed by the thread that does the I/O,
     * looked at by the watchdog.
     *
     * <pre>
     *   disarmed ── arm ──► armed ── disarm ──► disarmed
     *                         └── deadline over ──► EXPIRED, connection closed, for good
     * </pre>
     */
    public static final class Watch implements AutoCloseable {
        private static final long DISARMED = Long.MAX_VALUE;
        private static final long EXPIRED = Long.MIN_VALUE;
        private static final VarHandle DEADLINE;

        static {
            try {
                DEADLINE =
                        MethodHandles.lookup()
                                .findVarHandle(Watch.class, "deadlineNanos", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final Watchdog owner;
        private final Runnable expire;
        private volatile long deadlineNanos = DISARMED;

        private Watch(Watchdog owner, Runnable expire) {
            this.owner = owner;
            this.expire = expire;
        }

        /** Sets or moves the deadline; without effect once expired. */
        public void arm(long nanos) {
            long before = deadlineNanos;
            if (before != EXPIRED && DEADLINE.compareAndSet(this, before, nanos)) {
                owner.armed(nanos);
            }
        }

        /** Takes the deadline away; false when it was over, and the connection is closed. */
        @CanIgnoreReturnValue
        public boolean disarm() {
            long before = deadlineNanos;
            return before != EXPIRED && DEADLINE.compareAndSet(this, before, DISARMED);
        }

        public boolean isExpired() {
            return deadlineNanos == EXPIRED;
        }

        /** Expires when due; otherwise the nearer of its deadline and {@code next}. */
        private long look(long now, long next) {
            long at = deadlineNanos;
            if (at == DISARMED || at == EXPIRED) {
                return next;
            }
            if (at - now > 0) {
                return at - next < 0 ? at : next;
            }
            // Lost when the owner has just disarmed or moved it: then it is not over.
            if (DEADLINE.compareAndSet(this, at, EXPIRED)) {
                end();
            }
            return next;
        }

        /** What goes wrong with one connection must not leave all others without deadlines. */
        private void end() {
            try {
                expire.run();
            } catch (RuntimeException | OutOfMemoryError e) {
                LOG.log(System.Logger.Level.ERROR, "deadline-not-enforced", e);
            }
        }

        private void expireNow() {
            long at = deadlineNanos;
            if (at != DISARMED && at != EXPIRED && DEADLINE.compareAndSet(this, at, EXPIRED)) {
                end();
            }
        }

        /** Watches no more. */
        @Override
        public void close() {
            owner.watches.remove(this);
        }
    }
}
