package io.cassia.app.bench;

import io.cassia.master.core.AllocatorProbe;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** What hands out ranges of one address range, the master's or one to compare it with. Confined. */
interface RangeAllocator {
    /** No free range is long enough. */
    long NO_SPACE = AllocatorProbe.NO_SPACE;

    /** A handle, or {@link #NO_SPACE}. */
    long allocate(long bytes);

    void free(long handle);

    /** Used bytes, as a share of the capacity. */
    double utilisation();

    /** The master's. */
    static RangeAllocator ofMaster(long capacityBytes) {
        AllocatorProbe probe = new AllocatorProbe(capacityBytes);
        return new RangeAllocator() {
            @Override
            public long allocate(long bytes) {
                return probe.allocate(bytes);
            }

            @Override
            public void free(long handle) {
                probe.free(handle);
            }

            @Override
            public double utilisation() {
                return probe.utilisation();
            }
        };
    }

    /**
     * Best fit as one would write it with the library: free ranges in a TreeMap by length and
     * place, and in one by place, so that neighbours are joined.
     */
    final class OfTrees implements RangeAllocator {
        private record Hole(long length, long offset) implements Comparable<Hole> {
            @Override
            public int compareTo(Hole other) {
                int byLength = Long.compare(length, other.length);
                return byLength != 0 ? byLength : Long.compare(offset, other.offset);
            }
        }

        private final long capacityBytes;
        private final TreeMap<Hole, Hole> byLength = new TreeMap<>();
        private final TreeMap<Long, Hole> byOffset = new TreeMap<>();
        private final Map<Long, Long> used = new HashMap<>();
        private long usedBytes;

        OfTrees(long capacityBytes) {
            this.capacityBytes = capacityBytes;
            add(new Hole(capacityBytes, 0));
        }

        private void add(Hole hole) {
            byLength.put(hole, hole);
            byOffset.put(hole.offset, hole);
        }

        private void remove(Hole hole) {
            byLength.remove(hole);
            byOffset.remove(hole.offset);
        }

        @Override
        public long allocate(long bytes) {
            Map.Entry<Hole, Hole> found = byLength.ceilingEntry(new Hole(bytes, 0));
            if (found == null) {
                return NO_SPACE;
            }
            Hole hole = found.getKey();
            remove(hole);
            if (hole.length > bytes) {
                add(new Hole(hole.length - bytes, hole.offset + bytes));
            }
            used.put(hole.offset, bytes);
            usedBytes += bytes;
            return hole.offset + 1;
        }

        @Override
        public void free(long handle) {
            long from = handle - 1;
            Long taken = used.remove(from);
            if (taken == null) {
                throw new IllegalArgumentException("no range is live under handle " + handle);
            }
            long length = taken;
            usedBytes -= length;
            Map.Entry<Long, Hole> before = byOffset.lowerEntry(from);
            if (before != null && before.getKey() + before.getValue().length == from) {
                from = before.getKey();
                length += before.getValue().length;
                remove(before.getValue());
            }
            Hole behind = byOffset.get(from + length);
            if (behind != null) {
                length += behind.length;
                remove(behind);
            }
            add(new Hole(length, from));
        }

        @Override
        public double utilisation() {
            return (double) usedBytes / capacityBytes;
        }
    }
}
