package io.cassia.master.core;

import io.cassia.base.ByteString;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the simulation. What must hold in every state of the core, cheap enough to be checked
 * after every command: live allocations do not overlap and are what objects own or what awaits its
 * release; sums are sums; each key is in one state; quotas add up.
 */
final class StateAudit {
    private final CoreState state;
    private final ObjectTable objects;

    /** The write that a replica came from, by the replica's id. */
    private final LongFunction<@Nullable WriteAttempt> writes;

    /** The first replica of the same start, by the replica's id. */
    private final LongUnaryOperator starts;

    private long live;
    private long inFlight;
    private long pinned;
    private long counted;
    private int owned;
    private long[] charged = new long[16];
    private Map<ObjectName, StoredObject> found = new HashMap<>();

    StateAudit(
            CoreState state,
            LongFunction<@Nullable WriteAttempt> writes,
            LongUnaryOperator starts) {
        this.state = state;
        this.objects = state.objects;
        this.writes = writes;
        this.starts = starts;
    }

    /** Checks everything; the readable objects. */
    Map<ObjectName, StoredObject> check() {
        live = state.discards.bytes();
        inFlight = 0;
        pinned = 0;
        counted = 0;
        owned = 0;
        charged = new long[Math.max(16, charged.length)];
        found = new HashMap<>();
        int count = 0;
        int reserved = 0;
        long reservedBytes = 0;
        for (int slot = 1; slot <= objects.highestSlot(); slot++) {
            if (objects.isLive(slot)) {
                object(slot);
                count += objects.isNamed(slot) ? 1 : 0;
                reserved += objects.isNamed(slot) ? 0 : 1;
                reservedBytes += objects.isNamed(slot) ? 0 : objects.memoryBytes(slot);
            }
        }
        same("reserved spaces", state.reserved.size(), reserved);
        same("reserved bytes", state.reservedBytes, reservedBytes);
        same("objects", objects.count(), count);
        same("bytes in flight", state.inFlightBytes, inFlight);
        same("hard-pinned bytes", state.hardPinnedBytes, pinned);
        same("bytes under counted leases", state.leases.bytes(), counted);
        allocations();
        quotas();
        return found;
    }

    private void object(int slot) {
        boolean complete = objects.has(slot, ObjectTable.COMPLETE);
        boolean writing = objects.has(slot, ObjectTable.IN_FLIGHT);
        ObjectExtra extra = objects.extra(slot);
        Upsert upsert = extra == null ? null : extra.upsert;
        Replication replication = extra == null ? null : extra.replication;
        that(slot, complete || writing, "is neither complete nor in flight");
        that(slot, complete || upsert == null, "is replaced before it is complete");
        that(slot, writing || upsert == null, "has an upsert that is not in flight");
        that(
                slot,
                objects.has(slot, ObjectTable.REPLICATING) == (replication != null),
                "is being copied or not");
        if (objects.isNamed(slot)) {
            that(
                    slot,
                    objects.find(objects.tenant(slot), objects.key(slot)) == slot,
                    "is not what its key finds");
        } else {
            that(slot, !complete, "is reserved and complete");
            Integer known = state.reserved.get(new Space(state).putOf(slot));
            that(slot, known != null && known == slot, "is not what its number finds");
        }
        long bytes = objects.memoryBytes(slot);
        charge(slot, bytes);
        if (!complete) {
            inFlight += bytes;
        } else if (objects.has(slot, ObjectTable.HARD_PIN)) {
            pinned += bytes;
        }
        if (objects.leaseCount(slot) > 0 && !objects.has(slot, ObjectTable.HARD_PIN)) {
            counted += bytes;
        }
        List<MountedSegment> segments = new ArrayList<>(2);
        List<String> names = new ArrayList<>(2);
        long size = objects.size(slot);
        long version =
                replica(
                        slot,
                        objects.segment(slot),
                        objects.allocation(slot),
                        size,
                        complete ? objects.replicaId(slot) : 0,
                        0,
                        names,
                        segments);
        if (extra != null) {
            for (Replica each : extra.replicas) {
                that(slot, each.complete == complete, "has replicas of two states");
                long id = each.complete ? each.id : 0;
                version =
                        replica(
                                slot,
                                each.segment,
                                each.allocation,
                                size,
                                id,
                                version,
                                names,
                                segments);
            }
        }
        if (upsert != null) {
            writing(slot, upsert.replicas, upsert.size);
        }
        if (replication != null) {
            writing(slot, replication.targets, size);
        }
        if (!segments.isEmpty()) {
            remember(slot, version, segments, extra);
        }
    }

    /** One replica at its place; the version of those that are complete so far. */
    private long replica(
            int slot,
            int segment,
            long allocation,
            long size,
            long completeId,
            long version,
            List<String> names,
            List<MountedSegment> readable) {
        owns(slot, segment, allocation, size);
        MountedSegment mounted = state.segments.at(segment);
        that(slot, !names.contains(mounted.wire.name()), "has two replicas on one segment");
        names.add(mounted.wire.name());
        if (completeId == 0) {
            return version;
        }
        if (mounted.isReadable()) {
            readable.add(mounted);
        }
        WriteAttempt write = writes.apply(completeId);
        if (write == null) {
            throw broken(slot, "has a replica that nobody asked for");
        }
        that(slot, version == 0 || version == write.version, "has replicas of two versions");
        that(slot, write.length == size, "has another size than its version");
        that(slot, write.tookEffect, "is complete although its writer did not end it");
        that(
                slot,
                write.endedPut == 0 || starts.applyAsLong(completeId) == write.endedPut,
                "was completed by the end of another start");
        that(
                slot,
                !objects.has(slot, ObjectTable.HAS_CHECKSUM)
                        || objects.checksum(slot) == write.version,
                "has the checksum of another version");
        return write.version;
    }

