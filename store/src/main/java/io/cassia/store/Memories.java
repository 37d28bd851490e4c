package io.cassia.store;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** What a caller's memory must be, so that a bad one is the failure of its key alone. Immutable. */
final class Memories {
    private Memories() {}

    /** INVALID_PARAMS says why bytes cannot be taken from it; null when they can. */
    static Outcome.@Nullable Failed<?> unreadable(MemorySegment memory) {
        if (!memory.isNative()) {
            return refused(memory, "on the heap; use the form for byte arrays");
        }
        if (!memory.scope().isAlive()) {
            return refused(memory, "that was freed");
        }
        return memory.isAccessibleBy(Thread.currentThread())
                ? null
                : refused(memory, "of another thread; use a shared arena");
    }

    /** INVALID_PARAMS says why bytes cannot be put there; null when they can. */
    static Outcome.@Nullable Failed<?> unwritable(MemorySegment memory) {
        return memory.isReadOnly() ? refused(memory, "that is read-only") : unreadable(memory);
    }

    private static Outcome.Failed<?> refused(MemorySegment memory, String what) {
        return Outcome.failed(
                StoreCode.INVALID_PARAMS, "memory of " + memory.byteSize() + " bytes " + what);
    }
}
