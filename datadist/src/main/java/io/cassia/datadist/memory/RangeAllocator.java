package io.cassia.datadist.memory;

import java.util.Comparator;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Hands out ranges of {@code [start, start + size)} by best fit and joins what comes back. Guarded
 * by its owner. Grants are rounded up to the unit and begin at a multiple of it, counted from
 * {@code start}.
 */
final class RangeAllocator {
    /** No range is large enough. */
    static final long NONE = -1;

    private record Free(long length, long offset) {}

    private static final Comparator<Free> BEST_FIT =
            Comparator.comparingLong(Free::length).thenComparingLong(Free::offset);

    private final long sizeBytes;
    private final long unitBytes;
    private final TreeMap<Long, Long> freeByOffset = new TreeMap<>();
    private final NavigableSet<Free> freeByLength = new TreeSet<>(BEST_FIT);
    private final TreeMap<Long, Long> granted = new TreeMap<>();
    private long usedBytes;

    RangeAllocator(long start, long sizeBytes, long unitBytes) {
        this.unitBytes = unitBytes;
        this.sizeBytes = sizeBytes - sizeBytes % unitBytes;
        if (this.sizeBytes > 0) {
            insert(start, this.sizeBytes);
        }
    }

    /** Offset of a range of at least so many bytes, or {@link #NONE}. */
    long allocate(long bytes) {
        if (bytes < 1 || bytes > sizeBytes) {
            return NONE;
        }
        long length = roundUp(bytes);
        Free fit = freeByLength.ceiling(new Free(length, 0));
        if (fit == null) {
            return NONE;
        }
        remove(fit);
        if (fit.length() > length) {
            insert(fit.offset() + length, fit.length() - length);
        }
        granted.put(fit.offset(), length);
        usedBytes += length;
        return fit.offset();
    }

    /** Gives a granted range back; false when none begins there. */
    boolean free(long offset) {
        Long length = granted.remove(offset);
        if (length == null) {
            return false;
        }
        usedBytes -= length;
        long start = offset;
        long end = offset + length;
        Map.Entry<Long, Long> before = freeByOffset.lowerEntry(start);
        if (before != null && before.getKey() + before.getValue() == start) {
            start = before.getKey();
            remove(new Free(before.getValue(), start));
        }
        Long after = freeByOffset.get(end);
        if (after != null) {
            remove(new Free(after, end));
            end += after;
        }
        insert(start, end - start);
        return true;
    }

    long sizeBytes() {
        return sizeBytes;
    }

    long usedBytes() {
        return usedBytes;
    }

    long largestFreeBytes() {
        return freeByLength.isEmpty() ? 0 : freeByLength.last().length();
    }

    private long roundUp(long bytes) {
        return (bytes + unitBytes - 1) / unitBytes * unitBytes;
    }

    private void insert(long offset, long length) {
        freeByOffset.put(offset, length);
        freeByLength.add(new Free(length, offset));
    }

    private void remove(Free range) {
        freeByOffset.remove(range.offset());
        freeByLength.remove(range);
    }
}
