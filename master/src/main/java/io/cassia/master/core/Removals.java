package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Confined to the master's lock. Removal of objects (spec mooncake-store 3.5). */
final class Removals {
    private static final int NONE = ObjectTable.NONE;

    private final CoreState state;
    private final ObjectTable objects;
    private final Space space;

    Removals(CoreState state, Space space) {
        this.state = state;
        this.objects = state.objects;
        this.space = space;
    }

    Outcome<Done> remove(ByteString key, boolean force, ByteString tenant) {
        int number = state.tenants.find(tenant);
        if (number == Tenants.MALFORMED) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, "malformed tenant name " + tenant);
        }
        int slot = number < 0 ? NONE : objects.find(number, key.array());
        if (slot == NONE || !space.isValid(slot)) {
            return Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no object has the key " + key);
        }
        StoreCode obstacle = obstacle(slot, force);
        if (obstacle != null) {
            return refused(slot, key, obstacle);
        }
        space.eraseUnderLease(slot, Fate.REMOVED);
        return Outcome.done();
    }

    List<Outcome<Done>> removeAll(Args.BatchRemove batch) {
        List<Outcome<Done>> removed = new ArrayList<>(batch.keys().size());
        for (ByteString key : batch.keys()) {
            removed.add(remove(key, batch.force(), batch.tenant()));
        }
        return removed;
    }

    /** Removes an object unless something forbids it; whether it did. */
    boolean removeIfPossible(int slot, boolean force, Fate fate) {
        if (!space.isValid(slot) || obstacle(slot, force) != null) {
            return false;
        }
        space.eraseUnderLease(slot, fate);
        return true;
    }

    private @Nullable StoreCode obstacle(int slot, boolean force) {
        if (!force && space.isLeased(slot)) {
            return StoreCode.OBJECT_HAS_LEASE;
        }
        if (objects.has(slot, ObjectTable.REPLICATING)) {
            // A target that is being written is a replica that is not ready (recorded).
            return space.hasTargets(slot)
                    ? StoreCode.REPLICA_IS_NOT_READY
                    : StoreCode.OBJECT_HAS_REPLICATION_TASK;
        }
        // Force does not help a writer's bytes to land in somebody else's object.
        return objects.has(slot, ObjectTable.IN_FLIGHT) ? StoreCode.REPLICA_IS_NOT_READY : null;
    }

    private Outcome<Done> refused(int slot, ByteString key, StoreCode obstacle) {
        if (obstacle == StoreCode.REPLICA_IS_NOT_READY
                && objects.has(slot, ObjectTable.REPLICATING)) {
            return Outcome.failed(
                    obstacle, "key " + key + " is being copied or moved; retry when that ended");
        }
        if (obstacle == StoreCode.REPLICA_IS_NOT_READY) {
            return Outcome.failed(
                    obstacle, "key " + key + " is being put by client " + objects.writer(slot));
        }
        if (obstacle == StoreCode.OBJECT_HAS_REPLICATION_TASK) {
            return Outcome.failed(
                    obstacle, "key " + key + " is being copied or moved; retry when that ended");
        }
        long until =
                Math.max(
                        Math.max(objects.existLeaseUntil(slot), objects.readLeaseUntil(slot)),
                        objects.leaseCount(slot) > 0 ? state.leases.latestEnd() : 0);
        return Outcome.failed(
                obstacle,
                "key "
                        + key
                        + " is leased for up to "
                        + TimeUnit.NANOSECONDS.toMillis(until - state.now)
                        + " ms; retry then, or use force");
    }

    /** {@code BatchReplicaClear}: only the caller's own unleased objects, default tenant only. */
    Outcome<List<ByteString>> clear(List<ByteString> keys, Uuid client, String segment) {
        List<ByteString> cleared = new ArrayList<>();
        for (ByteString key : keys) {
            int slot = objects.find(Tenants.DEFAULT, key.array());
            if (slot == NONE
                    || !space.isValid(slot)
                    || !objects.isWriter(slot, client)
                    || space.isLeased(slot)) {
                continue;
            }
            boolean done =
                    segment.isEmpty()
                            ? removeIfPossible(slot, false, Fate.CLEARED)
                            : clearOn(slot, segment);
            if (done) {
                cleared.add(key);
            }
        }
        return Outcome.ok(cleared);
    }

    private boolean clearOn(int slot, String name) {
        if (!objects.has(slot, ObjectTable.COMPLETE)
                || objects.has(slot, ObjectTable.REPLICATING)) {
            return false;
        }
        ObjectExtra extra = objects.extra(slot);
        List<Replica> others = extra == null ? List.of() : List.copyOf(extra.replicas);
        boolean found = false;
        for (Replica replica : others) {
            if (replica.complete && isNamed(replica.segment, name)) {
                space.loseReplica(slot, replica.segment, replica.allocation);
                found = true;
            }
        }
        if (isNamed(objects.segment(slot), name)) {
            space.loseReplica(slot, objects.segment(slot), objects.allocation(slot));
            found = true;
        }
        return found;
    }

    private boolean isNamed(int segment, String name) {
        return state.segments.at(segment).wire.name().equals(name);
    }
}
