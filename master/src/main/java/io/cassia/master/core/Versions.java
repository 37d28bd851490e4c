package io.cassia.master.core;

import io.cassia.base.ByteString;
import java.util.Arrays;

/**
 * Confined to the master's lock. The version of each complete object and the checksums of its
 * chunks, by the object's slot. A slot says nothing while its first put is in flight.
 */
final class Versions {
    /** Heap bytes per object: its number, a reference, the sum of one chunk. */
    static final int OVERHEAD_BYTES = Long.BYTES + 4 + 24;

    private static final int PAGE_BITS = 10;
    private static final int PAGE_MASK = (1 << PAGE_BITS) - 1;

    private long last;
    private long[][] numbers = new long[4][];
    private ByteString[][] sums = new ByteString[4][];

    Versions(long last) {
        this.last = last;
    }

    /** A new version of an object; empty sums when its writer gave none. */
    void begin(int slot, ByteString chunkSums) {
        int page = slot >>> PAGE_BITS;
        if (page >= numbers.length) {
            int length = Math.max(page + 1, numbers.length * 2);
            numbers = Arrays.copyOf(numbers, length);
            sums = Arrays.copyOf(sums, length);
        }
        if (numbers[page] == null) {
            numbers[page] = new long[1 << PAGE_BITS];
            sums[page] = new ByteString[1 << PAGE_BITS];
            Arrays.fill(sums[page], ByteString.EMPTY);
        }
        numbers[page][slot & PAGE_MASK] = ++last;
        sums[page][slot & PAGE_MASK] = chunkSums;
    }

    /** The number of a complete object's version. */
    long number(int slot) {
        return isKept(slot) ? numbers[slot >>> PAGE_BITS][slot & PAGE_MASK] : 0;
    }

    ByteString sums(int slot) {
        return isKept(slot) ? sums[slot >>> PAGE_BITS][slot & PAGE_MASK] : ByteString.EMPTY;
    }

    private boolean isKept(int slot) {
        int page = slot >>> PAGE_BITS;
        return page < numbers.length && numbers[page] != null;
    }

    /** The object is no more. */
    void end(int slot) {
        if (isKept(slot)) {
            int page = slot >>> PAGE_BITS;
            numbers[page][slot & PAGE_MASK] = 0;
            sums[page][slot & PAGE_MASK] = ByteString.EMPTY;
        }
    }

    void digest(Digest digest) {
        digest.add(last);
        for (int page = 0; page < numbers.length; page++) {
            for (int i = 0; numbers[page] != null && i <= PAGE_MASK; i++) {
                if (numbers[page][i] != 0) {
                    digest.add(numbers[page][i]);
                    digest.add(sums[page][i].array());
                }
            }
        }
    }
}
