package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Confined to the master's lock. Segments coming and going (spec mooncake-store 4.1). */
final class Mounts {
    /** Allocations of a dying segment handled within the unmount itself. */
    private static final int SWEEP_AT_ONCE = 1024;

    private final CoreState state;
    private final Space space;

    /** Unmounted segments whose objects are still being swept, oldest first. */
    private final List<MountedSegment> dying = new ArrayList<>();

    private final List<MountedSegment> graceful = new ArrayList<>();

    Mounts(CoreState state, Space space) {
        this.state = state;
        this.space = space;
    }

    /** Mounts; the same segment again is a success. */
    Outcome<Done> mount(Segment segment, Uuid client) {
        Failed<Done> refused = check(segment, client);
        if (refused != null) {
            return refused;
        }
        if (state.segments.find(segment.id()) == null) {
            keepFromOthers(state.segments.mount(segment, client));
            state.tenants.setCapacity(state.segments.capacityBytes());
            state.effects.add(new Effect.SegmentMounted(segment, client));
        }
        return Outcome.done();
    }

    /** Why a segment cannot be mounted; null when it can, or is already. */
    private @Nullable Failed<Done> check(Segment segment, Uuid client) {
        if (segment.base() == 0 || segment.size() == 0) {
            return invalid(segment, "base and size must not be 0");
        }
        MountedSegment present = state.segments.find(segment.id());
        if (present != null) {
            return checkAgain(segment, client, present);
        }
        if (state.unmounted.contains(segment.id(), client, state.now)) {
            return Outcome.failed(
                    StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                    "segment "
                            + segment.id()
                            + " was unmounted by its client; its memory can be mounted under a new"
                            + " id");
        }
        if (segment.size() < 0
                || Long.compareUnsigned(segment.base() + segment.size(), segment.base()) < 0) {
            return invalid(segment, "the range exceeds the address space");
        }
        for (MountedSegment other : state.segments.all()) {
            if (overlap(segment, other) && !other.isReadable()) {
                return Outcome.failed(
                        StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                        "segment " + other.wire.id() + " in the same place is being unmounted");
            }
            if (overlap(segment, other)) {
                return invalid(
                        segment,
                        "the range overlaps segment "
                                + other.wire.id()
                                + " of client "
                                + other.client
                                + " at the same endpoint; a dead client's segments go after "
                                + TimeUnit.NANOSECONDS.toMillis(state.config.wipeNanos())
                                + " ms");
            }
        }
        return null;
    }

    private static @Nullable Failed<Done> checkAgain(
            Segment segment, Uuid client, MountedSegment present) {
        if (present.status() != SegmentStatus.OK) {
            return Outcome.failed(
                    StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                    "segment " + segment.id() + " is " + present.status());
        }
        return present.client.equals(client) && present.wire.equals(segment)
                ? null
                : Outcome.failed(
                        StoreCode.SEGMENT_ALREADY_EXISTS,
                        "segment "
                                + segment.id()
                                + " is mounted by client "
                                + present.client
                                + " as "
                                + present.wire);
    }

    /** The ranges in which old readers and writers may still be; the segment is empty yet. */
    private void keepFromOthers(MountedSegment segment) {
        List<Long> gaps = new ArrayList<>();
        long at = 0;
        for (Quarantine.Range range : state.quarantine.inside(segment.wire, state.now)) {
            // Of an empty segment the allocator gives what is free in the order of addresses.
            if (range.from() > at) {
                gaps.add(state.segments.allocate(segment, range.from() - at));
            }
            long kept = state.segments.allocate(segment, range.to() - range.from());
            state.discards.add(segment, kept, range.until());
            at = range.to();
        }
        gaps.forEach(gap -> state.segments.free(segment, gap));
    }

    private static boolean overlap(Segment segment, MountedSegment other) {
        Segment wire = other.wire;
        return wire.teEndpoint().equals(segment.teEndpoint())
                && Long.compareUnsigned(segment.base(), wire.base() + wire.size()) < 0
                && Long.compareUnsigned(wire.base(), segment.base() + segment.size()) < 0;
    }

    private static Failed<Done> invalid(Segment segment, String why) {
        return Outcome.failed(
                StoreCode.INVALID_PARAMS,
                "segment "
                        + segment.id()
                        + " of "
                        + segment.name()
                        + " base=0x"
                        + Long.toHexString(segment.base())
                        + " size="
                        + Long.toUnsignedString(segment.size())
                        + ": "
                        + why);
    }

    /** A segment of the list that is mounted differently or by another client fails all. */
    Outcome<Done> checkRemount(List<Segment> wanted, Uuid client) {
        for (Segment segment : wanted) {
            MountedSegment present = state.segments.find(segment.id());
            if (present != null
                    && (!present.client.equals(client) || !present.wire.equals(segment))) {
                return invalid(
                        segment,
                        "it is mounted by client " + present.client + " as " + present.wire);
            }
        }
        return Outcome.done();
    }

    /**
     * Mounts what is missing. Segments that cannot be mounted for their parameters are left out, as
     * upstream; one that is still being unmounted, or was, fails the call, which then mounts none.
     */
    Outcome<Done> remount(List<Segment> wanted, Uuid client) {
        for (Segment segment : wanted) {
            Failed<Done> refused = check(segment, client);
            if (refused != null && refused.code() != StoreCode.INVALID_PARAMS) {
                return refused;
            }
        }
        for (Segment segment : wanted) {
            // Two of one list may overlap; the first is mounted.
            Outcome<Done> _ = mount(segment, client);
        }
        return Outcome.done();
    }

