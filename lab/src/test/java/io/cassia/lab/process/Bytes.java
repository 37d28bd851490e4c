package io.cassia.lab.process;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Test data whose every byte tells where it belongs. Immutable. */
final class Bytes {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    private Bytes() {}

    static void fill(MemorySegment memory, long seed) {
        long words = memory.byteSize() / 8;
        for (long i = 0; i < words; i++) {
            memory.set(WORD, i * 8, mix(seed + i));
        }
        for (long i = words * 8; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) mix(seed + i));
        }
    }

    /** Offset of the first wrong byte's word; -1 when all are right. */
    static long firstWrong(MemorySegment memory, long seed) {
        long words = memory.byteSize() / 8;
        for (long i = 0; i < words; i++) {
            if (memory.get(WORD, i * 8) != mix(seed + i)) {
                return i * 8;
            }
        }
        for (long i = words * 8; i < memory.byteSize(); i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != (byte) mix(seed + i)) {
                return i;
            }
        }
        return -1;
    }

    private static long mix(long z) {
        long x = z * 0x9E3779B97F4A7C15L;
        x = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L;
        return x ^ (x >>> 27);
    }
}
