package io.cassia.transfer;

import io.cassia.transfer.memory.SharedMapping;
import java.lang.foreign.MemorySegment;

/**
 * Memory allocated by the engine: one shared mapping that lives until {@link TransferEngine#free}
 * or the engine's end. Guarded. It is not published until {@link TransferEngine#register} is called
 * with it or with slices of it.
 */
public final class Region {
    private final SharedMapping mapping;

    Region(SharedMapping mapping) {
        this.mapping = mapping;
    }

    /** The whole region, zeroed at first, accessible from every thread. */
    public MemorySegment memory() {
        return mapping.memory();
    }

    /** Its size in bytes, as asked for. */
    public long lengthBytes() {
        return mapping.memory().byteSize();
    }

    SharedMapping mapping() {
        return mapping;
    }
}
