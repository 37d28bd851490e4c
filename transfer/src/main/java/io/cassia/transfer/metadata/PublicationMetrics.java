package io.cassia.transfer.metadata;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** What heartbeats of publications came to, as counters. Immutable. */
final class PublicationMetrics {
    private static final String NAME = "cassia.metadata.heartbeats";

    final Counter kept;
    final Counter rewritten;
    final Counter overwritten;
    final Counter failed;
    final Counter superseded;

    PublicationMetrics(MeterRegistry meters) {
        this.kept = counter(meters, "kept");
        this.rewritten = counter(meters, "rewritten");
        this.overwritten = counter(meters, "overwritten");
        this.failed = counter(meters, "failed");
        this.superseded = counter(meters, "superseded");
    }

    private static Counter counter(MeterRegistry meters, String result) {
        return Counter.builder(NAME)
                .description("Heartbeats of the entries in the metadata store")
                .tag("result", result)
                .register(meters);
    }
}
