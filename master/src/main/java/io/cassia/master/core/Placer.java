package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Finds space for the replicas of one object: preferred names first,
 * then in the order of the strategy, one replica per name; if there is not enough, by evicting
 * (spec mooncake-store 4.4).
 */
final class Placer {
    /** Names tried per replica, as upstream. */
    private static final int MOST_TRIES = 100;

    /** Victims on other names than those that can serve that a run passes over. */
    private static final int MOST_PASSED_OVER = 4096;

    /** Victims in order of use before space is made around one of them. */
    private static final int SCATTERED_VICTIMS = 256;

    /** Blocks looked at in all while making space around victims. */
    private static final int MOST_STEPS = 50_000;

    /** Discarded pieces freed while a put waits. */
    private static final int MOST_RELEASES = 4096;

    private final CoreState state;
    private final Evictor evictor;

    private long placements;
    private long length;
    private final List<Replica> placed = new ArrayList<>();

    Placer(CoreState state, Evictor evictor) {
        this.state = state;
        this.evictor = evictor;
    }

    /**
     * Allocates 1 to {@code wanted} replicas of {@code length} bytes on different names; none when
     * even eviction gives no space. The list is the caller's, the owners are not set.
     */
    List<Replica> place(
            long length, long wanted, List<String> preferred, String hostId, Room room) {
        this.length = length;
        placed.clear();
        placements++;
        List<SegmentGroup> groups = state.segments.groups();
        // Counts and lengths are unsigned on the wire.
        long most = wanted < 0 ? groups.size() : Math.min(wanted, groups.size());
        if (most > 0 && length > 0 && graceNanos() == 0) {
            for (String name : preferred) {
                SegmentGroup group = state.segments.findGroup(name);
                if (group != null && placed.size() < most) {
                    tryGroup(group);
                }
            }
            if (state.config.strategy() == AllocationStrategy.LOCAL_FIRST && wanted == 1) {
                tryHost(groups, hostId, most);
            }
            if (state.config.strategy() == AllocationStrategy.FREE_RATIO_FIRST
                    || state.config.strategy() == AllocationStrategy.SSD_FREE_RATIO_FIRST) {
                trySample(groups, most);
            }
            tryAll(groups, most);
            if (placed.size() < most && room != Room.FREE) {
                evictFor(Math.min(most, capableNames()), room);
            }
        }
        return new ArrayList<>(placed);
    }

    /** How long no space is given out yet. */
    private long graceNanos() {
        return Math.max(0, state.config.restartGraceNanos() - state.now);
    }

    /** Whether some segment would hold the length if all that can be evicted were. */
    boolean couldEverFit(long length) {
        this.length = length;
        return length > 0 && graceNanos() == 0 && capableNames() > 0 && couldHelp();
    }

    /** Names with a segment that could hold the length if it were empty. */
    private long capableNames() {
        long count = 0;
        for (SegmentGroup group : state.segments.groups()) {
            if (group.largestCapacity() >= length) {
                count++;
            }
        }
        return count;
    }

    @CanIgnoreReturnValue
    private boolean tryGroup(SegmentGroup group) {
        if (group.usedBy == placements) {
            return false;
        }
        for (MountedSegment segment : group.segments) {
            if (trySegment(group, segment)) {
                return true;
            }
        }
        return false;
    }

    private boolean trySegment(SegmentGroup group, MountedSegment segment) {
        long allocation = state.segments.allocate(segment, length);
        if (allocation == OffsetAllocator.NO_SPACE) {
            return false;
        }
        group.usedBy = placements;
        placed.add(
                new Replica(
                        state.nextReplicaId(),
                        segment.index,
                        allocation,
                        segment.allocator.offset(allocation)));
        return true;
    }

    private void tryAll(List<SegmentGroup> groups, long most) {
        int names = groups.size();
        while (placed.size() < most) {
            int start = names == 1 ? 0 : state.random(names);
            boolean found = false;
            for (int i = 0; i < Math.min(names, MOST_TRIES) && !found; i++) {
                found = tryGroup(groups.get((start + i) % names));
            }
            if (!found) {
                return;
            }
        }
    }

    private void tryHost(List<SegmentGroup> groups, String hostId, long most) {
        if (hostId.isEmpty()) {
            return;
        }
        for (SegmentGroup group : groups) {
            if (placed.size() < most && group.segments.getFirst().wire.hostId().equals(hostId)) {
                tryGroup(group);
            }
        }
    }

