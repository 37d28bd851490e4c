package io.cassia.app.replay;

import io.cassia.status.Code;
import io.cassia.status.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** What one worker counted. Confined to the worker until it has ended. */
final class Tally {
    /** Wrong blocks told in full; the rest is only counted. */
    private static final int TOLD = 10;

    final Histogram getNanos = new Histogram(3);
    final Histogram putNanos = new Histogram(3);
    final Map<Code, Long> failures = new LinkedHashMap<>();
    final Map<Code, String> examples = new LinkedHashMap<>();
    final List<String> wrongBlocks = new ArrayList<>();
    long requests;
    long blocks;
    long hits;
    long bytesRead;
    long bytesWritten;
    long alreadyStored;
    long verificationErrors;
    long getTotalNanos;
    long putTotalNanos;

    void failed(Outcome.Failed<?> failure) {
        failures.merge(failure.code(), 1L, Long::sum);
        examples.putIfAbsent(failure.code(), failure.detail());
    }

    void wrong(String what) {
        verificationErrors++;
        if (wrongBlocks.size() < TOLD) {
            wrongBlocks.add(what);
        }
    }

    void got(long nanos) {
        getNanos.recordValue(nanos);
        getTotalNanos += nanos;
    }

    void put(long nanos) {
        putNanos.recordValue(nanos);
        putTotalNanos += nanos;
    }

    /** Adds what another worker, which has ended, counted. */
    void add(Tally other) {
        getNanos.add(other.getNanos);
        putNanos.add(other.putNanos);
        other.failures.forEach((code, count) -> failures.merge(code, count, Long::sum));
        other.examples.forEach(examples::putIfAbsent);
        other.wrongBlocks.stream().limit(TOLD - wrongBlocks.size()).forEach(wrongBlocks::add);
        requests += other.requests;
        blocks += other.blocks;
        hits += other.hits;
        bytesRead += other.bytesRead;
        bytesWritten += other.bytesWritten;
        alreadyStored += other.alreadyStored;
        verificationErrors += other.verificationErrors;
        getTotalNanos += other.getTotalNanos;
        putTotalNanos += other.putTotalNanos;
    }
}
