package io.cassia.datadist.link;

import io.micrometer.core.instrument.Counter;
import java.lang.System.Logger.Level;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Calls the user's listeners on one thread, in order. Guarded. What listeners do cannot hold up
 * links or transfers; when they are too slow, calls are dropped and counted.
 */
public final class Announcer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Announcer.class.getName());
    private static final int MAX_WAITING = 4096;

    private final Counter dropped;
    private final ThreadPoolExecutor thread;

    public Announcer(Counter dropped) {
        this.dropped = dropped;
        this.thread =
                new ThreadPoolExecutor(
                        1,
                        1,
                        30,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(MAX_WAITING),
                        Thread.ofPlatform().daemon().name("datadist-listeners").factory());
        thread.allowCoreThreadTimeOut(true);
    }

    /** Calls soon; a listener that throws does not disturb the others. */
    public void call(Runnable listener) {
        try {
            thread.execute(() -> run(listener));
        } catch (RejectedExecutionException e) {
            dropped.increment();
        }
    }

    private static void run(Runnable listener) {
        try {
            listener.run();
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "listener failed", e);
        }
    }

    /** Lets the calls that wait be made, and takes no more. */
    @Override
    public void close() {
        thread.shutdown();
    }
}
