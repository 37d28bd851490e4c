package io.cassia.datadist.cache;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/**
 * A cache as its user holds it. Immutable; the memory behind the tensors is not. Tensors of an
 * allocated cache may be touched until its memory is given back: after the cache was deallocated
 * and its last key was consumed or removed, they belong to somebody else.
 *
 * @param cacheId number in this instance, or {@link #UNMANAGED}
 * @param desc what it looks like
 * @param tensors its memory, {@code desc.numTensors()} segments; empty where only the number is
 *     known
 */
public record Cache(long cacheId, CacheDesc desc, List<MemorySegment> tensors) {
    /** Number of a cache that no instance knows: memory for copies and swaps only. */
    public static final long UNMANAGED = -1;

    public Cache {
        Objects.requireNonNull(desc);
        tensors = List.copyOf(tensors);
    }

    /** Memory of the caller as a host-tagged cache for copies and swaps. */
    public static Cache cpu(CacheDesc desc, List<MemorySegment> tensors) {
        return new Cache(UNMANAGED, desc, tensors);
    }

    public boolean isManaged() {
        return cacheId != UNMANAGED;
    }

    /** Addresses of the tensors, as the C++ API names them. */
    public long[] tensorAddrs() {
        return tensors.stream().mapToLong(MemorySegment::address).toArray();
    }
}
