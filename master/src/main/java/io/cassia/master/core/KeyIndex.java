package io.cassia.master.core;

import java.util.function.IntConsumer;

/**
 * Confined to the master's lock. From hash to slot of the {@link ObjectTable}: open addressing with
 * linear probing in 256 parts that grow one by one, so that no insert has to move more than a 256th
 * of all entries.
 *
 * <p>An entry is a long, {@code tag : slot}, 0 when empty. The tag is half of the hash: it gives
 * the home position and, on a match, saves looking at keys that differ.
 */
final class KeyIndex {
    static final int PARTS = 256;
    private static final int SMALLEST = 16;

    private final long[][] parts = new long[PARTS][SMALLEST];
    private final int[] counts = new int[PARTS];

    /** Tells whether a slot holds the key that is looked for. */
    interface KeyCheck {
        boolean matches(int slot, int tenant, byte[] key);
    }

    /** The slot with this key; {@link ObjectTable#NONE} when there is none. */
    int find(long hash, int tenant, byte[] key, KeyCheck check) {
        long[] part = parts[part(hash)];
        int mask = part.length - 1;
        int tag = tag(hash);
        for (int at = tag & mask; ; at = at + 1 & mask) {
            long entry = part[at];
            if (entry == 0) {
                return ObjectTable.NONE;
            }
            if ((int) (entry >>> 32) == tag && check.matches((int) entry, tenant, key)) {
                return (int) entry;
            }
        }
    }

    /** Visits the slots of one part, 0 to {@link #PARTS} - 1. */
    void forEach(int part, IntConsumer visitor) {
        for (long entry : parts[part]) {
            if (entry != 0) {
                visitor.accept((int) entry);
            }
        }
    }

    /** Adds a key that is not there. */
    void add(long hash, int slot) {
        int part = part(hash);
        if (++counts[part] * 4L > parts[part].length * 3L) {
            grow(part);
        }
        put(parts[part], (long) tag(hash) << 32 | slot);
    }

    /** Removes a slot that is there. */
    void remove(long hash, int slot) {
        int index = part(hash);
        long[] part = parts[index];
        int mask = part.length - 1;
        long wanted = (long) tag(hash) << 32 | slot;
        int hole = tag(hash) & mask;
        while (part[hole] != wanted) {
            if (part[hole] == 0) {
                throw new IllegalStateException("slot " + slot + " is not in the index");
            }
            hole = hole + 1 & mask;
        }
        // Entries behind the hole move up if that does not take them before their home.
        for (int at = hole + 1 & mask; part[at] != 0; at = at + 1 & mask) {
            int home = (int) (part[at] >>> 32) & mask;
            if ((at - home & mask) >= (at - hole & mask)) {
                part[hole] = part[at];
                hole = at;
            }
        }
        part[hole] = 0;
        counts[index]--;
    }

    private void grow(int part) {
        long[] old = parts[part];
        long[] larger = new long[old.length * 2];
        for (long entry : old) {
            if (entry != 0) {
                put(larger, entry);
            }
        }
        parts[part] = larger;
    }

    private static void put(long[] part, long entry) {
        int mask = part.length - 1;
        int at = (int) (entry >>> 32) & mask;
        while (part[at] != 0) {
            at = at + 1 & mask;
        }
        part[at] = entry;
    }

    private static int part(long hash) {
        return (int) hash & PARTS - 1;
    }

    private static int tag(long hash) {
        return (int) (hash >>> 32);
    }
}
