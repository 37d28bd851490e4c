package io.cassia.datadist;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A thread that does small chores again and again until it is closed. Guarded. */
final class Ticker implements AutoCloseable {
    /** How late a chore may be done: a deadline that a peer has let pass is noticed within this. */
    static final Duration PERIOD = Duration.ofMillis(50);

    private static final System.Logger LOG = System.getLogger(Ticker.class.getName());

    private final Runnable chores;
    private final Thread thread;
    private volatile boolean closed;

    Ticker(String name, Runnable chores) {
        this.chores = chores;
        this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    private void run() {
        while (!closed) {
            LockSupport.parkNanos(this, PERIOD.toNanos());
            try {
                chores.run();
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "ticker-chore failed", e);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        try {
            thread.join(Duration.ofSeconds(2));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