    /** Unmounts; an unknown segment is a success. Objects vanish at once, their records in time. */
    Outcome<Done> unmount(Uuid id, Uuid client) {
        MountedSegment segment = state.segments.find(id);
        remember(id, client);
        if (segment == null) {
            return Outcome.done();
        }
        if (segment.status() == SegmentStatus.UNMOUNTING) {
            return Outcome.failed(
                    StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                    "segment " + id + " is already being unmounted");
        }
        if (!segment.client.equals(client)) {
            // Upstream does not refuse it (spec 4.1); it is counted and told.
            state.counters.add(CoreCount.FOREIGN_UNMOUNTS, 1);
        }
        startUnmount(segment, Fate.UNMOUNTED);
        state.effects.add(new Effect.SegmentUnmounted(segment.wire, segment.client, client));
        sweep(SWEEP_AT_ONCE);
        return Outcome.done();
    }

    /** Its mount may still be under way, also one of a segment that is not known yet. */
    private void remember(Uuid id, Uuid client) {
        state.unmounted.add(id, client, state.now + 2 * state.config.putReleaseNanos());
    }

    Outcome<Done> unmountGracefully(Uuid id, Uuid client, long graceMs) {
        boolean owns = false;
        for (MountedSegment segment : state.segments.all()) {
            owns |= segment.client.equals(client);
        }
        MountedSegment segment = state.segments.find(id);
        if (!owns || segment == null) {
            return Outcome.failed(
                    StoreCode.SEGMENT_NOT_FOUND, "client " + client + " has no segment " + id);
        }
        if (!segment.client.equals(client)) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "segment " + id + " belongs to client " + segment.client + ", not " + client);
        }
        if (segment.status() == SegmentStatus.DRAINED
                || segment.status() == SegmentStatus.UNMOUNTING) {
            return Outcome.failed(
                    StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                    "segment " + id + " is " + segment.status());
        }
        long mostMs = TimeUnit.DAYS.toMillis(365);
        long delayMs = graceMs < 0 ? mostMs : Math.min(graceMs, mostMs);
        segment.graceUntil = state.now + TimeUnit.MILLISECONDS.toNanos(delayMs);
        state.segments.retire(segment, SegmentStatus.GRACEFULLY_UNMOUNTING);
        if (!graceful.contains(segment)) {
            graceful.add(segment);
        }
        return Outcome.done();
    }

    /** Goes on with graceful unmounts whose grace is over. */
    void endGraces() {
        for (MountedSegment segment : List.copyOf(graceful)) {
            if (segment.graceUntil <= state.now) {
                remember(segment.wire.id(), segment.client);
                startUnmount(segment, Fate.UNMOUNTED);
                state.effects.add(
                        new Effect.SegmentUnmounted(segment.wire, segment.client, segment.client));
            }
        }
    }

    List<String> namesOf(Uuid client) {
        List<String> names = new ArrayList<>();
        for (MountedSegment segment : state.segments.all()) {
            if (segment.client.equals(client)) {
                names.add(segment.wire.name());
            }
        }
        return names;
    }

    /** Whether the client has a segment that is not being swept. */
    boolean hasAny(Uuid client) {
        for (MountedSegment segment : state.segments.all()) {
            if (segment.client.equals(client) && segment.isReadable()) {
                return true;
            }
        }
        return false;
    }

    /** Marks the segments of a client that fell silent, or came back; how many there are. */
    @CanIgnoreReturnValue
    int suspect(Uuid client, boolean suspected) {
        int count = 0;
        for (MountedSegment segment : List.copyOf(state.segments.all())) {
            if (segment.client.equals(client) && segment.isReadable()) {
                state.segments.suspect(segment, suspected);
                count++;
            }
        }
        return count;
    }

    /** Unmounts all segments of a client; how many there were. */
    int unmountAll(Uuid client) {
        int count = 0;
        for (MountedSegment segment : List.copyOf(state.segments.all())) {
            if (segment.client.equals(client) && segment.isReadable()) {
                startUnmount(segment, Fate.NODE_LOST);
                count++;
            }
        }
        return count;
    }

    private void startUnmount(MountedSegment segment, Fate fate) {
        segment.fate = fate;
        graceful.remove(segment);
        state.discards.forget(segment);
        state.segments.retire(segment, SegmentStatus.UNMOUNTING);
        state.tenants.setCapacity(state.segments.capacityBytes());
        dying.add(segment);
    }

    /**
     * Takes the replicas in dying segments off their objects, {@code budget} allocations at most;
     * true when there is more to do.
     */
    @CanIgnoreReturnValue
    boolean sweep(int budget) {
        int left = budget;
        while (left > 0 && !dying.isEmpty()) {
            MountedSegment segment = dying.getFirst();
            OffsetAllocator allocator = segment.allocator;
            long next = allocator.nextAllocation(segment.swept);
            while (next != OffsetAllocator.NO_SPACE && left > 0) {
                int owner = allocator.owner(next);
                if (owner != ObjectTable.NONE) {
                    space.loseReplica(owner, segment.index, next);
                }
                segment.swept = next;
                next = allocator.nextAllocation(next);
                left--;
            }
            if (next == OffsetAllocator.NO_SPACE) {
                dying.removeFirst();
                state.segments.forget(segment);
                state.effects.add(new Effect.SegmentSwept(segment.wire));
            }
        }
        return !dying.isEmpty();
    }
}
