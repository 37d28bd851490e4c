package io.cassia.datadist.cache;

/**
 * Sizes of a cache whose description was checked. Immutable.
 *
 * <pre>
 *   tensor   | batch 0 | batch 1 | ... | batch (batches-1) |      batches = first dimension
 *            |&lt;-stride-&gt;|                                        (the same ranges are the blocks
 *            |&lt;----------------- tensorBytes --------------&gt;|     of a block cache)
 * </pre>
 *
 * @param numTensors tensors of the cache
 * @param tensorBytes bytes of one tensor
 * @param batches batches of each tensor, or blocks
 */
public record Geometry(int numTensors, long tensorBytes, long batches) {
    /** Bytes of one batch (or block) of one tensor. */
    public long strideBytes() {
        return tensorBytes / batches;
    }

    /** Bytes of all tensors. */
    public long totalBytes() {
        return tensorBytes * numTensors;
    }
}
