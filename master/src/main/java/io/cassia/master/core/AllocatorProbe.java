package io.cassia.master.core;

/** Confined to its caller. The allocator of one segment by itself, for measurements. */
public final class AllocatorProbe {
    /** What {@link #allocate} answers when no free range is long enough. */
    public static final long NO_SPACE = OffsetAllocator.NO_SPACE;

    private final OffsetAllocator allocator;

    /** All of {@code capacityBytes} is free; it must be positive. */
    public AllocatorProbe(long capacityBytes) {
        this.allocator = new OffsetAllocator(capacityBytes);
    }

    /** A handle of a range of {@code bytes}, or {@link #NO_SPACE}. */
    public long allocate(long bytes) {
        return allocator.allocate(bytes, 1);
    }

    /** Gives a range back. */
    public void free(long handle) {
        allocator.free(handle);
    }

    /** Used bytes, as a share of the capacity. */
    public double utilisation() {
        return (double) allocator.usedBytes() / allocator.capacityBytes();
    }
}