    private void writing(int slot, List<Replica> replicas, long size) {
        for (Replica each : replicas) {
            owns(slot, each.segment, each.allocation, size);
            inFlight += size;
            charge(slot, size);
        }
    }

    private void owns(int slot, int segment, long allocation, long size) {
        MountedSegment mounted = state.segments.at(segment);
        OffsetAllocator allocator = mounted.allocator;
        that(slot, allocator.isLive(allocation), "has a replica whose space is free");
        that(slot, allocator.owner(allocation) == slot, "has a replica in another's space");
        that(slot, allocator.length(allocation) == size, "has a replica of another length");
        if (mounted.isReadable()) {
            live += size;
            owned++;
        }
    }

    private void charge(int slot, long bytes) {
        int tenant = objects.tenant(slot);
        that(slot, !state.tenants.name(tenant).isEmpty(), "belongs to no tenant");
        charged[tenant] += bytes;
    }

    private void remember(
            int slot, long version, List<MountedSegment> segments, @Nullable ObjectExtra extra) {
        boolean silent = true;
        for (MountedSegment segment : segments) {
            silent &= segment.suspected;
        }
        ObjectName name =
                new ObjectName(
                        state.tenants.name(objects.tenant(slot)),
                        ByteString.wrap(objects.key(slot)));
        found.put(
                name,
                new StoredObject(
                        name,
                        version,
                        objects.has(slot, ObjectTable.HARD_PIN),
                        objects.has(slot, ObjectTable.IN_FLIGHT | ObjectTable.REPLICATING),
                        silent,
                        extra == null || extra.group == null ? ByteString.EMPTY : extra.group.text,
                        segments));
    }

    private void allocations() {
        long used = 0;
        long capacity = 0;
        int withOwner = 0;
        int withoutOwner = 0;
        for (MountedSegment segment : state.segments.all()) {
            if (!segment.isReadable()) {
                continue;
            }
            OffsetAllocator allocator = segment.allocator;
            long end = 0;
            long sum = 0;
            for (long at = allocator.nextAllocation(0);
                    at != 0;
                    at = allocator.nextAllocation(at)) {
                long from = allocator.offset(at);
                if (from < end) {
                    throw new AssertionError("allocations overlap in " + segment.wire);
                }
                end = from + allocator.length(at);
                sum += allocator.length(at);
                int owner = allocator.owner(at);
                withOwner += owner == 0 ? 0 : 1;
                withoutOwner += owner == 0 ? 1 : 0;
            }
            if (end > segment.wire.size()) {
                throw new AssertionError("an allocation exceeds " + segment.wire);
            }
            same("bytes used in a segment", allocator.usedBytes(), sum);
            used += sum;
            capacity += segment.wire.size();
        }
        same("bytes used", state.segments.usedBytes(), used);
        same("capacity", state.segments.capacityBytes(), capacity);
        same("sum of the live allocations", used, live);
        same("allocations that objects own", withOwner, owned);
        same("allocations that await their release", withoutOwner, state.discards.size());
        apart();
    }

    /** No two mounted segments share memory. */
    private void apart() {
        List<MountedSegment> all = List.copyOf(state.segments.all());
        for (int i = 0; i < all.size(); i++) {
            for (int j = 0; j < i; j++) {
                io.cassia.rpc.mooncake.Segment one = all.get(i).wire;
                io.cassia.rpc.mooncake.Segment other = all.get(j).wire;
                if (all.get(i).isReadable()
                        && all.get(j).isReadable()
                        && one.teEndpoint().equals(other.teEndpoint())
                        && one.base() < other.base() + other.size()
                        && other.base() < one.base() + one.size()) {
                    throw new AssertionError("segments overlap: " + one + " " + other);
                }
            }
        }
    }

    private void quotas() {
        long effective = 0;
        for (int tenant = 0; tenant < charged.length; tenant++) {
            if (charged[tenant] != 0 || (tenant == 0 && !state.tenants.isEnabled())) {
                same("charge of tenant " + tenant, state.tenants.charged(tenant), charged[tenant]);
            }
        }
        if (state.tenants.isEnabled()) {
            for (io.cassia.rpc.cassia.CassiaMessages.TenantQuota quota :
                    state.tenants.list(ByteString.EMPTY).orThrow()) {
                effective += quota.effectiveBytes();
                int number = state.tenants.find(quota.tenant());
                same("charge of " + quota.tenant(), quota.chargedBytes(), charged[number]);
            }
            if (effective > state.segments.capacityBytes()) {
                throw new AssertionError(
                        "effective quotas of %d bytes exceed the capacity of %d"
                                .formatted(effective, state.segments.capacityBytes()));
            }
        }
    }

    private void that(int slot, boolean holds, String otherwise) {
        if (!holds) {
            throw broken(slot, otherwise);
        }
    }

    private AssertionError broken(int slot, String how) {
        return new AssertionError("object " + ByteString.wrap(objects.key(slot)) + " " + how);
    }

    private static void same(String what, long told, long counted) {
        if (told != counted) {
            throw new AssertionError(what + ": the core says " + told + ", it is " + counted);
        }
    }
}
