package io.cassia.transfer.memory;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;

/** What is behind a region of memory. Guarded. */
public sealed interface Mapping permits SharedMapping, LentFile {
    /** All of it; of every thread. */
    MemorySegment memory();

    /**
     * The number by which other processes find its file beside the owner's other files; 0 when they
     * must not map it.
     */
    long number();

    /**
     * Unmaps it; ERR_BATCH_BUSY, and it stays mapped, while an I/O call uses the memory. Done once,
     * it succeeds for ever.
     */
    Outcome<Done> close();
}
