package io.cassia.datadist.cache;

import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Guarded by its table's lock. Finds the cache that an address belongs to. */
final class AddressIndex {
    private record Slot(long address, long cacheId) {}

    private record Tensor(CacheEntry entry, long endAddress) {}

    private final NavigableMap<Slot, Tensor> tensors =
            new TreeMap<>(Comparator.comparingLong(Slot::address).thenComparingLong(Slot::cacheId));

    void add(CacheEntry entry) {
        for (MemorySegment tensor : entry.tensors) {
            tensors.put(
                    new Slot(tensor.address(), entry.id),
                    new Tensor(entry, tensor.address() + entry.geometry.tensorBytes()));
        }
    }

    void remove(CacheEntry entry) {
        for (MemorySegment tensor : entry.tensors) {
            tensors.remove(new Slot(tensor.address(), entry.id));
        }
    }

    /** The cache of which one tensor holds the whole range. */
    @Nullable CacheEntry find(long start, long lengthBytes) {
        var floor = tensors.floorEntry(new Slot(start, Long.MAX_VALUE));
        if (floor == null || lengthBytes < 0) {
            return null;
        }
        Tensor tensor = floor.getValue();
        return lengthBytes <= tensor.endAddress() - start ? tensor.entry() : null;
    }
}
