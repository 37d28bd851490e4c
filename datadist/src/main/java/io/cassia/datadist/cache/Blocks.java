package io.cassia.datadist.cache;

import io.cassia.status.Done;
import io.cassia.status.Outcome;

/** Immutable. Checks of block lists. */
public final class Blocks {
    private Blocks() {}

    /** {@code LLM_PARAM_INVALID} when a list is empty or their lengths differ. */
    public static Outcome<Done> requirePairs(long[] src, long[] dst) {
        if (src.length == 0 || src.length != dst.length) {
            return CacheTable.invalid(
                    "%d source blocks and %d destination blocks: the lists are pairs, and not empty"
                            .formatted(src.length, dst.length));
        }
        return Outcome.done();
    }

    /** {@code LLM_PARAM_INVALID} naming the first block that is not in {@code 0..count-1}. */
    public static Outcome<Done> require(long[] blocks, long count, String side) {
        for (long block : blocks) {
            if (block < 0 || block >= count) {
                return CacheTable.invalid(
                        "%s block %d is not in 0..%d".formatted(side, block, count - 1));
            }
        }
        return Outcome.done();
    }

    /** The largest of the blocks, -1 for none. */
    public static long max(long[] blocks) {
        long max = -1;
        for (long block : blocks) {
            max = Math.max(max, block);
        }
        return max;
    }
}
