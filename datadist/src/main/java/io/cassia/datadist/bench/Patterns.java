package io.cassia.datadist.bench;

import io.cassia.datadist.cache.Cache;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Immutable. Bytes that tell where they belong, so that either end can check them. */
final class Patterns {
    private Patterns() {}

    /** Fills every tensor so that no two words of the cache are alike. */
    static void fill(Cache cache, int seed) {
        for (int t = 0; t < cache.tensors().size(); t++) {
            MemorySegment tensor = cache.tensors().get(t);
            long words = tensor.byteSize() / 8;
            for (long i = 0; i < words; i++) {
                tensor.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, word(seed, t, i));
            }
        }
    }

    private static long word(int seed, int tensor, long index) {
        return ((long) seed << 56) ^ ((long) tensor << 40) ^ index;
    }

    static void clear(Cache cache) {
        cache.tensors().forEach(tensor -> tensor.fill((byte) 0));
    }

    /**
     * Whether blocks {@code dst} of every tensor hold what blocks {@code src} of a filled cache
     * hold, whole words of it.
     */
    static boolean holds(Cache cache, int seed, long blockBytes, long[] src, long[] dst) {
        long words = blockBytes / 8;
        for (int t = 0; t < cache.tensors().size(); t++) {
            for (int b = 0; b < src.length; b++) {
                if (!holds(
                        cache.tensors().get(t).asSlice(dst[b] * blockBytes, blockBytes),
                        seed,
                        t,
                        src[b] * words)) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean holds(MemorySegment block, int seed, int tensor, long firstWord) {
        long words = block.byteSize() / 8;
        for (long i = 0; i < words; i++) {
            if (block.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i)
                    != word(seed, tensor, firstWord + i)) {
                return false;
            }
        }
        return true;
    }
}
