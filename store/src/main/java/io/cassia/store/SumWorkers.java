package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.base.Spin;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Threads that take a part of their caller's work, so that checksums cost it no time. Guarded. Work
 * that none of them has begun when the caller is through is dropped, so nobody waits for a thread
 * to wake up; and one that was helpful stays awake for a moment, since the next call may follow.
 */
final class SumWorkers implements AutoCloseable {
    /** Waking a thread costs as much as the copy and the sums of some hundred KiB. */
    static final long WORTH_BYTES = 512 << 10;

    private static final int MOST_THREADS = 4;

    /** Calls without help after help that came too late, at most. */
    private static final int LONGEST_PAUSE = 16;

    /** With so many bytes there is time for any thread to wake up. */
    private static final long MANY_BYTES = 4 << 20;

    private final int helpers;
    private final Clock clock;
    private final AwakeQueue queue;
    private final @Nullable ThreadPoolExecutor threads;

    /** Calls that do without help from now on. */
    private final AtomicInteger skip = new AtomicInteger();

    /** The last such number; 0 once help was in time. */
    private final AtomicInteger pause = new AtomicInteger();

    /** Asked whether memory is shared between threads; never started. */
    private final Thread somebodyElse = Thread.ofVirtual().unstarted(() -> {});

    SumWorkers(Clock clock) {
        this(clock, Math.clamp(Runtime.getRuntime().availableProcessors() - 1, 0, MOST_THREADS));
    }

    /**
     * Workers.
     *
     * @param helpers threads at most; the callers do all by themselves when there is none
     */
    SumWorkers(Clock clock, int helpers) {
        this.helpers = helpers;
        this.clock = clock;
        this.queue = new AwakeQueue(clock);
        this.threads = helpers == 0 ? null : pool();
    }

    private ThreadPoolExecutor pool() {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(
                        helpers,
                        helpers,
                        10,
                        TimeUnit.SECONDS,
                        queue,
                        Thread.ofPlatform().daemon().name("cassia-sums-", 0).factory());
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Whoever waits for work looks for it a while before going to sleep. */
    private static final class AwakeQueue extends LinkedTransferQueue<Runnable> {
        private static final long serialVersionUID = 1L;

        private final transient ThreadLocal<Spin> spins;

        AwakeQueue(Clock clock) {
            this.spins = ThreadLocal.withInitial(() -> Spin.patient(clock));
        }

        @Override
        public @Nullable Runnable poll(long time, TimeUnit unit) throws InterruptedException {
            boolean _ = spins.get().sees(() -> !isEmpty());
            return super.poll(time, unit);
        }
    }

    /** How much help a piece of work can do with. */
    enum Worth {
        /** None: it is too little, or of the caller's thread alone. */
        NOTHING,
        /** As far as somebody will be in time. */
        SOME,
        /** Always. */
        MUCH
    }

    /** Whether other threads may look at all of it, and it is worth their while. */
    Worth worth(List<MemorySegment> parts, long bytes) {
        if (bytes < WORTH_BYTES || threads == null) {
            return Worth.NOTHING;
        }
        for (MemorySegment part : parts) {
            if (!part.isAccessibleBy(somebodyElse)) {
                return Worth.NOTHING;
            }
        }
        return bytes < MANY_BYTES ? Worth.SOME : Worth.MUCH;
    }

    /**
     * Does each of some units of work once, on this thread and perhaps on another one; on return
     * none is under way. What a unit throws ends the call, and units that nobody has begun are left
     * out then.
     */
    void share(int units, Worth worth, IntConsumer work) {
        AtomicInteger next = new AtomicInteger();
        Runnable turns =
                () -> {
                    boolean through = false;
                    try {
                        for (int unit = next.getAndIncrement();
                                unit < units;
                                unit = next.getAndIncrement()) {
                            work.accept(unit);
                        }
                        through = true;
                    } finally {
                        if (!through) {
                            next.set(units);
                        }
                    }
                };
        Help help = mayHelp(worth) ? begin(turns) : null;
        if (help == null) {
            turns.run();
            return;
        }
        try {
            turns.run();
        } catch (RuntimeException | Error e) {
            Throwable other = end(help);
            if (other != null) {
                e.addSuppressed(other);
            }
            throw e;
        }
        Throwable other = end(help);
        if (other != null) {
            throw new IllegalStateException("a sum worker failed", other);
        }
    }

    /** Whether somebody is free, and will be in time by what was seen of late. */
    private boolean mayHelp(Worth worth) {
        return worth != Worth.NOTHING
                && queue.isEmpty()
                && (worth == Worth.MUCH || skip.get() <= 0 || skip.getAndDecrement() <= 0);
    }

    private @Nullable Help begin(Runnable turns) {
        ThreadPoolExecutor pool = threads;
        if (pool == null) {
            return null;
        }
        Help help = new Help(turns);
        try {
            pool.execute(help);
        } catch (RejectedExecutionException e) {
            // The client is being closed: the caller does it alone.
            return null;
        }
        return help;
    }

    /** Work that somebody may have begun. */
    private static final class Help extends FutureTask<Void> {
        private final AtomicBoolean begun = new AtomicBoolean();

        Help(Runnable turns) {
            super(turns, null);
        }

        @Override
        public void run() {
            if (begun.compareAndSet(false, true)) {
                super.run();
            }
        }

        /** Whether nobody has begun it; nobody will then. */
        boolean drop() {
            return begun.compareAndSet(false, true);
        }
    }

    /** Waits until no worker is at it; what it threw, or null. An interrupt is kept for later. */
    private @Nullable Throwable end(Help help) {
        if (help.drop()) {
            int longer = Math.min(LONGEST_PAUSE, 2 * pause.get() + 1);
            pause.set(longer);
            skip.set(longer);
            return null;
        }
        pause.set(0);
        boolean _ = Spin.patient(clock).sees(help::isDone);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    Void _ = help.get();
                    return null;
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    return e.getCause();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() {
        if (threads != null) {
            threads.shutdown();
        }
    }
}
