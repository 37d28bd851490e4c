package io.cassia.lab.history;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Bytes of which any word tells the version that it belongs to, and where in the object it is.
 * Immutable.
 */
final class Content {
    static final int WORD_BYTES = 8;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    private Content() {}

    /** A number that no other write of the run has. */
    static long version(int key, int client, int sequence) {
        return ((long) key << 48) | ((long) client << 32) | sequence;
    }

    static int key(long version) {
        return (int) (version >>> 48);
    }

    static void fill(MemorySegment memory, long version) {
        for (long i = 0; i < memory.byteSize() / WORD_BYTES; i++) {
            memory.set(WORD, i * WORD_BYTES, version ^ mix(i));
        }
    }

    /** The version that all words agree on; -1 when they are of several or of none. */
    static long version(MemorySegment memory, long offsetBytes) {
        long first = offsetBytes / WORD_BYTES;
        long version = memory.get(WORD, 0) ^ mix(first);
        for (long i = 1; i < memory.byteSize() / WORD_BYTES; i++) {
            if ((memory.get(WORD, i * WORD_BYTES) ^ mix(first + i)) != version) {
                return -1;
            }
        }
        return version;
    }

    private static long mix(long z) {
        long x = (z + 1) * 0x9E3779B97F4A7C15L;
        x = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L;
        return x ^ (x >>> 27);
    }
}
