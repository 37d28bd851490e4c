package io.cassia.master;

import io.cassia.master.http.AdminQueries;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Logs the pool's figures now and then, as upstream does (its enable_metric_reporting). Guarded.
 */
final class PoolReport implements AutoCloseable {
    static final Duration PERIOD = Duration.ofSeconds(10);

    private static final System.Logger LOG = System.getLogger(PoolReport.class.getName());

    private final AdminQueries queries;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;

    PoolReport(AdminQueries queries) {
        this.queries = queries;
        this.thread = Thread.ofVirtual().name("cassia-master-report").unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    private void run() {
        String last = "";
        while (!pause()) {
            String now = queries.summary();
            // An idle master need not fill the log with one line.
            if (!now.equals(last)) {
                LOG.log(System.Logger.Level.INFO, "pool {0}", now);
                last = now;
            }
        }
    }

    /** Waits; true once this closes. */
    private boolean pause() {
        try {
            return closing.await(PERIOD.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    @Override
    public void close() {
        closing.countDown();
    }
}
