package io.cassia.transfer;

import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that carry runs in the background. Guarded.
 *
 * <p>A task never waits for another one to end: a peer that hangs must not take the threads of the
 * others. So there is no queue; beyond the platform threads, which are faster, come virtual ones.
 */
final class Runners implements Executor, AutoCloseable {
    private static final int PLATFORM_THREADS = 64;
    private static final int KEEP_SECONDS = 30;

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

    @Override
    public void execute(Runnable task) {
        platform.execute(task);
    }

    /** Lets the threads end when their tasks have. */
    @Override
    public void close() {
        platform.shutdown();
    }
}
