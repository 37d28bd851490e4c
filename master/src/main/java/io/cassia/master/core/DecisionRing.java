package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.Decision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Confined to the master's lock. The last decisions that took an object away, so that somebody can
 * ask why a key is missing. A decision costs five stores and no object; the ring grows up to its
 * limit and then forgets the oldest.
 */
final class DecisionRing {
    /** Decisions that are remembered. */
    static final int CAPACITY = 100_000;

    /** Decisions about one key in an answer at most. */
    private static final int MOST_FOUND = 100;

    private static final Fate[] FATES = Fate.values();

    private byte[][] keys = new byte[256][];
    private ByteString[] tenants = new ByteString[256];
    private String[] details = new String[256];
    private long[] times = new long[256];
    private long[] sizes = new long[256];
    private byte[] fates = new byte[256];
    private long count;

    @SuppressWarnings("EnumOrdinal") // an index into an array of this process, never kept
    void add(ByteString tenant, byte[] key, Fate fate, long now, long size, String detail) {
        if (count == keys.length && count < CAPACITY) {
            grow();
        }
        int at = (int) (count++ % keys.length);
        tenants[at] = tenant;
        keys[at] = key;
        fates[at] = (byte) fate.ordinal();
        times[at] = now;
        sizes[at] = size;
        details[at] = detail;
    }

    private void grow() {
        int larger = Math.min(CAPACITY, keys.length * 2);
        keys = Arrays.copyOf(keys, larger);
        tenants = Arrays.copyOf(tenants, larger);
        details = Arrays.copyOf(details, larger);
        times = Arrays.copyOf(times, larger);
        sizes = Arrays.copyOf(sizes, larger);
        fates = Arrays.copyOf(fates, larger);
    }

    /** What was decided about a key, the latest first. */
    List<Decision> find(ByteString tenant, byte[] key, long now) {
        List<Decision> found = new ArrayList<>();
        long oldest = Math.max(0, count - keys.length);
        for (long i = count - 1; i >= oldest && found.size() < MOST_FOUND; i--) {
            int at = (int) (i % keys.length);
            if (Arrays.equals(keys[at], key) && tenants[at].equals(tenant)) {
                found.add(
                        new Decision(
                                FATES[fates[at]].label(),
                                TimeUnit.NANOSECONDS.toMillis(now - times[at]),
                                sizes[at],
                                details[at]));
            }
        }
        return found;
    }

    /** Decisions since the start. */
    long count() {
        return count;
    }
}
