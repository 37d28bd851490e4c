package io.cassia.datadist.cache;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** Guarded by its table's lock. A key that names a batch, or all blocks, of a live cache. */
final class BoundKey {
    final KeyName name;
    final CacheEntry entry;
    final int batch;
    final long boundAtNanos;

    /** Transfers under way that name this key; it does not expire under them. */
    int claims;

    boolean bound = true;

    /** Tensors that no pull has fetched yet; null while that is all of them. */
    private @Nullable BitSet remaining;

    BoundKey(KeyName name, CacheEntry entry, int batch, long boundAtNanos) {
        this.name = name;
        this.entry = entry;
        this.batch = batch;
        this.boundAtNanos = boundAtNanos;
    }

    /** Notes that the tensors were fetched; true when none is left. */
    boolean fetched(TensorSelection tensors) {
        int all = entry.geometry.numTensors();
        if (remaining == null && tensors.count() == all) {
            return true;
        }
        if (remaining == null) {
            remaining = new BitSet(all);
            remaining.set(0, all);
        }
        remaining.clear(tensors.first(), tensors.first() + tensors.count());
        return remaining.isEmpty();
    }

    int remainingTensors() {
        return remaining == null ? entry.geometry.numTensors() : remaining.cardinality();
    }
}
