package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that carry runs in the background. Guarded.
 *
 * <p>A task never waits for another one to end: a peer that hangs must not take the threads of the
 * others. So there is no queue; beyond the platform threads, which are faster, come virtual ones.
 */
final class Runners implements Executor, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Runners.class.getName());
    private static final int PLATFORM_THREADS = 64;
    private static final int KEEP_SECONDS = 30;
    private static final Duration CLOSE = Duration.ofSeconds(30);

    private final ThreadFactory virtual = Thread.ofVirtual().name("cassia-run-v-", 0).factory();
    private final ThreadPoolExecutor platform =
            new ThreadPoolExecutor(
                    0,
                    PLATFORM_THREADS,
                    KEEP_SECONDS,
                    TimeUnit.SECONDS,
                    new SynchronousQueue<>(),
                    Thread.ofPlatform().daemon().name("cassia-run-", 0).factory(),
                    (task, pool) -> virtual.newThread(task).start());
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();

    @GuardedBy("lock")
    private int running;

    @Override
    public void execute(Runnable task) {
        lock.lock();
        try {
            running++;
        } finally {
            lock.unlock();
        }
        platform.execute(() -> run(task));
    }

    private void run(Runnable task) {
        try {
            task.run();
        } finally {
            lock.lock();
            try {
                running--;
                if (running == 0) {
                    idle.signalAll();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Waits for the tasks, which the caller has made sure will end, and lets the threads go. */
    @Override
    public void close() {
        platform.shutdown();
        lock.lock();
        try {
            long left = CLOSE.toNanos();
            while (running > 0 && left > 0) {
                left = idle.awaitNanos(left);
            }
            if (running > 0) {
                LOG.log(System.Logger.Level.WARNING, "transfers-still-running tasks={0}", running);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }
}
