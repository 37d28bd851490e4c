package io.cassia.transfer;

import java.lang.foreign.MemorySegment;

/**
 * Memory allocated by the engine: one shared mapping that lives until {@link TransferEngine#free}
 * or the engine's end. Guarded. It is not published until {@link TransferEngine#register} is called
 * with it or with slices of it.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class Region {
    Region() {}

    /** The whole region, zeroed at first, accessible from every thread. */
    public MemorySegment memory() {
        throw new UnsupportedOperationException();
    }

    /** Its size in bytes, as asked for. */
    public long lengthBytes() {
        throw new UnsupportedOperationException();
    }
}
