package io.cassia.datadist.bench;

import io.cassia.datadist.cache.Cache;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Immutable. Bytes that tell where they belong. */
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

    /** Whether a range of every tensor is the same on both sides. */
    static boolean same(Cache src, long srcOffset, Cache dst, long dstOffset, long lengthBytes) {
        for (int t = 0; t < src.tensors().size(); t++) {
            MemorySegment from = src.tensors().get(t).asSlice(srcOffset, lengthBytes);
            MemorySegment to = dst.tensors().get(t).asSlice(dstOffset, lengthBytes);
            if (from.mismatch(to) != -1) {
                return false;
            }
        }
        return true;
    }
}
