package io.cassia.master.core;

/**
 * Confined to the master's lock. A memory replica that is not held inline in the {@link
 * ObjectTable}: one beyond the first, or one of an upsert in flight.
 */
final class Replica {
    final long id;
    final int segment;
    final long allocation;
    final long offset;
    boolean complete;

    Replica(long id, int segment, long allocation, long offset) {
        this.id = id;
        this.segment = segment;
        this.allocation = allocation;
        this.offset = offset;
    }

    void digest(Digest digest) {
        digest.add(id);
        digest.add(segment);
        digest.add(allocation);
        digest.add(offset);
        digest.add(complete ? 1 : 0);
    }
}
