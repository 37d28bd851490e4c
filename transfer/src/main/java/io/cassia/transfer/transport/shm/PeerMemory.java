package io.cassia.transfer.transport.shm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.transfer.memory.PeerFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one peer of this host, as one engine sees it: the peer's control file, this
 * engine's row in it, and the mapped regions. Guarded.
 *
 * <pre>
 *   ATTACHED ── owner ended, owner closed, or close() ──► LOST ── last copy ended ──► detached:
 *   copies begin                                          none begins       row given back, unmapped
 * </pre>
 *
 * Whether the owner still lives is asked at most once per {@link #TRUST}: a copy that begins within
 * that time after its death moves bytes from or to memory that is still as the owner left it, as a
 * copy that began a moment earlier does.
 */
final class PeerMemory implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(PeerMemory.class.getName());
    private static final long TRUST = TimeUnit.MILLISECONDS.toNanos(1);

    private final String control;
    private final PeerFile file;
    private final MemorySegment memory;
    private final Holds holds;
    private final ProcessId owner;
    private final ProcessWatch watch;
    private final Clock clock;
    private final Users users = new Users(this::detach);
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<Long, PeerRegion> regions = new HashMap<>();

    /** Files that could not be mapped; not tried again while they are registered. */
    @GuardedBy("lock")
    private final Set<Long> unmappable = new HashSet<>();

    /** The region that was used last; never a closed one for long. */
    private volatile @Nullable PeerRegion last;

    private volatile SlotIndex index;
    private volatile long trustedUntilNanos;

    PeerMemory(
            String control,
            PeerFile file,
            Holds holds,
            ProcessId owner,
            ProcessWatch watch,
            Clock clock) {
        this.control = control;
        this.file = file;
        this.memory = file.memory();
        this.holds = holds;
        this.owner = owner;
        this.watch = watch;
        this.clock = clock;
        this.index = SlotIndex.read(memory);
        this.trustedUntilNanos = clock.nanos();
    }

    /** Number of the owner's process. */
    long pid() {
        return owner.pid();
    }

    Holds holds() {
        return holds;
    }

    /** Whether the caller may use it; then it must {@link #leave}. */
    boolean enter() {
        if (!users.enter()) {
            return false;
        }
        if (isOwnerThere(clock.nanos())) {
            return true;
        }
        users.leave();
        users.close();
        return false;
    }

    void leave() {
        users.leave();
    }

    /** Whether the owner's engine lives; for those who have entered. */
    boolean isOwnerThere(long now) {
        if (ControlLayout.get(memory, ControlLayout.PHASE_OFFSET) != ControlLayout.OPEN) {
            return false;
        }
        if (now - trustedUntilNanos < 0) {
            return true;
        }
        if (watch.hasEnded()) {
            return false;
        }
        trustedUntilNanos = now + TRUST;
        return true;
    }

    /** Whether it can be used no more. */
    boolean isLost() {
        return users.isClosed();
    }

    /** The registered slot that holds a range; null when there is none. For those who entered. */
    SlotIndex.@Nullable Slot find(long address, long sizeBytes) {
        SlotIndex.Slot slot = index.find(address, sizeBytes);
        if (slot != null && holds.word(slot.number()) == slot.word()) {
            return slot;
        }
        return refresh().find(address, sizeBytes);
    }

    /** Whether a range that no slot holds can be in a buffer nevertheless. */
    boolean mayHoldMore() {
        return !index.isComplete();
    }

    private SlotIndex refresh() {
        SlotIndex known = index;
        if (known.isCurrent(memory)) {
            return known;
        }
        lock.lock();
        try {
            if (!index.isCurrent(memory)) {
                index = SlotIndex.read(memory);
                retire(index.files());
            }
            return index;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void retire(Set<Long> inUse) {
        unmappable.retainAll(inUse);
        Iterator<Map.Entry<Long, PeerRegion>> all = regions.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<Long, PeerRegion> region = all.next();
            if (!inUse.contains(region.getKey())) {
                last = null;
                region.getValue().close();
                all.remove();
            }
        }
    }

    /** The mapped region of a slot; null when it is in none, or cannot be mapped. */
    @Nullable PeerRegion region(SlotIndex.Slot slot) {
        PeerRegion known = last;
        return known != null && known.holds(slot) ? known : find(slot);
    }

    private @Nullable PeerRegion find(SlotIndex.Slot slot) {
        lock.lock();
        try {
            if (slot.file() == 0 || unmappable.contains(slot.file())) {
                return null;
            }
            PeerRegion region = regions.get(slot.file());
            if (region == null) {
                region = PeerRegion.map(control, slot.file());
                regions.put(slot.file(), region);
            }
            last = region;
            return region.holds(slot) ? region : null;
        } catch (IOException e) {
            unmappable.add(slot.file());
            LOG.log(
                    System.Logger.Level.WARNING,
                    "peer-memory-not-mapped control={0} file={1} cause=\"{2}\"",
                    control,
                    Long.toString(slot.file()),
                    e);
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Lets go of regions that are not registered any more, and of all when the owner is gone. */
    void tidy() {
        if (enter()) {
            try {
                SlotIndex _ = refresh();
            } finally {
                leave();
            }
        }
    }

    private void detach() {
        holds.release();
        lock.lock();
        try {
            regions.values().forEach(PeerRegion::close);
            regions.clear();
        } finally {
            lock.unlock();
        }
        file.close();
        watch.close();
    }

    /** Admits no copy any more, and detaches as soon as the last has ended. */
    @Override
    public void close() {
        users.close();
    }
}
