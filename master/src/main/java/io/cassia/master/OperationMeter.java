package io.cassia.master;

import io.cassia.status.Outcome;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;

/**
 * Thread-safe. Counts requests of one kind by upstream's metric names (spec mooncake-store 12.4).
 */
final class OperationMeter {
    private final LongAdder requests = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder partial = new LongAdder();
    private final LongAdder items = new LongAdder();
    private final LongAdder failedItems = new LongAdder();

    private OperationMeter() {}

    /** {@code master_<operation>_requests_total} and {@code _failures_total}. */
    static OperationMeter single(MeterRegistry meters, String operation) {
        OperationMeter meter = new OperationMeter();
        String prefix = "master_" + operation;
        register(meters, prefix + "_requests_total", "Requests", meter.requests);
        register(meters, prefix + "_failures_total", "Requests that failed", meter.failures);
        return meter;
    }

    /** As {@link #single}, and items, failed items and partial successes. */
    static OperationMeter batch(MeterRegistry meters, String operation) {
        OperationMeter meter = single(meters, "batch_" + operation);
        String prefix = "master_batch_" + operation;
        register(
                meters,
                prefix + "_partial_successes_total",
                "Requests of which some items failed",
                meter.partial);
        register(meters, prefix + "_items_total", "Items", meter.items);
        register(meters, prefix + "_failed_items_total", "Items that failed", meter.failedItems);
        return meter;
    }

    private static void register(
            MeterRegistry meters, String name, String description, LongAdder count) {
        FunctionCounter.builder(name, count, LongAdder::sum)
                .description(description)
                .register(meters);
    }

    /** Counts a request by its outcome, which it hands through. */
    <T> Outcome<T> count(Outcome<T> outcome) {
        requests.increment();
        if (!outcome.isOk()) {
            failures.increment();
        }
        return outcome;
    }

    /** Counts a batch by its items' outcomes; it has failed when all of them have. */
    <T> List<Outcome<T>> count(List<Outcome<T>> outcomes) {
        int failed = 0;
        for (Outcome<T> outcome : outcomes) {
            failed += outcome.isOk() ? 0 : 1;
        }
        count(outcomes.size(), failed);
        return outcomes;
    }

    /**
     * Counts a batch that names only the items with success, which it hands through.
     *
     * @param done how many items the value names
     */
    <T> Outcome<T> count(int asked, Outcome<T> outcome, ToIntFunction<T> done) {
        count(
                asked,
                switch (outcome) {
                    case Outcome.Ok<T>(T value) -> asked - done.applyAsInt(value);
                    case Outcome.Failed<T> _ -> asked;
                });
        return outcome;
    }

    private void count(int asked, int failed) {
        requests.increment();
        items.add(asked);
        failedItems.add(failed);
        if (failed > 0 && failed == asked) {
            failures.increment();
        } else if (failed > 0) {
            partial.increment();
        }
    }
}
