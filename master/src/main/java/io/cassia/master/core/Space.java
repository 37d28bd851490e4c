package io.cassia.master.core;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. What replicas an object has, and how their space comes back: at
 * once, or when nobody can be using it any more.
 */
final class Space {
    private static final int EXTRA_REPLICA_BYTES = 112;

    private final CoreState state;
    private final ObjectTable objects;

    Space(CoreState state) {
        this.state = state;
        this.objects = state.objects;
    }

    /** Whether a get would find a replica. */
    boolean isReadable(int slot) {
        if (objects.has(slot, ObjectTable.COMPLETE)
                && state.segments.at(objects.segment(slot)).isReadable()) {
            return true;
        }
        ObjectExtra extra = objects.extra(slot);
        if (extra != null) {
            for (Replica replica : extra.replicas) {
                if (replica.complete && state.segments.at(replica.segment).isReadable()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a get would find a replica on a segment whose client is not silent. */
    boolean isAlive(int slot) {
        if (objects.has(slot, ObjectTable.COMPLETE) && isAliveAt(objects.segment(slot))) {
            return true;
        }
        ObjectExtra extra = objects.extra(slot);
        if (extra != null) {
            for (Replica replica : extra.replicas) {
                if (replica.complete && isAliveAt(replica.segment)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean isAliveAt(int index) {
        MountedSegment segment = state.segments.at(index);
        return segment.isReadable() && !segment.suspected;
    }

    /** Segments of the complete, readable replicas. */
    List<MountedSegment> segmentsOf(int slot) {
        List<MountedSegment> found = new ArrayList<>(1);
        if (objects.has(slot, ObjectTable.COMPLETE)
                && state.segments.at(objects.segment(slot)).isReadable()) {
            found.add(state.segments.at(objects.segment(slot)));
        }
        ObjectExtra extra = objects.extra(slot);
        if (extra != null) {
            for (Replica replica : extra.replicas) {
                if (replica.complete && state.segments.at(replica.segment).isReadable()) {
                    found.add(state.segments.at(replica.segment));
                }
            }
        }
        return found;
    }

    /** Whether some replica, complete or not, is in a segment that still is. */
    boolean isValid(int slot) {
        if (state.segments.at(objects.segment(slot)).isReadable()) {
            return true;
        }
        ObjectExtra extra = objects.extra(slot);
        if (extra == null) {
            return false;
        }
        for (Replica replica : extra.replicas) {
            if (state.segments.at(replica.segment).isReadable()) {
                return true;
            }
        }
        return extra.upsert != null && !extra.upsert.replicas.isEmpty();
    }

    /** Descriptors of the readable replicas. */
    List<ReplicaDescriptor> readable(int slot) {
        ObjectExtra extra = objects.extra(slot);
        boolean inline =
                objects.has(slot, ObjectTable.COMPLETE)
                        && state.segments.at(objects.segment(slot)).isReadable();
        if (extra == null || extra.replicas.isEmpty()) {
            return inline ? List.of(inlineDescriptor(slot)) : List.of();
        }
        List<ReplicaDescriptor> found = new ArrayList<>(1 + extra.replicas.size());
        // Readers try them in order: those of silent clients last.
        List<ReplicaDescriptor> silent = new ArrayList<>(0);
        if (inline) {
            boolean last = state.segments.at(objects.segment(slot)).suspected;
            (last ? silent : found).add(inlineDescriptor(slot));
        }
        for (Replica replica : extra.replicas) {
            MountedSegment segment = state.segments.at(replica.segment);
            if (replica.complete && segment.isReadable()) {
                (segment.suspected ? silent : found).add(descriptor(replica, objects.size(slot)));
            }
        }
        found.addAll(silent);
        return found;
    }

    /** Descriptors of all replicas of the current version. */
    List<ReplicaDescriptor> all(int slot) {
        ObjectExtra extra = objects.extra(slot);
        if (extra == null || extra.replicas.isEmpty()) {
            return List.of(inlineDescriptor(slot));
        }
        List<ReplicaDescriptor> found = new ArrayList<>(1 + extra.replicas.size());
        found.add(inlineDescriptor(slot));
        for (Replica replica : extra.replicas) {
            found.add(descriptor(replica, objects.size(slot)));
        }
        return found;
    }

    private ReplicaDescriptor inlineDescriptor(int slot) {
        MountedSegment segment = state.segments.at(objects.segment(slot));
        boolean complete = objects.has(slot, ObjectTable.COMPLETE);
        return new ReplicaDescriptor(
                objects.replicaId(slot),
                new Placement.Memory(segment.buffer(objects.offset(slot), objects.size(slot))),
                status(complete));
    }

    ReplicaDescriptor descriptor(Replica replica, long size) {
        MountedSegment segment = state.segments.at(replica.segment);
        return new ReplicaDescriptor(
                replica.id,
                new Placement.Memory(segment.buffer(replica.offset, size)),
                status(replica.complete));
    }

    private static int status(boolean complete) {
        return (complete ? ReplicaStatus.COMPLETE : ReplicaStatus.PROCESSING).number();
    }

    int replicaCount(int slot) {
        ObjectExtra extra = objects.extra(slot);
        return 1 + (extra == null ? 0 : extra.replicas.size());
    }

    /**
     * Adds ({@code sign} 1) or takes away (-1) what the object stands for in the sums. Whatever
     * changes an object's bytes, flags or replicas does so between the two.
     */
    void account(int slot, int sign) {
        long bytes = sign * objects.memoryBytes(slot);
        long metadata =
                metadataBytes(objects.key(slot).length)
                        + (long) EXTRA_REPLICA_BYTES * (replicaCount(slot) - 1);
        state.metadataBytes += sign * metadata;
        state.leases.adjust(slot, bytes);
        state.recency.adjust(slot, bytes);
        state.tenants.charge(objects.tenant(slot), bytes);
        if (!objects.isNamed(slot)) {
            state.reservedBytes += bytes;
            state.tenants.reserve(objects.tenant(slot), bytes);
        }
        if (!objects.has(slot, ObjectTable.COMPLETE)) {
            state.inFlightBytes += bytes;
        } else if (objects.has(slot, ObjectTable.HARD_PIN)) {
            state.hardPinnedBytes += bytes;
        }
    }

    /** Estimated heap bytes of an object with one replica. */
    static long metadataBytes(int keyLength) {
        return ObjectTable.OVERHEAD_BYTES + Versions.OVERHEAD_BYTES + 16L + keyLength;
    }

    /** Frees everything at once: nobody can be reading. */
    void erase(int slot, Fate fate) {
        erase(slot, 0, fate);
    }

    /** Erases the name at once; the bytes stay as long as a reader may hold a lease on them. */
    void eraseUnderLease(int slot, Fate fate) {
        erase(slot, leasedUntil(slot), fate);
    }

    /** Erases; the space comes back at {@code freeAt}, at once when that is over. */
    void erase(int slot, long freeAt, Fate fate) {
        if (objects.isNamed(slot)) {
            decided(slot, fate);
        }
        if (objects.has(slot, ObjectTable.COMPLETE)) {
            event(false, slot);
        }
        dropUpsert(slot, freeAt);
        dropReplication(slot, state.now + state.config.putReleaseNanos());
        state.recency.unlink(slot);
        account(slot, -1);
        release(objects.segment(slot), objects.allocation(slot), freeAt);
        ObjectExtra extra = objects.extra(slot);
        if (extra != null) {
            for (Replica replica : extra.replicas) {
                release(replica.segment, replica.allocation, freeAt);
            }
        }
        if (extra != null && extra.group != null) {
            state.groups.leave(slot, extra.group);
        }
        forget(slot);
    }

    private void forget(int slot) {
        int tenant = objects.tenant(slot);
        state.versions.end(slot);
        state.tenantOrder.remove(slot);
        if (objects.isNamed(slot)) {
            objects.erase(slot);
            state.tenants.objectErased(tenant);
        } else {
            state.reserved.remove(putOf(slot));
            objects.erase(slot);
        }
    }

    /**
     * The replicas of reserved space, which is that no more: they count for nobody until they are
     * an object's or are released.
     */
    List<Replica> take(int slot) {
        List<Replica> replicas = new ArrayList<>(1);
        replicas.add(
                new Replica(
                        objects.replicaId(slot),
                        objects.segment(slot),
                        objects.allocation(slot),
                        objects.offset(slot)));
        ObjectExtra extra = objects.extra(slot);
        if (extra != null) {
            replicas.addAll(extra.replicas);
        }
        state.recency.unlink(slot);
        account(slot, -1);
        forget(slot);
        return replicas;
    }

    /** By which id the client names the put of the current version. */
    long putOf(int slot) {
        ObjectExtra extra = objects.extra(slot);
        return extra != null && extra.put != 0 ? extra.put : objects.replicaId(slot);
    }

    /** Remembers why a version of an object goes. */
    private void decided(int slot, Fate fate) {
        state.decisions.add(
                state.tenants.name(objects.tenant(slot)),
                objects.key(slot),
                fate,
                state.now,
                objects.size(slot),
                state.segments.at(objects.segment(slot)).wire.name());
    }

    /** Tells who listens that an object is readable, or no more. */
    void event(boolean stored, int slot) {
        if (state.events.areKept()) {
            ObjectExtra extra = objects.extra(slot);
            ByteString group =
                    extra == null || extra.group == null ? ByteString.EMPTY : extra.group.text;
            state.events.add(
                    stored, state.tenants.name(objects.tenant(slot)), objects.key(slot), group);
        }
    }

    /** Until when somebody may be reading the object's bytes by the leases given out. */
    long leasedUntil(int slot) {
        long read = objects.readLeaseUntil(slot);
        return objects.leaseCount(slot) > 0 ? Math.max(read, state.leases.latestEnd()) : read;
    }

    boolean isLeased(int slot) {
        return objects.leaseCount(slot) > 0
                || objects.readLeaseUntil(slot) > state.now
                || objects.existLeaseUntil(slot) > state.now;
    }

    void release(int segmentIndex, long allocation, long freeAt) {
        MountedSegment segment = state.segments.at(segmentIndex);
        if (freeAt > state.now) {
            state.discards.add(segment, allocation, freeAt);
        } else {
            state.segments.free(segment, allocation);
        }
    }

    /** Takes an upsert in flight off an object; its space comes back at {@code freeAt}. */
    void dropUpsert(int slot, long freeAt) {
        ObjectExtra extra = objects.extra(slot);
        if (extra == null || extra.upsert == null) {
            return;
        }
        Upsert upsert = extra.upsert;
        for (Replica replica : upsert.replicas) {
            state.inFlight(objects.tenant(slot), -upsert.size);
            release(replica.segment, replica.allocation, freeAt);
        }
        extra.upsert = null;
    }

    /** Ends a copy or move without effect; the targets' space comes back at {@code freeAt}. */
    void dropReplication(int slot, long freeAt) {
        ObjectExtra extra = objects.extra(slot);
        if (extra == null || extra.replication == null) {
            return;
        }
        for (Replica target : extra.replication.targets) {
            state.inFlight(objects.tenant(slot), -objects.size(slot));
            release(target.segment, target.allocation, freeAt);
        }
        extra.replication.targets.clear();
        endReplication(slot, extra);
    }

    /** Whether a copy or move under way is writing anywhere. */
    boolean hasTargets(int slot) {
        ObjectExtra extra = objects.extra(slot);
        return extra != null && extra.replication != null && !extra.replication.targets.isEmpty();
    }

    private void endReplication(int slot, ObjectExtra extra) {
        extra.replication = null;
        objects.clear(slot, ObjectTable.REPLICATING);
        state.replications.remove(slot);
    }

    /** The targets of the copy or move under way become replicas. */
    void commitReplication(int slot) {
        ObjectExtra extra = objects.extra(slot);
        if (extra == null || extra.replication == null) {
            return;
        }
        List<Replica> targets = extra.replication.targets;
        state.inFlight(objects.tenant(slot), -objects.size(slot) * targets.size());
        account(slot, -1);
        for (Replica target : targets) {
            target.complete = true;
            extra.replicas.add(target);
        }
        account(slot, 1);
        endReplication(slot, extra);
    }

    /** Takes one of several replicas off an object; its space comes back at {@code freeAt}. */
    void dropReplica(int slot, long id, long freeAt) {
        ObjectExtra extra = objects.extra(slot);
        if (extra == null || extra.replicas.isEmpty()) {
            throw new IllegalStateException("slot " + slot + " has one replica only");
        }
        account(slot, -1);
        if (objects.replicaId(slot) == id) {
            keepPut(slot, extra);
            release(objects.segment(slot), objects.allocation(slot), freeAt);
            holdInline(slot, extra.replicas.removeFirst());
        } else {
            extra.replicas.removeIf(
                    replica -> {
                        if (replica.id == id) {
                            release(replica.segment, replica.allocation, freeAt);
                        }
                        return replica.id == id;
                    });
        }
        account(slot, 1);
        objects.trimExtra(slot);
    }

    /** Where an object at rest belongs: an eviction must not find what it may not take. */
    int restingList(int slot) {
        boolean ordered =
                objects.leaseCount(slot) == 0
                        && !objects.has(slot, ObjectTable.HARD_PIN | ObjectTable.REPLICATING);
        return ordered ? RecencyLists.IDLE : RecencyLists.NO_LIST;
    }

    /** The same for an object whose put has just ended. */
    int restingListOfNew(int slot) {
        int list = restingList(slot);
        boolean waits =
                list == RecencyLists.IDLE
                        && state.config.policy() == EvictionPolicy.TWO_QUEUES
                        && !state.evictedKeys.take(objects.hash(slot));
        return waits ? RecencyLists.NEW : list;
    }

    /** Drops all replicas in dying segments; {@link ObjectTable#NONE} when none was left. */
    int settle(int slot) {
        while (!isValid(slot)) {
            if (loseReplica(slot, objects.segment(slot), objects.allocation(slot))) {
                return ObjectTable.NONE;
            }
        }
        return slot;
    }

    /** A replica's segment went away; true when that was the last of the object. */
    @CanIgnoreReturnValue
    boolean loseReplica(int slot, int segment, long allocation) {
        ObjectExtra extra = objects.extra(slot);
        if (extra != null
                && extra.upsert != null
                && loseFromUpsert(slot, extra.upsert, segment, allocation)) {
            return false;
        }
        if (extra != null
                && extra.replication != null
                && loseTarget(slot, extra.replication, segment, allocation)) {
            return false;
        }
        if (objects.segment(slot) == segment && objects.allocation(slot) == allocation) {
            return loseInline(slot, extra);
        }
        if (extra != null) {
            long freeAt = usedUntil(slot);
            account(slot, -1);
            extra.replicas.removeIf(
                    replica -> {
                        boolean lost =
                                replica.segment == segment && replica.allocation == allocation;
                        if (lost) {
                            release(segment, allocation, freeAt);
                        }
                        return lost;
                    });
            account(slot, 1);
            objects.trimExtra(slot);
        }
        return false;
    }

    private boolean loseInline(int slot, @Nullable ObjectExtra extra) {
        if (extra != null && !extra.replicas.isEmpty()) {
            account(slot, -1);
            release(objects.segment(slot), objects.allocation(slot), usedUntil(slot));
            keepPut(slot, extra);
            Replica heir = extra.replicas.removeFirst();
            holdInline(slot, heir);
            account(slot, 1);
            objects.trimExtra(slot);
            return false;
        }
        if (extra != null && extra.upsert != null && !extra.upsert.replicas.isEmpty()) {
            becomePut(slot, extra, extra.upsert);
            return false;
        }
        erase(slot, usedUntil(slot), state.segments.at(objects.segment(slot)).fate);
        return true;
    }

    /** Until when somebody may be reading or writing the object's replicas. */
    private long usedUntil(int slot) {
        return objects.has(slot, ObjectTable.COMPLETE)
                ? leasedUntil(slot)
                : objects.stamp(slot) + state.config.putReleaseNanos();
    }

    /** The first replica goes, but a late End names the put by it. */
    private void keepPut(int slot, ObjectExtra extra) {
        if (extra.put == 0) {
            extra.put = objects.replicaId(slot);
        }
    }

    private void holdInline(int slot, Replica replica) {
        objects.setReplica(slot, replica.id, replica.segment, replica.allocation, replica.offset);
        if (replica.complete) {
            objects.set(slot, ObjectTable.COMPLETE);
        } else {
            objects.clear(slot, ObjectTable.COMPLETE);
        }
    }

    /** The old version is lost, the new one in flight goes on as a put. */
    private void becomePut(int slot, ObjectExtra extra, Upsert upsert) {
        event(false, slot);
        replaceVersion(slot, extra, upsert, leasedUntil(slot));
        account(slot, -1);
        objects.setStamp(slot, upsert.startNanos);
        objects.set(slot, ObjectTable.IN_FLIGHT);
        extra.pendingSoftPinNanos = Math.max(0, upsert.traits.softPinNanos());
        account(slot, 1);
        objects.trimExtra(slot);
    }

    /** Puts an upsert's replicas in place of the current ones, whose space comes back. */
    void replaceVersion(int slot, ObjectExtra extra, Upsert upsert, long freeAt) {
        decided(slot, Fate.REPLACED);
        account(slot, -1);
        release(objects.segment(slot), objects.allocation(slot), freeAt);
        for (Replica replica : extra.replicas) {
            release(replica.segment, replica.allocation, freeAt);
        }
        extra.replicas.clear();
        extra.upsert = null;
        extra.put = upsert.replicas.getFirst().id == upsert.put ? 0 : upsert.put;
        state.inFlight(objects.tenant(slot), -upsert.size * upsert.replicas.size());
        objects.setSize(slot, upsert.size);
        objects.setWriter(slot, upsert.writer);
        objects.setDataType(slot, upsert.traits.dataType());
        if (upsert.traits.hardPin()) {
            objects.set(slot, ObjectTable.HARD_PIN);
        }
        holdInline(slot, upsert.replicas.getFirst());
        extra.replicas.addAll(upsert.replicas.subList(1, upsert.replicas.size()));
        account(slot, 1);
    }

    private boolean loseTarget(int slot, Replication copy, int segment, long allocation) {
        return copy.targets.removeIf(
                target -> {
                    boolean lost = target.segment == segment && target.allocation == allocation;
                    if (lost) {
                        state.inFlight(objects.tenant(slot), -objects.size(slot));
                        release(
                                segment,
                                allocation,
                                copy.startNanos + state.config.putReleaseNanos());
                        copy.targetLost = true;
                    }
                    return lost;
                });
    }

    private boolean loseFromUpsert(int slot, Upsert upsert, int segment, long allocation) {
        return upsert.replicas.removeIf(
                replica -> {
                    boolean lost = replica.segment == segment && replica.allocation == allocation;
                    if (lost) {
                        state.inFlight(objects.tenant(slot), -upsert.size);
                        release(
                                segment,
                                allocation,
                                upsert.startNanos + state.config.putReleaseNanos());
                    }
                    return lost;
                });
    }
}
