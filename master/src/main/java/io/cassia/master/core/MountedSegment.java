package io.cassia.master.core;

import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;

/**
 * Confined to the master's lock. One mounted memory segment.
 *
 * <pre>
 *   OK ──graceful unmount──► GRACEFULLY_UNMOUNTING ──grace over──► UNMOUNTING ──swept──► gone
 *    ├──────────unmount, client expired──────────────────────────────┘
 *    └──drain job──► DRAINING ──nothing left──► DRAINED
 * </pre>
 *
 * Only OK takes new replicas; from UNMOUNTING on its replicas are unreadable.
 */
final class MountedSegment {
    final int index;
    final Segment wire;
    final Uuid client;
    final OffsetAllocator allocator;
    private SegmentStatus status = SegmentStatus.OK;

    /** What becomes of objects that lose their last replica here. */
    Fate fate = Fate.CLEARED;

    /** Its client has fallen silent: the bytes may or may not be there. */
    boolean suspected;

    /** When a graceful unmount goes on to unmount. */
    long graceUntil;

    /** The sweep has handled all allocations up to this one. */
    long swept = OffsetAllocator.NO_SPACE;

    MountedSegment(int index, Segment wire, Uuid client) {
        this.index = index;
        this.wire = wire;
        this.client = client;
        this.allocator = new OffsetAllocator(wire.size());
    }

    SegmentStatus status() {
        return status;
    }

    void setStatus(SegmentStatus status) {
        this.status = status;
    }

    boolean isAllocatable() {
        return status == SegmentStatus.OK && !suspected;
    }

    boolean isReadable() {
        return status != SegmentStatus.UNMOUNTING;
    }

    BufferDescriptor buffer(long offset, long size) {
        // The protocol is constant upstream too, whatever the segment's (spec 11.1).
        return new BufferDescriptor(size, wire.base() + offset, "tcp", wire.teEndpoint());
    }
}
