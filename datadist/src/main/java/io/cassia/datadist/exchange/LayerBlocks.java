package io.cassia.datadist.exchange;

import java.util.Arrays;

/**
 * Which blocks a layer-wise push moves. Immutable.
 *
 * <p>No blocks: a batch to a batch. Both lists: blocks to blocks. Destination blocks only: a batch
 * cut into blocks of {@code dstBlockBytes}.
 */
public final class LayerBlocks {
    /** A batch to a batch. */
    public static final LayerBlocks NONE = new LayerBlocks(new long[0], new long[0], 0);

    private final long[] src;
    private final long[] dst;
    private final long dstBlockBytes;

    private LayerBlocks(long[] src, long[] dst, long dstBlockBytes) {
        this.src = src;
        this.dst = dst;
        this.dstBlockBytes = dstBlockBytes;
    }

    /** Blocks to blocks. */
    public static LayerBlocks of(long[] src, long[] dst) {
        return new LayerBlocks(src.clone(), dst.clone(), 0);
    }

    /** A batch cut into blocks of that many bytes. */
    public static LayerBlocks fromBatch(long[] dst, long dstBlockBytes) {
        return new LayerBlocks(new long[0], dst.clone(), dstBlockBytes);
    }

    boolean isBatchToBatch() {
        return src.length == 0 && dst.length == 0;
    }

    boolean isBatchToBlocks() {
        return src.length == 0 && dst.length > 0;
    }

    boolean isBlocksToBatch() {
        return src.length > 0 && dst.length == 0;
    }

    long[] src() {
        return src;
    }

    long[] dst() {
        return dst;
    }

    long dstBlockBytes() {
        return dstBlockBytes;
    }

    @Override
    public String toString() {
        return "blocks " + Arrays.toString(src) + " to " + Arrays.toString(dst);
    }
}
