package io.cassia.datadist.memory;

/**
 * A pool at one moment. Immutable.
 *
 * @param totalBytes size of the pool
 * @param usedBytes granted, rounded up to its units
 * @param largestFreeBytes largest grant that could be made
 * @param grants tensors granted
 */
public record PoolStats(long totalBytes, long usedBytes, long largestFreeBytes, long grants) {
    public long freeBytes() {
        return totalBytes - usedBytes;
    }
}
