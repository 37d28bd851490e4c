package io.cassia.app.replay;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The bytes of a block, computed from its id alone. Immutable.
 *
 * <pre>
 *   word[i] = mix(base + i * GOLDEN)     little-endian, i = 0 ..; the last word may be cut
 *   mix(x)  = x ^ (x &gt;&gt;&gt; 29)
 *   base    = splitmix64(seed, id)
 * </pre>
 *
 * All words of a block differ (GOLDEN is odd and {@code mix} a bijection) and two blocks' bases are
 * 64 random bits apart, so a byte from another block, another offset or an older generation shows.
 * One addition, one shift and one exclusive-or per word let the compiler use vector instructions.
 */
final class BlockContent {
    private static final ValueLayout.OfLong WORD =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    /** Bytes compared between two looks at the result. */
    private static final int STRIDE = 4096;

    private BlockContent() {}

    /** Start of the word sequence of a block. */
    static long base(long seed, long id) {
        long x = seed * GOLDEN + id + GOLDEN;
        x = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L;
        x = (x ^ (x >>> 27)) * 0x94D049BB133111EBL;
        return x ^ (x >>> 31);
    }

    /** Writes the whole block. */
    static void fill(MemorySegment block, long base) {
        long end = block.byteSize() & ~7L;
        long x = base;
        for (long at = 0; at < end; at += Long.BYTES) {
            block.set(WORD, at, x ^ (x >>> 29));
            x += GOLDEN;
        }
        for (long at = end; at < block.byteSize(); at++) {
            block.set(ValueLayout.JAVA_BYTE, at, expected(base, at));
        }
    }

    /** Offset of the first byte that is not the block's, or -1; looks at every byte. */
    static long mismatch(MemorySegment block, long base) {
        long words = block.byteSize() & ~7L;
        for (long from = 0; from < words; from += STRIDE) {
            long to = Math.min(words, from + STRIDE);
            if (differs(block, from, to, base)) {
                return firstMismatch(block, from, to, base);
            }
        }
        return firstMismatch(block, words, block.byteSize(), base);
    }

    /** What the byte at this offset must be. */
    static byte expected(long base, long offset) {
        long x = base + (offset >>> 3) * GOLDEN;
        return (byte) ((x ^ (x >>> 29)) >>> (8 * (offset & 7)));
    }

    private static boolean differs(MemorySegment block, long from, long to, long base) {
        long x = base + (from >>> 3) * GOLDEN;
        long difference = 0;
        for (long at = from; at < to; at += Long.BYTES) {
            difference |= block.get(WORD, at) ^ x ^ (x >>> 29);
            x += GOLDEN;
        }
        return difference != 0;
    }

    private static long firstMismatch(MemorySegment block, long from, long to, long base) {
        for (long at = from; at < to; at++) {
            if (block.get(ValueLayout.JAVA_BYTE, at) != expected(base, at)) {
                return at;
            }
        }
        return -1;
    }
}
