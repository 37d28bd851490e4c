package io.cassia.datadist.bench;

/**
 * One step of the demonstration. Immutable.
 *
 * @param step what was done
 * @param tokens tokens whose KV was moved
 * @param bytes bytes moved
 * @param requests contiguous ranges that they were moved in
 * @param nanos how long the call took, the median of the rounds
 * @param verified whether every byte was found where it belongs, in every round
 */
public record DemoRow(
        String step, int tokens, long bytes, long requests, long nanos, boolean verified) {
    /** 10^9 bytes per second. */
    public double gigabytesPerSecond() {
        return nanos == 0 ? 0 : (double) bytes / nanos;
    }
}
