package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.transfer.memory.LentFile;
import io.cassia.transfer.memory.Mapping;
import java.lang.foreign.MemorySegment;

/**
 * Memory that the engine has allocated, or mapped for its caller: one mapping that lives until
 * {@link TransferEngine#free} or the engine's end. Guarded. It is not published until {@link
 * TransferEngine#register} is called with it or with slices of it.
 */
public final class Region implements AutoCloseable {
    private final Mapping mapping;
    private final LocalMemory owner;

    Region(Mapping mapping, LocalMemory owner) {
        this.mapping = mapping;
        this.owner = owner;
    }

    /** The whole region, accessible from every thread; zeroed at first when it was allocated. */
    public MemorySegment memory() {
        return mapping.memory();
    }

    /** Its size in bytes, as asked for. */
    public long lengthBytes() {
        return mapping.memory().byteSize();
    }

    /**
     * Whether it is another program's file, which may be cut at any moment: whoever touches it
     * himself may end the process. Transfers are safe.
     */
    public boolean isLent() {
        return mapping instanceof LentFile;
    }

    /** Whether all of it is there; a file of another program may have been cut. */
    public boolean isWhole() {
        return !(mapping instanceof LentFile file) || file.isWhole();
    }

    /** What it is, for people. */
    @Override
    public String toString() {
        return mapping instanceof LentFile file
                ? "%d bytes of %s (now %s)".formatted(lengthBytes(), file.path(), file.sizeNow())
                : lengthBytes() + " bytes";
    }

    Mapping mapping() {
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
