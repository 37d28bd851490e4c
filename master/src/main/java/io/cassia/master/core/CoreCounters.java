package io.cassia.master.core;

/** Confined to the master's lock. Counts since the start. */
@SuppressWarnings("EnumOrdinal") // an index into an array of this process, never kept
public final class CoreCounters {
    private final long[] counts = new long[CoreCount.values().length];

    CoreCounters() {}

    void add(CoreCount count, long amount) {
        counts[count.ordinal()] += amount;
    }

    void digest(Digest digest) {
        for (long count : counts) {
            digest.add(count);
        }
    }

    public long of(CoreCount count) {
        return counts[count.ordinal()];
    }
}
