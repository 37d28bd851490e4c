package io.cassia.datadist.bench;

/**
 * One cell of the benchmark: medians of some rounds, both sides measured in turns. Immutable.
 *
 * @param operation pull or push
 * @param scattered whether no two blocks adjoin on both sides, so that none can be joined
 * @param blockBytes size of a block
 * @param blocks blocks per call
 * @param nanos time of one call of LLM-DataDist
 * @param engineNanos time of the bare Transfer Engine for the same ranges
 * @param requests contiguous ranges per call
 */
public record BenchRow(
        String operation,
        boolean scattered,
        long blockBytes,
        int blocks,
        long nanos,
        long engineNanos,
        long requests) {
    /** 10^9 bytes per second. */
    public double gigabytesPerSecond() {
        return (double) blockBytes * blocks / nanos;
    }

    /** The same of the bare engine. */
    public double engineGigabytesPerSecond() {
        return (double) blockBytes * blocks / engineNanos;
    }

    public double microsPerCall() {
        return nanos / 1000.0;
    }
}
