package io.cassia.datadist.cache;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Guarded by its table's lock. One cache and what keeps its memory.
 *
 * <pre>
 *   add ──► id reference ─┐
 *           key references ├─ memory stays while one of them is there
 *           pins          ─┘
 * </pre>
 */
final class CacheEntry {
    final long id;
    final CacheDesc desc;
    final Geometry geometry;
    final CacheOrigin origin;
    final boolean blocks;
    final List<MemorySegment> tensors;
    final Supplier<Outcome<Done>> onFree;

    /** Request and prefix keys by batch. */
    final Map<Integer, BoundKey> keys = new HashMap<>();

    @Nullable BoundKey blocksKey;
    boolean idReference = true;
    boolean draining;
    boolean freed;

    /** Whether its memory was given back before the entry goes. */
    boolean released;

    int pins;

    CacheEntry(long id, NewCache cache) {
        this.id = id;
        this.desc = cache.desc();
        this.geometry = cache.geometry();
        this.origin = cache.origin();
        this.blocks = cache.blocks();
        this.tensors = cache.tensors();
        this.onFree = cache.onFree();
    }

    boolean isUnreferenced() {
        return !idReference && keys.isEmpty() && blocksKey == null && pins == 0;
    }

    /** Whether its number can be used in calls. */
    boolean isAddressable() {
        return idReference && !draining;
    }

    CacheInfo info() {
        int bound = keys.size() + (blocksKey == null ? 0 : 1);
        return new CacheInfo(id, desc, origin, blocks, !idReference, bound, pins);
    }
}
