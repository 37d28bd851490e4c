package io.cassia.master;

import io.cassia.base.Closing;
import io.cassia.master.http.AdminQueries;
import java.time.Duration;

/**
 * Logs the pool's figures now and then, as upstream does (its enable_metric_reporting). Guarded.
 */
final class PoolReport implements AutoCloseable {
    static final Duration PERIOD = Duration.ofSeconds(10);

    private static final System.Logger LOG = System.getLogger(PoolReport.class.getName());

    private final AdminQueries queries;
    private final Closing closing = new Closing();
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
        while (!closing.pause(PERIOD)) {
            String now = queries.summary();
            // An idle master need not fill the log with one line.
            if (!now.equals(last)) {
                LOG.log(System.Logger.Level.INFO, "pool {0}", now);
                last = now;
            }
        }
    }

    @Override
    public void close() {
        closing.begin();
    }
}
