package io.cassia.base;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Runs each task on a virtual thread of its own, and interrupts it when its time is over.
 * Thread-safe.
 *
 * <p>Made for the JDK's HTTP server, whose streams wait for ever: the interrupt closes the
 * connection that the task waits for. The server's own limits are those of all servers of a
 * process, and would cut off long uploads to another one.
 */
public final class LimitedThreads implements Executor, AutoCloseable {
    private static final Duration LONGEST_LOOK = Duration.ofSeconds(1);

    private final Clock clock;
    private final Duration limit;
    private final ExecutorService threads;
    private final ScheduledExecutorService looks;
    private final Map<Thread, Deadline> running = new ConcurrentHashMap<>();

    /**
     * Threads that are all alike.
     *
     * @param name of the threads
     * @param limit for a task that does not {@link #allow} itself another one
     */
    public LimitedThreads(String name, Clock clock, Duration limit) {
        this.clock = clock;
        this.limit = limit;
        this.threads =
                Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name(name, 0).factory());
        this.looks =
                Executors.newSingleThreadScheduledExecutor(
                        Thread.ofPlatform().daemon().name(name + "limit").factory());
        Duration tenth = limit.dividedBy(10);
        long look = (tenth.compareTo(LONGEST_LOOK) < 0 ? tenth : LONGEST_LOOK).toMillis();
        // A look cannot fail: it only compares times and interrupts.
        var _ = looks.scheduleWithFixedDelay(this::look, look, look, TimeUnit.MILLISECONDS);
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(
                () -> {
                    allow(limit);
                    try {
                        task.run();
                    } finally {
                        running.remove(Thread.currentThread());
                    }
                });
    }

    /** The calling task may take so long from now on. */
    public void allow(Duration time) {
        running.put(Thread.currentThread(), Deadline.after(clock, time));
    }

    private void look() {
        running.forEach(
                (thread, deadline) -> {
                    if (deadline.hasPassed() && running.remove(thread, deadline)) {
                        thread.interrupt();
                    }
                });
    }

    /** Takes no more tasks; interrupts those that have not ended within the patience. */
    public void close(Duration patience) {
        threads.shutdown();
        try {
            if (!threads.awaitTermination(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                threads.shutdownNow();
            }
        } catch (InterruptedException e) {
            threads.shutdownNow();
            Thread.currentThread().interrupt();
        }
        looks.shutdownNow();
    }

    /** Takes no more tasks and interrupts all. */
    @Override
    public void close() {
        threads.shutdownNow();
        looks.shutdownNow();
    }
}
