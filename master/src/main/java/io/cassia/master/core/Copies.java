package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.CopyStartResult;
import io.cassia.rpc.mooncake.MoveStartResult;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Copies and moves of replicas, which clients carry out: the start
 * reserves space at the targets, the end makes them replicas (spec mooncake-store 3.9). While one
 * is under way the object is neither evicted nor removed nor replaced.
 */
final class Copies {
    private static final int NONE = ObjectTable.NONE;

    private final CoreState state;
    private final ObjectTable objects;
    private final Space space;

    Copies(CoreState state, Space space) {
        this.state = state;
        this.objects = state.objects;
        this.space = space;
    }

    Outcome<CopyStartResult> startCopy(Args.CopyStart copy) {
        return start(
                        Replication.Kind.COPY,
                        copy.client(),
                        copy.key(),
                        copy.tenant(),
                        copy.source(),
                        copy.targets())
                .map(slot -> new CopyStartResult(source(slot), targets(slot)));
    }

    Outcome<MoveStartResult> startMove(Args.MoveStart move) {
        if (move.source().equals(move.target())) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "key " + move.key() + ": source and target are both " + move.source());
        }
        return start(
                        Replication.Kind.MOVE,
                        move.client(),
                        move.key(),
                        move.tenant(),
                        move.source(),
                        List.of(move.target()))
                .map(slot -> new MoveStartResult(source(slot), targets(slot).stream().findFirst()));
    }

    private Outcome<Integer> start(
            Replication.Kind kind,
            Uuid client,
            ByteString key,
            ByteString tenant,
            String source,
            List<String> targets) {
        Failed<Integer> refused = state.tenants.checkRegistered(tenant);
        for (String target : targets) {
            refused =
                    refused == null
                            ? state.segments.checkTarget(target, StoreCode.SEGMENT_NOT_FOUND)
                            : refused;
        }
        if (refused != null) {
            return refused;
        }
        int slot = find(key, tenant);
        if (slot == NONE) {
            return notFound(key);
        }
        if (objects.has(slot, ObjectTable.REPLICATING)) {
            return Outcome.failed(
                    StoreCode.OBJECT_HAS_REPLICATION_TASK,
                    "key " + key + " is already being copied or moved");
        }
        if (objects.has(slot, ObjectTable.COMPLETE) && objects.has(slot, ObjectTable.IN_FLIGHT)) {
            return Outcome.failed(
                    StoreCode.OBJECT_REPLICA_BUSY,
                    "a new version of key " + key + " is being written; retry when it is there");
        }
        long sourceId = findReplica(slot, source);
        if (sourceId == 0) {
            return Outcome.failed(
                    StoreCode.REPLICA_NOT_FOUND,
                    "key " + key + " has no complete replica on segment " + source);
        }
        return reserve(kind, client, slot, sourceId, targets);
    }

    private Outcome<Integer> reserve(
            Replication.Kind kind, Uuid client, int slot, long sourceId, List<String> names) {
        long size = objects.size(slot);
        List<String> missing = new ArrayList<>();
        for (String name : names) {
            if (!missing.contains(name) && findReplica(slot, name) == 0) {
                missing.add(name);
            }
        }
        ByteString key = ByteString.wrap(objects.key(slot));
        Failed<Integer> refused =
                state.tenants.checkQuota(objects.tenant(slot), size * missing.size(), key);
        if (refused != null) {
            return refused;
        }
        List<Replica> targets = new ArrayList<>(missing.size());
        for (String name : missing) {
            Replica replica = allocate(name, size);
            if (replica == null) {
                targets.forEach(got -> space.release(got.segment, got.allocation, 0));
                return Outcome.failed(
                        StoreCode.NO_AVAILABLE_HANDLE,
                        "segment " + name + " has no room for " + size + " bytes of key " + key);
            }
            targets.add(replica);
        }
        for (Replica target : targets) {
            state.segments.at(target.segment).allocator.setOwner(target.allocation, slot);
        }
        Replication copy = new Replication(kind, client, state.now, sourceId, targets);
        state.inFlight(objects.tenant(slot), size * targets.size());
        objects.requireExtra(slot).replication = copy;
        objects.set(slot, ObjectTable.REPLICATING);
        state.recency.move(slot, RecencyLists.NO_LIST);
        state.replications.put(slot, copy);
        return Outcome.ok(slot);
    }

    private @Nullable Replica allocate(String name, long size) {
        SegmentGroup group = state.segments.findGroup(name);
        if (group == null) {
            return null;
        }
        for (MountedSegment segment : group.segments) {
            long allocation = state.segments.allocate(segment, size);
            if (allocation != OffsetAllocator.NO_SPACE) {
                return new Replica(
                        state.nextReplicaId(),
                        segment.index,
                        allocation,
                        segment.allocator.offset(allocation));
            }
        }
        return null;
    }

    /** The id of the complete, readable replica on a segment of this name; 0 when there is none. */
    private long findReplica(int slot, String name) {
        if (objects.has(slot, ObjectTable.COMPLETE) && isServing(objects.segment(slot), name)) {
            return objects.replicaId(slot);
        }
        ObjectExtra extra = objects.extra(slot);
        if (extra != null) {
            for (Replica replica : extra.replicas) {
                if (replica.complete && isServing(replica.segment, name)) {
                    return replica.id;
                }
            }
        }
        return 0;
    }

    private boolean isServing(int index, String name) {
        MountedSegment segment = state.segments.at(index);
        return segment.isReadable() && segment.wire.name().equals(name);
    }

    private ReplicaDescriptor source(int slot) {
        long id = replication(slot).sourceId;
        for (ReplicaDescriptor replica : space.readable(slot)) {
            if (replica.id() == id) {
                return replica;
            }
        }
        throw new IllegalStateException("the source was there a moment ago");
    }

    private List<ReplicaDescriptor> targets(int slot) {
        List<ReplicaDescriptor> found = new ArrayList<>();
        for (Replica target : replication(slot).targets) {
            found.add(space.descriptor(target, objects.size(slot)));
        }
        return found;
    }

    private Replication replication(int slot) {
        ObjectExtra extra = objects.extra(slot);
        if (extra == null || extra.replication == null) {
            throw new IllegalStateException("slot " + slot + " is not being copied");
        }
        return extra.replication;
    }

    /**
     * Ends a copy or move.
     *
     * @param number {@link Replication#number} of the one that is meant; 0 when the client does not
     *     say
     */
    Outcome<Done> end(Replication.Kind kind, Args.ClientKey args, long number) {
        int slot = find(args.key(), args.tenant());
        Failed<Done> refused = checkEnd(slot, kind, args, number);
        if (refused != null) {
            return refused;
        }
        Replication copy = replication(slot);
        boolean sourceThere = isThere(slot, copy.sourceId);
        // A move to where a replica was already has nothing to commit, and that one may be gone
        // now.
        boolean targetThere =
                !copy.targetLost
                        && (kind == Replication.Kind.COPY
                                || !copy.targets.isEmpty()
                                || isElsewhere(slot, copy.sourceId));
        boolean whole = sourceThere && targetThere;
        if (!sourceThere || (copy.targetLost && kind == Replication.Kind.MOVE)) {
            space.dropReplication(slot, 0);
        } else {
            space.commitReplication(slot);
        }
        if (whole && kind == Replication.Kind.MOVE) {
            space.dropReplica(slot, copy.sourceId, space.leasedUntil(slot));
        }
        backToRest(slot);
        if (whole) {
            state.counters.add(CoreCount.REPLICATIONS_DONE, 1);
            return Outcome.done();
        }
        return Outcome.failed(
                StoreCode.REPLICA_IS_GONE,
                "key "
                        + args.key()
                        + ": the "
                        + (sourceThere ? "segment of a target" : "source")
                        + " went away during the "
                        + (kind == Replication.Kind.COPY ? "copy" : "move"));
    }

    private boolean isElsewhere(int slot, long id) {
        return space.readable(slot).stream().anyMatch(replica -> replica.id() != id);
    }

    private boolean isThere(int slot, long id) {
        return space.readable(slot).stream().anyMatch(replica -> replica.id() == id);
    }

    /**
     * Ends a copy or move without effect; {@code number} is that of {@link #end}. The targets'
     * space comes back when the term of the copy is over.
     */
    Outcome<Done> revoke(Replication.Kind kind, Args.ClientKey args, long number) {
        int slot = find(args.key(), args.tenant());
        Failed<Done> refused = checkEnd(slot, kind, args, number);
        if (refused != null) {
            return refused;
        }
        // Who takes a copy back may have given up waiting for a write that is still on its way.
        long term = replication(slot).startNanos + state.config.putReleaseNanos();
        space.dropReplication(slot, term);
        backToRest(slot);
        return Outcome.done();
    }

    private @Nullable Failed<Done> checkEnd(
            int slot, Replication.Kind kind, Args.ClientKey args, long number) {
        if (slot == NONE) {
            return notFound(args.key());
        }
        if (!objects.has(slot, ObjectTable.REPLICATING)) {
            return Outcome.failed(
                    StoreCode.OBJECT_NO_REPLICATION_TASK,
                    "no copy or move of key " + args.key() + " is under way");
        }
        Replication copy = replication(slot);
        if (!copy.client.equals(args.client())) {
            return Outcome.failed(
                    StoreCode.ILLEGAL_CLIENT,
                    "key "
                            + args.key()
                            + " is being copied or moved by client "
                            + copy.client
                            + ", not by "
                            + args.client());
        }
        if (copy.kind != kind) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "key " + args.key() + ": what is under way is a " + copy.kind);
        }
        if (number != 0 && copy.number != number) {
            return Outcome.failed(
                    StoreCode.INVALID_WRITE,
                    "copy or move "
                            + number
                            + " of key "
                            + args.key()
                            + " is over: another one is under way");
        }
        return null;
    }

    /** Gives up what did not end in time; true when there is more. */
    boolean reap(int budget) {
        for (int i = 0; i < budget; i++) {
            Map.Entry<Integer, Replication> first = state.replications.firstEntry();
            if (first == null
                    || first.getValue().startNanos + state.config.putReleaseNanos() > state.now) {
                return false;
            }
            giveUp(first.getKey(), 0);
        }
        return true;
    }

    /** Gives up what a dead client had under way; it may go on writing for some time. */
    void giveUpAll(Uuid client) {
        for (Map.Entry<Integer, Replication> each : List.copyOf(state.replications.entrySet())) {
            if (each.getValue().client.equals(client)) {
                giveUp(each.getKey(), state.now + state.config.putReleaseNanos());
            }
        }
    }

    private void giveUp(int slot, long freeAt) {
        state.counters.add(CoreCount.REPLICATIONS_DROPPED, 1);
        space.dropReplication(slot, freeAt);
        backToRest(slot);
    }

    private void backToRest(int slot) {
        objects.trimExtra(slot);
        state.recency.use(slot, space.restingList(slot));
    }

    private int find(ByteString key, ByteString tenant) {
        int number = state.tenants.find(tenant);
        int slot = number < 0 ? NONE : objects.find(number, key.array());
        return slot != NONE && space.isValid(slot) ? slot : NONE;
    }

    private static <T> Failed<T> notFound(ByteString key) {
        return Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no object has the key " + key);
    }
}
