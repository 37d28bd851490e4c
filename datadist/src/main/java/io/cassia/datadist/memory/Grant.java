package io.cassia.datadist.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Memory taken from a pool for the tensors of one cache. Immutable.
 *
 * @param pool where it goes back to, whole
 * @param offsets where each tensor begins in the pool
 * @param tensors the memory, one segment per tensor
 */
public record Grant(MemoryPool pool, List<Long> offsets, List<MemorySegment> tensors) {
    public Grant {
        offsets = List.copyOf(offsets);
        tensors = List.copyOf(tensors);
    }

    /** Gives it back; to be called once. */
    public void release() {
        pool.release(this);
    }
}
