package io.cassia.app.replay;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Result of a replay. Immutable.
 *
 * @param requests requests run
 * @param blocks blocks of all requests, repetitions counted
 * @param hits blocks that were read, and before them in their request only such blocks
 * @param bytesRead read and compared with what they must be
 * @param bytesWritten stored by this run
 * @param seconds from the first request to the end of the last one
 * @param readGbPerSecond 10^9 bytes a second while reading, all clients together
 * @param writeGbPerSecond 10^9 bytes a second while storing, all clients together
 * @param get time of one read call, which carries all leading blocks of a request
 * @param put time of one store call, which carries all missing blocks of a request
 * @param evictions objects that the store evicted meanwhile, for anybody; empty when it did not say
 * @param alreadyStored blocks to be stored that were there: later ones of a broken prefix, or put
 *     by another client meanwhile
 * @param failures block operations that failed, wrong bytes not counted
 * @param failuresByCode the same by name of the code
 * @param failureExamples detail of the first failure of each code
 * @param verificationErrors blocks with a wrong byte; any is a defect
 * @param wrongBlocks the first of them in full
 * @param clients parallel clients
 * @param stopped why the run ended early, if it did
 */
public record ReplayReport(
        long requests,
        long blocks,
        long hits,
        long bytesRead,
        long bytesWritten,
        double seconds,
        double readGbPerSecond,
        double writeGbPerSecond,
        Latency get,
        Latency put,
        OptionalLong evictions,
        long alreadyStored,
        long failures,
        Map<String, Long> failuresByCode,
        Map<String, String> failureExamples,
        long verificationErrors,
        List<String> wrongBlocks,
        int clients,
        Optional<String> stopped) {
    public ReplayReport {
        failuresByCode = Collections.unmodifiableMap(new TreeMap<>(failuresByCode));
        failureExamples = Collections.unmodifiableMap(new TreeMap<>(failureExamples));
        wrongBlocks = List.copyOf(wrongBlocks);
    }

    /** Share of blocks that were hits; 0 without blocks. */
    public double hitRatio() {
        return blocks == 0 ? 0 : (double) hits / blocks;
    }

    /**
     * Times of one kind of call.
     *
     * @param calls number of calls
     */
    public record Latency(long calls, long p50Nanos, long p99Nanos, long maxNanos) {}
}
