package io.cassia.datadist.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.datadist.cache.Placement;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One range of memory that tensors are cut from, aligned to {@value PoolConfig#ALIGNMENT} bytes.
 * Guarded.
 *
 * <p>With size classes, a tensor goes to the first class whose largest grant holds it, then to the
 * larger ones, then to what the pool has beyond its classes.
 */
public final class MemoryPool {
    private record Part(long maxGrantBytes, RangeAllocator ranges) {}

    private final Placement placement;
    private final PlaneMemory memory;
    private final long totalBytes;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final List<Part> parts = new ArrayList<>();

    @GuardedBy("lock")
    private long grants;

    private MemoryPool(Placement placement, PoolConfig config, PlaneMemory memory) {
        this.placement = placement;
        this.memory = memory;
        this.totalBytes = config.totalBytes();
        long start = 0;
        for (SizeClass c : config.classes()) {
            long unit = Math.max(c.blockBytes(), PoolConfig.ALIGNMENT);
            parts.add(new Part(c.maxGrantBytes(), new RangeAllocator(start, c.totalBytes(), unit)));
            start += c.totalBytes();
        }
        long rest = config.totalBytes() - start;
        if (rest > 0) {
            parts.add(
                    new Part(Long.MAX_VALUE, new RangeAllocator(start, rest, config.unitBytes())));
        }
    }

    /**
     * Takes the pool's memory from the data plane; {@code LLM_OUT_OF_MEMORY} when it has not
     * enough.
     */
    public static Outcome<MemoryPool> open(
            Placement placement, PoolConfig config, DataPlane plane) {
        return switch (plane.allocate(config.totalBytes())) {
            case Outcome.Ok<PlaneMemory>(PlaneMemory memory) ->
                    Outcome.ok(new MemoryPool(placement, config, memory));
            case Outcome.Failed<PlaneMemory> failed ->
                    failed.in("%s pool of %d bytes".formatted(placement, config.totalBytes()));
        };
    }

    /**
     * Memory for so many tensors, or for none of them. {@code LLM_DEVICE_OUT_OF_MEMORY} from a
     * device-tagged pool, {@code LLM_OUT_OF_MEMORY} from a host pool, telling what is used, free
     * and the largest free range.
     */
    public Outcome<Grant> grant(int count, long bytesEach) {
        lock.lock();
        try {
            List<Long> offsets = new ArrayList<>(count);
            List<MemorySegment> tensors = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                long offset = take(bytesEach);
                if (offset == RangeAllocator.NONE) {
                    offsets.forEach(this::giveBack);
                    return exhausted(count, bytesEach, i, statsLocked());
                }
                offsets.add(offset);
                tensors.add(memory.memory().asSlice(offset, bytesEach));
            }
            grants += count;
            return Outcome.ok(new Grant(this, offsets, tensors));
        } finally {
            lock.unlock();
        }
    }

    void release(Grant grant) {
        lock.lock();
        try {
            grant.offsets().forEach(this::giveBack);
            grants -= grant.offsets().size();
        } finally {
            lock.unlock();
        }
    }

    public PoolStats stats() {
        lock.lock();
        try {
            return statsLocked();
        } finally {
            lock.unlock();
        }
    }

    /** Gives the whole range back to the data plane. */
    public Outcome<Done> close() {
        return memory.release().get();
    }

    private Outcome<Grant> exhausted(int count, long bytesEach, int served, PoolStats now) {
        LlmStatus code =
                placement == Placement.DEVICE
                        ? LlmStatus.LLM_DEVICE_OUT_OF_MEMORY
                        : LlmStatus.LLM_OUT_OF_MEMORY;
        return Outcome.failed(
                code,
                "%s pool cannot hold %d tensors of %d bytes, the one with index %d does not fit: total=%d used=%d free=%d largest=%d; deallocate caches, remove keys, or enlarge the pool"
                        .formatted(
                                placement,
                                count,
                                bytesEach,
                                served,
                                now.totalBytes(),
                                now.usedBytes(),
                                now.freeBytes(),
                                now.largestFreeBytes()));
    }

    @GuardedBy("lock")
    private long take(long bytes) {
        for (Part part : parts) {
            if (bytes <= part.maxGrantBytes()) {
                long offset = part.ranges().allocate(bytes);
                if (offset != RangeAllocator.NONE) {
                    return offset;
                }
            }
        }
        return RangeAllocator.NONE;
    }

    @GuardedBy("lock")
    private void giveBack(long offset) {
        for (Part part : parts) {
            if (part.ranges().free(offset)) {
                return;
            }
        }
        throw new IllegalStateException("no grant begins at offset " + offset);
    }

    @GuardedBy("lock")
    private PoolStats statsLocked() {
        long used = 0;
        long largest = 0;
        for (Part part : parts) {
            used += part.ranges().usedBytes();
            largest =
                    Math.max(
                            largest,
                            Math.min(part.ranges().largestFreeBytes(), part.maxGrantBytes()));
        }
        return new PoolStats(totalBytes, used, largest, grants);
    }
}