    private void trySample(List<SegmentGroup> groups, long most) {
        int names = groups.size();
        int size = (int) Math.min(6 * (most - placed.size()), Math.min(names, MOST_TRIES));
        int start = state.random(names);
        List<SegmentGroup> sample = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            sample.add(groups.get((start + i) % names));
        }
        sample.sort(Comparator.comparingDouble(SegmentGroup::freeRatio).reversed());
        for (SegmentGroup group : sample) {
            if (placed.size() < most) {
                tryGroup(group);
            }
        }
    }

    /**
     * Evicts in order of use until the replicas fit. Where objects of many sizes are mixed, freed
     * pieces seldom touch each other; after some victims space is made around the next ones, so
     * that a large object does not cost a whole pool of small ones.
     */
    private void evictFor(long most, Room room) {
        if (placed.size() >= most) {
            return;
        }
        if (state.discards.release(state.now, MOST_RELEASES) > 0) {
            tryAll(state.segments.groups(), most);
        }
        boolean demanded = room == Room.DEMANDED;
        if (!couldHelp()) {
            state.counters.add(CoreCount.EVICTIONS_FRUITLESS, demanded ? 1 : 0);
            return;
        }
        evictor.begin(demanded);
        long freed = 0;
        int victims = 0;
        int passedOver = 0;
        int[] stepsLeft = {MOST_STEPS};
        boolean evicted = false;
        while (placed.size() < most && stepsLeft[0] > 0 && passedOver <= MOST_PASSED_OVER) {
            int victim = evictor.next();
            if (victim == ObjectTable.NONE || !(demanded || evictor.isUnprotected(victim))) {
                // Those that are protected come last.
                break;
            }
            MountedSegment segment = servingSegment(victim);
            if (segment == null) {
                passedOver++;
                continue;
            }
            boolean scattered = freed < 2 * length && victims < SCATTERED_VICTIMS;
            int[] going = scattered ? new int[] {victim} : around(victim, segment, stepsLeft);
            for (int slot : going) {
                if (!state.objects.isLive(slot)) {
                    // It went with its group.
                    continue;
                }
                freed += state.objects.size(slot);
                victims++;
                evictor.evict(slot, Fate.EVICTED);
                evicted = true;
            }
            if (going.length > 0 && trySegment(groupOf(segment), segment)) {
                freed = 0;
                victims = 0;
            }
        }
        if (evicted) {
            state.counters.add(CoreCount.EVICTIONS_SUCCESSFUL, 1);
        }
        if (placed.isEmpty() && demanded) {
            state.counters.add(CoreCount.EVICTIONS_FRUITLESS, 1);
        }
    }

    /** False when even without all evictable objects there would not be room. */
    private boolean couldHelp() {
        state.recency.expireReads(state.now);
        long stuck =
                state.hardPinnedBytes
                        + state.inFlightBytes
                        + state.discards.bytes()
                        + state.leases.bytes()
                        + state.recency.readLeasedBytes();
        return state.segments.capacityBytes() - stuck >= length;
    }

    /** The segment of one of the victim's replicas that could take one of ours. */
    private @Nullable MountedSegment servingSegment(int victim) {
        MountedSegment inline = state.segments.at(state.objects.segment(victim));
        if (canServe(inline)) {
            return inline;
        }
        ObjectExtra extra = state.objects.extra(victim);
        if (extra != null) {
            for (Replica replica : extra.replicas) {
                MountedSegment segment = state.segments.at(replica.segment);
                if (canServe(segment)) {
                    return segment;
                }
            }
        }
        return null;
    }

    private boolean canServe(MountedSegment segment) {
        return segment.isAllocatable()
                && segment.allocator.capacityBytes() >= length
                && groupOf(segment).usedBy != placements;
    }

    private SegmentGroup groupOf(MountedSegment segment) {
        SegmentGroup group = state.segments.findGroup(segment.wire.name());
        if (group == null) {
            throw new IllegalStateException("no group for " + segment.wire.name());
        }
        return group;
    }

    /** The victim and those around it that must go with it to make room; none when that fails. */
    private int[] around(int victim, MountedSegment segment, int[] stepsLeft) {
        long allocation = state.objects.allocation(victim);
        ObjectExtra extra = state.objects.extra(victim);
        if (state.objects.segment(victim) != segment.index && extra != null) {
            for (Replica replica : extra.replicas) {
                if (replica.segment == segment.index) {
                    allocation = replica.allocation;
                }
            }
        }
        return segment.allocator.ownersInTheWay(
                allocation, length, evictor::isUnprotected, stepsLeft);
    }

    /** What the pool looks like, for a failure that has to explain itself. */
    String describe(long length, long wanted) {
        SegmentTable segments = state.segments;
        state.recency.expireReads(state.now);
        return "no space for "
                + length
                + " bytes (replicas wanted: "
                + wanted
                + "): capacity="
                + segments.capacityBytes()
                + " used="
                + segments.usedBytes()
                + " largest-free="
                + segments.largestFreeBytes()
                + " hard-pinned="
                + state.hardPinnedBytes
                + " leased="
                + (state.leases.bytes() + state.recency.readLeasedBytes())
                + " in-flight="
                + state.inFlightBytes
                + " awaiting-release="
                + state.discards.bytes()
                + " being-copied="
                + copiedBytes()
                + " largest-segment="
                + largestSegment()
                + " segments="
                + segments.all().size()
                + (graceNanos() > 0
                        ? "; the master gives out no space for another "
                                + TimeUnit.NANOSECONDS.toMillis(graceNanos())
                                + " ms after its start (restart-grace)"
                        : segments.groups().isEmpty()
                                ? segments.all().isEmpty()
                                        ? "; no storage node is mounted"
                                        : "; no segment takes objects now: their nodes are silent"
                                                + " or leave"
                                : length > largestSegment()
                                        ? "; no segment is so large"
                                        : "; retry when leases have ended, or add memory");
    }

    private long copiedBytes() {
        long bytes = 0;
        for (int slot : state.replications.keySet()) {
            bytes += state.objects.memoryBytes(slot);
        }
        return bytes;
    }

    private long largestSegment() {
        long largest = 0;
        for (SegmentGroup group : state.segments.groups()) {
            largest = Math.max(largest, group.largestCapacity());
        }
        return largest;
    }
}
