package io.cassia.master.core;

import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Confined to the master's lock. Space that nobody owns any more but somebody may still write to or
 * read from one-sidedly: unfinished puts that were taken over, and versions that were replaced or
 * removed by force under a lease. It is freed when its time has come.
 */
final class DiscardQueue {
    private record Discard(
            long deadline, long order, MountedSegment segment, long allocation, long bytes) {}

    private final SegmentTable segments;
    private final Quarantine quarantine;
    private final PriorityQueue<Discard> queue =
            new PriorityQueue<>(
                    Comparator.comparingLong(Discard::deadline).thenComparingLong(Discard::order));
    private long order;
    private long bytes;

    DiscardQueue(SegmentTable segments, Quarantine quarantine) {
        this.segments = segments;
        this.quarantine = quarantine;
    }

    void add(MountedSegment segment, long allocation, long deadline) {
        segment.allocator.setOwner(allocation, ObjectTable.NONE);
        if (segment.isReadable()) {
            long length = segment.allocator.length(allocation);
            bytes += length;
            queue.add(new Discard(deadline, ++order, segment, allocation, length));
        } else {
            quarantine.add(
                    segment.wire,
                    segment.allocator.offset(allocation),
                    segment.allocator.length(allocation),
                    deadline);
        }
    }

    /** Frees what is due, {@code budget} pieces at most; returns how many. */
    int release(long now, int budget) {
        int released = 0;
        while (released < budget) {
            Discard first = queue.peek();
            if (first == null || first.deadline > now) {
                break;
            }
            queue.remove();
            bytes -= first.bytes;
            segments.free(first.segment, first.allocation);
            released++;
        }
        return released;
    }

    /** Drops the pieces of a segment that is going away with all its space; they stay kept. */
    void forget(MountedSegment segment) {
        queue.removeIf(
                discard -> {
                    if (discard.segment != segment) {
                        return false;
                    }
                    bytes -= discard.bytes;
                    quarantine.add(
                            segment.wire,
                            segment.allocator.offset(discard.allocation),
                            discard.bytes,
                            discard.deadline);
                    return true;
                });
    }

    void digest(Digest digest) {
        queue.stream()
                .sorted(queue.comparator())
                .forEach(
                        discard -> {
                            digest.add(discard.deadline);
                            digest.add(discard.order);
                            digest.add(discard.segment.index);
                            digest.add(discard.allocation);
                        });
    }

    long bytes() {
        return bytes;
    }

    int size() {
        return queue.size();
    }
}
