package io.cassia.datadist.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Memory of the user that peers may read, each range once however many caches lie in it. Guarded.
 */
public final class Registrations {
    private static final class Range {
        final PlaneMemory memory;
        int users = 1;

        Range(PlaneMemory memory) {
            this.memory = memory;
        }

        long end() {
            return memory.memory().address() + memory.memory().byteSize();
        }
    }

    private final DataPlane plane;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final TreeMap<Long, Range> ranges = new TreeMap<>();

    public Registrations(DataPlane plane) {
        this.plane = plane;
    }

    /**
     * Makes all segments readable, or none. {@code LLM_PARAM_INVALID} for heap memory and for a
     * segment that overlaps a registered range without lying in it.
     */
    public Outcome<Done> add(List<MemorySegment> segments) {
        lock.lock();
        try {
            List<MemorySegment> added = new ArrayList<>(segments.size());
            for (MemorySegment segment : segments) {
                if (addOne(segment) instanceof Outcome.Failed<Done> failed) {
                    Outcome<Done> undone = removeLocked(added);
                    String context = "tensor " + added.size();
                    return undone instanceof Outcome.Failed<Done> also
                            ? failed.in(context + " (undoing the others: " + also.detail() + ")")
                            : failed.in(context);
                }
                added.add(segment);
            }
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }

    /** Takes segments back that were added together; on return no peer touches them. */
    public Outcome<Done> remove(List<MemorySegment> segments) {
        lock.lock();
        try {
            return removeLocked(segments);
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Outcome<Done> addOne(MemorySegment segment) {
        if (!segment.isNative() || segment.address() == 0) {
            return invalid("is not native memory");
        }
        long start = segment.address();
        long end = start + segment.byteSize();
        Map.Entry<Long, Range> floor = ranges.floorEntry(start);
        if (floor != null && end <= floor.getValue().end()) {
            floor.getValue().users++;
            return Outcome.done();
        }
        Map.Entry<Long, Range> below = ranges.lowerEntry(end);
        if (below != null && below.getValue().end() > start) {
            return invalid(
                    "memory 0x%x..0x%x overlaps the registered range 0x%x..0x%x in part"
                            .formatted(start, end, below.getKey(), below.getValue().end()));
        }
        return switch (plane.register(segment)) {
            case Outcome.Ok<PlaneMemory>(PlaneMemory memory) -> {
                ranges.put(start, new Range(memory));
                yield Outcome.done();
            }
            case Outcome.Failed<PlaneMemory> failed -> failed.as();
        };
    }

    @GuardedBy("lock")
    private Outcome<Done> removeLocked(List<MemorySegment> segments) {
        Outcome<Done> outcome = Outcome.done();
        for (MemorySegment segment : segments) {
            Map.Entry<Long, Range> floor = ranges.floorEntry(segment.address());
            if (floor == null) {
                throw new IllegalStateException(
                        "0x%x is not registered".formatted(segment.address()));
            }
            Range range = floor.getValue();
            Outcome<Done> released =
                    range.users == 1 ? range.memory.release().get() : Outcome.done();
            if (!released.isOk()) {
                // It stays as it is, for another attempt.
                outcome = outcome.isOk() ? released : outcome;
            } else if (--range.users == 0) {
                ranges.remove(floor.getKey());
            }
        }
        return outcome;
    }

    private static Outcome<Done> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
