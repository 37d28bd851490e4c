package io.cassia.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Native memory that bytes pass through when they cannot go straight to or from the caller's: heap
 * arrays, edges of ranges, streams. Guarded. Its size is limited; blocks are kept for the next
 * user.
 */
final class Staging implements AutoCloseable {
    private static final int SMALLEST_BITS = 16;

    /** What a range may need: a chunk at either end. */
    private static final long EDGES_BYTES = 2L * Checksums.CHUNK_BYTES;

    /** Callers of ranges at one time that find room for sure. */
    private static final long PARALLEL = 4;

    private static final int CLASSES = 63 - SMALLEST_BITS;

    private final long limitBytes;
    private final Counter refused;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final List<ArrayDeque<Memory>> idle = new ArrayList<>();

    @GuardedBy("lock")
    private long allocatedBytes;

    @GuardedBy("lock")
    private boolean closed;

    Staging(long limitBytes, MeterRegistry meters) {
        this.limitBytes = limitBytes;
        this.refused =
                Counter.builder("cassia_store_staging_refused")
                        .description("Calls that found no staging memory")
                        .register(meters);
        for (int i = 0; i < CLASSES; i++) {
            idle.add(new ArrayDeque<>());
        }
    }

    /** One mapped block. */
    private record Memory(Arena arena, MemorySegment segment, int sizeClass) {}

    /** Memory of one user; closing gives it back. Confined to its user. */
    final class Block implements AutoCloseable {
        private final Memory memory;
        private final MemorySegment used;

        private Block(Memory memory, long bytes) {
            this.memory = memory;
            this.used = memory.segment.asSlice(0, bytes);
        }

        MemorySegment memory() {
            return used;
        }

        @Override
        public void close() {
            giveBack(memory);
        }
    }

    /** Cuts ranges into pieces of which each takes a part of this memory at most. */
    List<List<RangeRead>> windows(List<RangeRead> ranges) {
        int most = Math.clamp(limitBytes / (PARALLEL * EDGES_BYTES), 1, Integer.MAX_VALUE);
        List<List<RangeRead>> windows = new ArrayList<>(ranges.size() / most + 1);
        for (int from = 0; from < ranges.size(); from += most) {
            windows.add(ranges.subList(from, Math.min(ranges.size(), from + most)));
        }
        return windows;
    }

    /** BUFFER_OVERFLOW when there is not so much left. */
    Outcome<Block> take(long bytes) {
        if (bytes > limitBytes) {
            refused.increment();
            return Outcome.failed(
                    StoreCode.BUFFER_OVERFLOW,
                    "%d bytes do not fit the local buffer of %d; enlarge it, or use native memory"
                            .formatted(bytes, limitBytes));
        }
        int bits = 64 - Long.numberOfLeadingZeros(Math.max(1, bytes) - 1);
        int sizeClass = Math.max(0, bits - SMALLEST_BITS);
        long size = 1L << (sizeClass + SMALLEST_BITS);
        lock.lock();
        try {
            Memory memory = idle.get(sizeClass).pollLast();
            if (memory == null) {
                shrink(size);
                if (closed || allocatedBytes + size > Math.max(limitBytes, size)) {
                    refused.increment();
                    return Outcome.failed(
                            StoreCode.BUFFER_OVERFLOW,
                            "%d bytes wanted, %d of %d bytes of the local buffer are in use"
                                    .formatted(bytes, allocatedBytes, limitBytes));
                }
                memory = allocate(size, sizeClass);
            }
            return Outcome.ok(new Block(memory, bytes));
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    @SuppressWarnings("MustBeClosedChecker") // closed when the block is dropped
    private Memory allocate(long size, int sizeClass) {
        Arena arena = Arena.ofShared();
        allocatedBytes += size;
        return new Memory(arena, arena.allocate(size, 64), sizeClass);
    }

    /** Lets idle blocks go until so much more fits. */
    @GuardedBy("lock")
    private void shrink(long size) {
        for (int i = CLASSES - 1; i >= 0 && allocatedBytes + size > limitBytes; i--) {
            while (allocatedBytes + size > limitBytes && !idle.get(i).isEmpty()) {
                drop(idle.get(i).removeFirst());
            }
        }
    }

    @GuardedBy("lock")
    private void drop(Memory memory) {
        allocatedBytes -= memory.segment.byteSize();
        memory.arena.close();
    }

    private void giveBack(Memory memory) {
        lock.lock();
        try {
            if (closed) {
                drop(memory);
            } else {
                idle.get(memory.sizeClass).addLast(memory);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Blocks in use are dropped when they are given back. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            for (ArrayDeque<Memory> blocks : idle) {
                while (!blocks.isEmpty()) {
                    drop(blocks.removeFirst());
                }
            }
        } finally {
            lock.unlock();
        }
    }
}
