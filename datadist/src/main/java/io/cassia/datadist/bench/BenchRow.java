package io.cassia.datadist.bench;

/**
 * One cell of the benchmark: medians of some rounds, both sides measured in turns. Immutable.
 *
 * @param transports what carried the bytes
 * @param operation pull or push
 * @param scattered whether the block tables are random; otherwise all blocks adjoin on both sides
 * @param blockBytes size of a block
 * @param blocks blocks per call
 * @param requests contiguous ranges per call
 * @param nanos time of one call of LLM-DataDist
 * @param engineNanos time of the bare Transfer Engine for the same ranges
 * @param controlNanos of that call, for asking the peer and for its confirmation
 * @param verified whether every byte was found where it belongs, in every round
 */
public record BenchRow(
        String transports,
        String operation,
        boolean scattered,
        long blockBytes,
        int blocks,
        long requests,
        long nanos,
        long engineNanos,
        long controlNanos,
        boolean verified) {
    /** 10^9 bytes per second. */
    public double gigabytesPerSecond() {
        return (double) blockBytes * blocks / nanos;
    }

    /** The same of the bare engine. */
    public double engineGigabytesPerSecond() {
        return (double) blockBytes * blocks / engineNanos;
    }

    /** Rate beside that of the bare engine. */
    public double ratio() {
        return (double) engineNanos / nanos;
    }

    public double microsPerCall() {
        return nanos / 1000.0;
    }
}
