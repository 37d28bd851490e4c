package io.cassia.master;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Thread-safe. What is counted of writes, by whichever methods they come, so that starts and ends
 * can be compared.
 *
 * @param sizes of the objects that puts start
 */
record PutMeters(
        OperationMeter batchStart,
        OperationMeter batchEnd,
        OperationMeter batchUpsertStart,
        OperationMeter batchUpsertEnd,
        DistributionSummary sizes) {
    /** Bounds in the histogram of values' sizes. */
    private static final double[] SIZE_BUCKETS = {
        1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20,
        256 << 20, 1L << 30
    };

    static PutMeters of(MeterRegistry meters) {
        return new PutMeters(
                OperationMeter.batch(meters, "put_start"),
                OperationMeter.batch(meters, "put_end"),
                OperationMeter.batch(meters, "upsert_start"),
                OperationMeter.batch(meters, "upsert_end"),
                DistributionSummary.builder("master_value_size_bytes")
                        .serviceLevelObjectives(SIZE_BUCKETS)
                        .description("Sizes of objects put")
                        .register(meters));
    }
}
