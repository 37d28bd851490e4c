package io.cassia.store;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Threads that compute checksums beside their caller, so that large objects cost less time.
 * Guarded. Work that none of them has begun when its result is needed is done by who needs it.
 */
final class SumWorkers implements AutoCloseable {
    /** Waking a thread costs as much as the sums of some hundred KiB. */
    static final long WORTH_BYTES = 512 << 10;

    private static final int THREADS = 2;
    private static final int QUEUED = 1024;

    private final ThreadPoolExecutor threads =
            new ThreadPoolExecutor(
                    THREADS,
                    THREADS,
                    10,
                    TimeUnit.SECONDS,
                    new ArrayBlockingQueue<>(QUEUED),
                    Thread.ofPlatform().daemon().name("cassia-sums-", 0).factory());

    /** Asked whether memory is shared between threads; never started. */
    private final Thread somebodyElse = Thread.ofVirtual().unstarted(() -> {});

    SumWorkers() {
        threads.allowCoreThreadTimeOut(true);
    }

    /** Whether other threads may look at all of it, and it is worth their while. */
    boolean isWorth(List<MemorySegment> parts, long bytes) {
        if (bytes < WORTH_BYTES) {
            return false;
        }
        for (MemorySegment part : parts) {
            if (!part.isAccessibleBy(somebodyElse)) {
                return false;
            }
        }
        return true;
    }

    /** Begins work, now or when its result is taken. */
    <T> Sum<T> begin(Callable<T> work) {
        Sum<T> task = new Sum<>(work);
        try {
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            // All are busy: whoever takes the result does the work.
            return task;
        }
        return task;
    }

    /** A sum that a worker may have begun. Confined to the call that it is for. */
    static final class Sum<T> extends FutureTask<T> {
        private final AtomicBoolean begun = new AtomicBoolean();

        Sum(Callable<T> work) {
            super(work);
        }

        @Override
        public void run() {
            if (begun.compareAndSet(false, true)) {
                super.run();
            }
        }

        /** Whether nobody has begun it; nobody will then. */
        boolean drop() {
            return begun.compareAndSet(false, true) && cancel(false);
        }
    }

    /** Waits until no worker is at it; what none has begun is dropped. */
    static void await(Sum<?> sum) {
        if (!sum.isDone() && !sum.drop()) {
            Object _ = take(sum);
        }
    }

    /** The result; an interrupt is kept for later. */
    static <T> T take(Sum<T> task) {
        task.run();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw new IllegalStateException(e.getCause());
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
        threads.shutdown();
    }
}
