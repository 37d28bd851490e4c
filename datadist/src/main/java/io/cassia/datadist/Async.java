package io.cassia.datadist;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Runs calls on threads of their own. Guarded. So many at once; others wait in a queue, and beyond
 * that the caller's thread does the work.
 */
final class Async implements AutoCloseable {
    private static final int THREADS = 16;
    private static final int WAITING = 4096;

    private final ThreadPoolExecutor pool;

    Async() {
        pool =
                new ThreadPoolExecutor(
                        THREADS,
                        THREADS,
                        30,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(WAITING),
                        Thread.ofPlatform().daemon().name("datadist-async-", 0).factory(),
                        (call, busy) -> call.run());
        pool.allowCoreThreadTimeOut(true);
    }

    <T> CompletableFuture<T> start(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, pool);
    }

    /** Lets what waits in the queue run; what comes later runs on its caller's thread. */
    @Override
    public void close() {
        pool.shutdown();
    }
}
