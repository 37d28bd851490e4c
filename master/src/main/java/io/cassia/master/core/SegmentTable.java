package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Confined to the master's lock. The mounted segments and the bytes allocated in them. */
final class SegmentTable {
    private @Nullable MountedSegment[] byIndex = new MountedSegment[16];
    private final Map<Uuid, MountedSegment> byId = new LinkedHashMap<>();
    private final Map<String, SegmentGroup> byName = new HashMap<>();

    /** Names with an allocatable segment, in order of their mounting. */
    private final List<SegmentGroup> groups = new ArrayList<>();

    private long capacityBytes;
    private long usedBytes;

    @CanIgnoreReturnValue
    MountedSegment mount(Segment wire, Uuid client) {
        int index = 1;
        while (index < byIndex.length && byIndex[index] != null) {
            index++;
        }
        if (index == byIndex.length) {
            byIndex = Arrays.copyOf(byIndex, index * 2);
        }
        MountedSegment segment = new MountedSegment(index, wire, client);
        byIndex[index] = segment;
        byId.put(wire.id(), segment);
        joinGroup(segment);
        capacityBytes += wire.size();
        return segment;
    }

    /** Takes the segment out of placement; it stays readable unless {@code status} says not. */
    void retire(MountedSegment segment, SegmentStatus status) {
        if (segment.isAllocatable()) {
            leaveGroup(segment);
        }
        segment.setStatus(status);
        if (!segment.isReadable()) {
            capacityBytes -= segment.wire.size();
            usedBytes -= segment.allocator.usedBytes();
        }
    }

    /** Makes a draining segment usable again. */
    void reinstate(MountedSegment segment) {
        segment.setStatus(SegmentStatus.OK);
        if (segment.isAllocatable()) {
            joinGroup(segment);
        }
    }

    /** Takes the segment of a silent client out of placement, or back in. */
    void suspect(MountedSegment segment, boolean suspected) {
        if (segment.suspected == suspected) {
            return;
        }
        if (segment.isAllocatable()) {
            leaveGroup(segment);
        }
        segment.suspected = suspected;
        if (segment.isAllocatable()) {
            joinGroup(segment);
        }
    }

    /** Forgets a segment that no object refers to any more. */
    void forget(MountedSegment segment) {
        byIndex[segment.index] = null;
        byId.remove(segment.wire.id());
    }

    private void joinGroup(MountedSegment segment) {
        String name = segment.wire.name();
        SegmentGroup group = byName.get(name);
        if (group == null) {
            group = new SegmentGroup(name);
            byName.put(name, group);
            groups.add(group);
        }
        group.segments.add(segment);
    }

    private void leaveGroup(MountedSegment segment) {
        SegmentGroup group = byName.get(segment.wire.name());
        if (group != null && group.segments.remove(segment) && group.segments.isEmpty()) {
            byName.remove(group.name);
            groups.remove(group);
        }
    }

    /**
     * Null when one of that name takes replicas now; UNAVAILABLE_IN_CURRENT_STATUS when none does.
     *
     * @param missing the code when none has that name
     */
    <T> @Nullable Failed<T> checkTarget(String name, StoreCode missing) {
        boolean known = false;
        for (MountedSegment segment : all()) {
            if (segment.wire.name().equals(name)) {
                known = true;
                if (segment.isAllocatable()) {
                    return null;
                }
            }
        }
        return known
                ? Outcome.failed(
                        StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                        "segment " + name + " takes no replicas now")
                : Outcome.failed(missing, "no segment is named " + name);
    }

    long allocate(MountedSegment segment, long length) {
        long allocation = segment.allocator.allocate(length, ObjectTable.NONE);
        if (allocation != OffsetAllocator.NO_SPACE) {
            usedBytes += length;
        }
        return allocation;
    }

    /** Gives space back; in a dying segment it only loses its owner, so that the sweep goes on. */
    void free(MountedSegment segment, long allocation) {
        if (segment.isReadable()) {
            usedBytes -= segment.allocator.length(allocation);
            segment.allocator.free(allocation);
        } else {
            segment.allocator.setOwner(allocation, ObjectTable.NONE);
        }
    }

    MountedSegment at(int index) {
        MountedSegment segment = byIndex[index];
        if (segment == null) {
            throw new IllegalStateException("no segment has index " + index);
        }
        return segment;
    }

    @Nullable MountedSegment find(Uuid id) {
        return byId.get(id);
    }

    /** The allocatable segments of a name; null when there are none. */
    @Nullable SegmentGroup findGroup(String name) {
        return byName.get(name);
    }

    List<SegmentGroup> groups() {
        return groups;
    }

    /** All segments in order of mounting. */
    Collection<MountedSegment> all() {
        return byId.values();
    }

    void digest(Digest digest) {
        for (MountedSegment segment : byId.values()) {
            digest.add(segment.wire.id());
            digest.add(segment.client);
            digest.add(segment.index);
            digest.add(segment.status().number());
            digest.add(segment.graceUntil);
            digest.add(segment.swept);
            OffsetAllocator allocator = segment.allocator;
            long at = allocator.nextAllocation(OffsetAllocator.NO_SPACE);
            while (at != OffsetAllocator.NO_SPACE) {
                digest.add(at);
                digest.add(allocator.offset(at));
                digest.add(allocator.length(at));
                digest.add(allocator.owner(at));
                at = allocator.nextAllocation(at);
            }
        }
    }

    /** Sum of the sizes of the readable segments. */
    long capacityBytes() {
        return capacityBytes;
    }

    /** Sum of the allocations in the readable segments. */
    long usedBytes() {
        return usedBytes;
    }

    /** The largest allocation that would succeed now. */
    long largestFreeBytes() {
        long largest = 0;
        for (SegmentGroup group : groups) {
            for (MountedSegment segment : group.segments) {
                largest = Math.max(largest, segment.allocator.largestFreeBytes());
            }
        }
        return largest;
    }
}
