package io.cassia.master.core;

import java.util.Arrays;

/**
 * Confined to the master's lock. Hashes of the keys that were evicted last, the ghost list of
 * {@link TwoQueues}. A key costs at most 48 bytes: one number in a ring and one in a table that is
 * a quarter to half full. Two keys with one hash pass for each other, which costs a hit at most.
 */
final class EvictedKeys {
    private static final int LEAST = 64;

    /** In order of their eviction from {@link #head} on; those that were taken stay in it. */
    private long[] ring = new long[LEAST];

    private int head;
    private int count;

    /** Open addressing; 0 is empty. */
    private long[] table = new long[2 * LEAST];

    /** Remembers a key; of more than {@code most} the oldest are forgotten. */
    void add(long hash, int most) {
        long key = nonZero(hash);
        if (contains(key)) {
            return;
        }
        while (count >= most) {
            boolean _ = remove(ring[head]);
            head = (head + 1) % ring.length;
            count--;
        }
        if (count == ring.length) {
            grow();
        }
        ring[(head + count) % ring.length] = key;
        count++;
        insert(key);
    }

    /** Whether the key is remembered; it is not any more. */
    boolean take(long hash) {
        return remove(nonZero(hash));
    }

    int count() {
        return count;
    }

    private static long nonZero(long hash) {
        return hash == 0 ? 1 : hash;
    }

    private boolean contains(long key) {
        for (int at = home(key); table[at] != 0; at = next(at)) {
            if (table[at] == key) {
                return true;
            }
        }
        return false;
    }

    private void insert(long key) {
        int at = home(key);
        while (table[at] != 0) {
            at = next(at);
        }
        table[at] = key;
    }

    private boolean remove(long key) {
        int at = home(key);
        while (table[at] != key) {
            if (table[at] == 0) {
                return false;
            }
            at = next(at);
        }
        // Those behind it move up, unless that would take them before their home.
        for (int behind = next(at); table[behind] != 0; behind = next(behind)) {
            int home = home(table[behind]);
            boolean between =
                    at <= behind ? at < home && home <= behind : at < home || home <= behind;
            if (!between) {
                table[at] = table[behind];
                at = behind;
            }
        }
        table[at] = 0;
        return true;
    }

    private int home(long key) {
        return (int) (key ^ (key >>> 32)) & (table.length - 1);
    }

    private int next(int at) {
        return (at + 1) & (table.length - 1);
    }

    private void grow() {
        long[] before = ring;
        long[] larger = new long[2 * before.length];
        for (int i = 0; i < count; i++) {
            larger[i] = before[(head + i) % before.length];
        }
        ring = larger;
        head = 0;
        long[] old = table;
        table = new long[2 * ring.length];
        Arrays.stream(old).filter(key -> key != 0).forEach(this::insert);
    }

    void digest(Digest digest) {
        for (int i = 0; i < count; i++) {
            long key = ring[(head + i) % ring.length];
            digest.add(key);
            digest.add(contains(key) ? 1 : 0);
        }
    }
}
