package io.cassia.datadist.cache;

/**
 * A copy of a part of one batch. Immutable.
 *
 * @param src source
 * @param dst destination
 * @param srcBatch batch of the source
 * @param dstBatch batch of the destination
 * @param offset where the part begins in both batches, in bytes
 * @param size bytes per tensor, -1 for all of the source batch behind the offset
 */
public record BatchCopy(
        Cache src, Cache dst, long srcBatch, long dstBatch, long offset, long size) {
    /** The whole of batch 0. */
    public static BatchCopy of(Cache src, Cache dst) {
        return new BatchCopy(src, dst, 0, 0, 0, -1);
    }

    public BatchCopy withBatches(long srcIndex, long dstIndex) {
        return new BatchCopy(src, dst, srcIndex, dstIndex, offset, size);
    }

    public BatchCopy withRange(long offsetBytes, long sizeBytes) {
        return new BatchCopy(src, dst, srcBatch, dstBatch, offsetBytes, sizeBytes);
    }
}
