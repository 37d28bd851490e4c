package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.transfer.memory.SharedMapping;
import java.lang.foreign.MemorySegment;

/**
 * Memory allocated by the engine: one shared mapping that lives until {@link TransferEngine#free}
 * or the engine's end. Guarded. It is not published until {@link TransferEngine#register} is called
 * with it or with slices of it.
 */
public final class Region implements AutoCloseable {
    private final SharedMapping mapping;
    private final LocalMemory owner;

    Region(SharedMapping mapping, LocalMemory owner) {
        this.mapping = mapping;
        this.owner = owner;
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

    /**
     * Frees it as {@link TransferEngine#free} does; what was freed before stays so.
     *
     * @throws io.cassia.status.CassiaException ERR_BATCH_BUSY while it is in use
     */
    @Override
    public void close() {
        if (owner.owns(this)) {
            Done _ = owner.free(this).orThrow();
        }
    }
}
