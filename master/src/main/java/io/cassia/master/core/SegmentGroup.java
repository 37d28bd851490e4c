package io.cassia.master.core;

import java.util.ArrayList;
import java.util.List;

/**
 * Confined to the master's lock. The allocatable segments of one name: replicas of one object never
 * share a name.
 */
final class SegmentGroup {
    final String name;
    final List<MountedSegment> segments = new ArrayList<>(1);

    /** Number of the placement that used this name last. */
    long usedBy;

    SegmentGroup(String name) {
        this.name = name;
    }

    long largestCapacity() {
        long largest = 0;
        for (MountedSegment segment : segments) {
            largest = Math.max(largest, segment.allocator.capacityBytes());
        }
        return largest;
    }

    long largestFree() {
        long largest = 0;
        for (MountedSegment segment : segments) {
            largest = Math.max(largest, segment.allocator.largestFreeBytes());
        }
        return largest;
    }

    double freeRatio() {
        double free = 0;
        double capacity = 0;
        for (MountedSegment segment : segments) {
            free += segment.allocator.freeBytes();
            capacity += segment.allocator.capacityBytes();
        }
        return free / capacity;
    }
}
