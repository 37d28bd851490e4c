package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The segments that an engine has opened, by name and by number; 0 is its own. Guarded: a segment
 * is looked up by number without the lock, and opened outside it.
 */
final class SegmentTable {
    private static final int MAX_SEGMENTS = 65_536;

    private final EngineParts parts;
    private final ConcurrentMap<Long, Segment> byId = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<String, Segment> byName = new HashMap<>();

    /** How many are opening a segment just now. */
    @GuardedBy("lock")
    private final Map<Segment, Integer> opening = new HashMap<>();

    @GuardedBy("lock")
    private long nextId = SegmentHandle.LOCAL_ID + 1;

    @GuardedBy("lock")
    private boolean closed;

    SegmentTable(String ownName, EngineParts parts) {
        this.parts = parts;
        Segment own = new Segment(SegmentHandle.LOCAL_ID, ownName, parts);
        byName.put(ownName, own);
        byId.put(SegmentHandle.LOCAL_ID, own);
    }

    /** The segment of a handle; null when it is not of this engine. */
    @Nullable Segment find(SegmentHandle handle) {
        Segment found = byId.get(handle.id());
        return found != null && found.name().equals(handle.name()) ? found : null;
    }

    /** The segment of a number; null when none of that number is open. */
    @Nullable Segment find(long id) {
        return byId.get(id);
    }

    /** The segment of a name; null when it is not open. */
    @Nullable Segment find(String name) {
        lock.lock();
        try {
            Segment found = byName.get(name);
            return found != null && byId.containsKey(found.handle().id()) ? found : null;
        } finally {
            lock.unlock();
        }
    }

    /** Forgets a segment and ends its transfers. */
    void close(Segment segment) {
        lock.lock();
        try {
            byName.remove(segment.name(), segment);
            byId.remove(segment.handle().id(), segment);
        } finally {
            lock.unlock();
        }
        segment.close(closedMeanwhile(segment));
    }

    private static <T> Outcome.Failed<T> closedMeanwhile(Segment segment) {
        return Outcome.failed(
                TransferCode.ERR_ENDPOINT,
                "segment " + segment.name() + " was closed meanwhile; open it again");
    }

    /** All segments of this moment, by number. */
    List<Segment> opened() {
        return byId.values().stream()
                .sorted(Comparator.comparingLong(segment -> segment.handle().id()))
                .toList();
    }

    /** Opens a segment, or finds it open. */
    Outcome<SegmentHandle> open(String name, long deadlineNanos) {
        Segment segment;
        lock.lock();
        try {
            if (closed) {
                return Outcome.failed(TransferCode.ERR_CONTEXT, "the engine is closed");
            }
            segment = byName.get(name);
            if (segment == null) {
                if (byName.size() >= MAX_SEGMENTS) {
                    return Outcome.failed(
                            TransferCode.ERR_TOO_MANY_REQUESTS,
                            MAX_SEGMENTS + " segments are open already");
                }
                segment = new Segment(nextId++, name, parts);
                byName.put(name, segment);
            }
            opening.merge(segment, 1, Integer::sum);
        } finally {
            lock.unlock();
        }
        return settle(segment, segment.open(deadlineNanos));
    }

    /**
     * Ends one attempt to open a segment. A name that was never reached leaves nothing behind, but
     * not before the last who waits for it has given up.
     */
    private Outcome<SegmentHandle> settle(Segment segment, Outcome<Done> opened) {
        lock.lock();
        try {
            boolean last =
                    opening.merge(
                                    segment,
                                    -1,
                                    (count, one) -> count + one == 0 ? null : count + one)
                            == null;
            if (opened instanceof Outcome.Failed<Done> failed) {
                if (last && !byId.containsKey(segment.handle().id())) {
                    byName.remove(segment.name(), segment);
                }
                return failed.as();
            }
            if (!segment.equals(byName.get(segment.name()))) {
                return closedMeanwhile(segment);
            }
            byId.putIfAbsent(segment.handle().id(), segment);
            return Outcome.ok(segment.handle());
        } finally {
            lock.unlock();
        }
    }

    void close() {
        List<Segment> all;
        lock.lock();
        try {
            closed = true;
            all = new ArrayList<>(byName.values());
        } finally {
            lock.unlock();
        }
        all.forEach(
                segment ->
                        segment.close(
                                Outcome.failed(TransferCode.ERR_CONTEXT, "the engine is closed")));
    }
}
