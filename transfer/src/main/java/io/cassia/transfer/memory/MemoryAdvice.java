package io.cassia.transfer.memory;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The kernel's {@code madvise} on mapped memory (Linux). Immutable. */
public final class MemoryAdvice {
    private static final int HUGE_PAGES = 14;
    private static final int POPULATE_WRITE = 23;

    private static final MethodHandle MADVISE =
            Linker.nativeLinker()
                    .downcallHandle(
                            Linker.nativeLinker().defaultLookup().findOrThrow("madvise"),
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.ADDRESS,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_INT));

    private MemoryAdvice() {}

    /** Asks for huge pages; false when the kernel does not offer them for this memory. */
    static boolean hugePages(MemorySegment memory) {
        return advise(memory, HUGE_PAGES);
    }

    /**
     * Makes the pages present without changing their bytes; false when the kernel is too old or the
     * host has no memory left: unlike a plain touch that does not kill the process.
     */
    public static boolean populate(MemorySegment memory) {
        return advise(memory, POPULATE_WRITE);
    }

    private static boolean advise(MemorySegment memory, int advice) {
        try {
            return (int) MADVISE.invokeExact(memory, memory.byteSize(), advice) == 0;
        } catch (Throwable e) {
            throw new IllegalStateException("madvise cannot be called", e);
        }
    }
}
