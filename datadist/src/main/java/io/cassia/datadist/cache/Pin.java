package io.cassia.datadist.cache;

import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the memory of a cache while a transfer or a copy uses it. Guarded. The memory is not given
 * back before {@link #close()}.
 */
public final class Pin implements AutoCloseable {
    private final CacheTable table;
    private final AtomicBoolean closed = new AtomicBoolean();
    final CacheEntry entry;
    private final int batchIndex;
    private final boolean byKey;
    final @Nullable BoundKey key;

    Pin(CacheTable table, CacheEntry entry, int batchIndex, @Nullable BoundKey key, boolean byKey) {
        this.table = table;
        this.entry = entry;
        this.batchIndex = batchIndex;
        this.key = key;
        this.byKey = byKey;
    }

    public long cacheId() {
        return entry.id;
    }

    public Geometry geometry() {
        return entry.geometry;
    }

    public Placement placement() {
        return entry.desc.placement();
    }

    public List<MemorySegment> tensors() {
        return entry.tensors;
    }

    /** Whether the cache was made as a block cache. */
    public boolean isBlocks() {
        return entry.blocks;
    }

    /** The batch that the reference named. */
    public int batchIndex() {
        return batchIndex;
    }

    /** Whether a pull through this pin consumes a key. */
    public boolean holdsKey() {
        return key != null;
    }

    boolean isByKey() {
        return byKey;
    }

    /** Lets the memory go again unless that for which it was pinned comes about. */
    public <T> Outcome<T> keptFor(Supplier<Outcome<T>> use) {
        boolean kept = false;
        try {
            Outcome<T> outcome = use.get();
            kept = outcome.isOk();
            return outcome;
        } finally {
            if (!kept) {
                close();
            }
        }
    }

    /** Lets the memory go. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            table.unpin(this);
        }
    }
}
