package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.cassia.ReservedMessages.Commit;
import io.cassia.rpc.cassia.ReservedMessages.GiveBack;
import io.cassia.rpc.cassia.ReservedMessages.Reserved;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.Outcome.Failed;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;

/**
 * Confined to the master's lock. Space that a client has before it has a key to put there. It is
 * the record of a put in flight without a key, so that whatever ends such puts ends it too.
 *
 * <pre>
 *   free ──reserve──► reserved ──commit──► an object, readable
 *     ▲                  ├── commit refused, given back ──────────────────────► free
 *     └──────────────────┴── release timeout, its segment or its client goes ─► free, in time
 * </pre>
 */
final class Reservations {
    private static final int NONE = ObjectTable.NONE;

    /**
     * How long a put may begin to write to it, however patient the master is: who writes more
     * seldom saves too little to keep others' space for it.
     */
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(2);

    /**
     * One part in so many of the pool is reserved at most, for all clients together, and of a
     * tenant's quota: where an object is a large part of all, space for the next one would cost the
     * one that was just put.
     */
    private static final long SHARE = 8;

    private final CoreState state;
    private final ObjectTable objects;
    private final Space space;
    private final Writes writes;

    Reservations(CoreState state, Space space, Writes writes) {
        this.state = state;
        this.objects = state.objects;
        this.space = space;
        this.writes = writes;
    }

    /** Space for all that is wanted, or nothing. */
    Reserved reserve(Uuid client, ByteString tenant, Wanted wanted) {
        long nanos = Math.min(LONGEST_NANOS, state.config.putDiscardNanos() / 4);
        long ttlMs = TimeUnit.NANOSECONDS.toMillis(nanos);
        long bytes = sum(wanted.lengths());
        Args.PutStart all = put(client, tenant, bytes, wanted.placement());
        if (bytes == 0 || ttlMs == 0 || writes.check(all) != null || !isModest(all)) {
            return Reserved.NOTHING;
        }
        List<Integer> slots = new ArrayList<>(wanted.lengths().size());
        for (long length : wanted.lengths()) {
            int slot =
                    writes.reserve(
                            state.tenants.find(tenant),
                            put(client, tenant, length, wanted.placement()));
            if (slot == NONE) {
                slots.forEach(reserved -> space.erase(reserved, Fate.REVOKED));
                return Reserved.NOTHING;
            }
            slots.add(slot);
        }
        List<List<ReplicaDescriptor>> spaces = new ArrayList<>(slots.size());
        for (int slot : slots) {
            state.reserved.put(space.putOf(slot), slot);
            spaces.add(space.all(slot));
        }
        return new Reserved(
                ttlMs, TimeUnit.NANOSECONDS.toMillis(state.config.putReleaseNanos()), spaces);
    }

    /** Bytes of all; 0 when they are none, or more than a client may want. */
    private static long sum(List<Long> lengths) {
        long bytes = 0;
        for (long length : lengths) {
            if (length <= 0 || length > Wanted.MOST_BYTES - bytes) {
                return 0;
            }
            bytes += length;
        }
        return lengths.size() <= Wanted.MOST_OBJECTS ? bytes : 0;
    }

    /** Any key would do for the rules. */
    private static Args.PutStart put(
            Uuid client, ByteString tenant, long length, ReplicateConfig placement) {
        return new Args.PutStart(client, ByteString.of("any"), length, placement, tenant);
    }

    /** Whether it leaves the pool, and its tenant's part of it, to objects. */
    private boolean isModest(Args.PutStart all) {
        long bytes = writes.chargeOf(all);
        long pool = state.segments.capacityBytes() / SHARE - state.reservedBytes;
        int tenant = state.tenants.find(all.tenant());
        long own = state.tenants.effective(tenant) / SHARE - state.tenants.reserved(tenant);
        return bytes >= 0 && bytes <= Math.min(pool, own);
    }

    /** Makes objects of spaces that were written, each as a Start and an End would have. */
    List<Outcome<Long>> commit(Commit batch) {
        int count = batch.objects().size();
        if (batch.spaces().size() != count
                || batch.lengths().size() != count
                || batch.config().groupIds().map(List::size).orElse(count) != count) {
            return refuseAll(batch);
        }
        List<Outcome<Long>> committed = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int slot = find(batch.client(), batch.spaces().get(i));
            boolean fits =
                    slot != NONE
                            && objects.tenant(slot) == state.tenants.find(batch.tenant())
                            && objects.size(slot) == batch.lengths().get(i);
            committed.add(fits ? commit(batch, i, slot) : gone(batch.spaces().get(i)));
        }
        return committed;
    }

    private List<Outcome<Long>> refuseAll(Commit batch) {
        Done _ = giveBack(new GiveBack(batch.client(), batch.spaces()));
        String detail =
                "objects=%d lengths=%d spaces=%d group-ids=%d: the counts differ"
                        .formatted(
                                batch.objects().size(),
                                batch.lengths().size(),
                                batch.spaces().size(),
                                batch.config().groupIds().map(List::size).orElse(0));
        return Collections.nCopies(
                batch.objects().size(), Outcome.failed(StoreCode.INVALID_PARAMS, detail));
    }

    private Outcome<Long> commit(Commit batch, int item, int slot) {
        WrittenObject written = batch.objects().get(item);
        Args.PutStart put =
                new Args.PutStart(
                        batch.client(),
                        written.key(),
                        batch.lengths().get(item),
                        BatchStarts.configOf(batch.config(), item),
                        batch.tenant());
        List<Replica> replicas = space.take(slot);
        Outcome<List<ReplicaDescriptor>> started =
                mayHold(replicas, put)
                        ? startChecked(replicas, put, batch.upsert(), written)
                        : gone(batch.spaces().get(item)).as();
        if (started instanceof Failed<List<ReplicaDescriptor>> refused) {
            // The client has ended its writes.
            replicas.forEach(each -> space.release(each.segment, each.allocation, 0));
            return refused.as();
        }
        return writes.end(
                        batch.client(),
                        new ObjectMeta(written.key(), written.crc64()),
                        ReplicaType.ALL.number(),
                        batch.tenant(),
                        0,
                        written.sums())
                .map(done -> writes.versionOf(written.key(), batch.tenant()));
    }

    private Outcome<List<ReplicaDescriptor>> startChecked(
            List<Replica> replicas, Args.PutStart put, boolean upsert, WrittenObject written) {
        return CheckedObjects.fit(written.sums(), put.length())
                ? writes.startOn(replicas, put, upsert)
                : Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        "key %s: %d bytes of checksums for an object of %d bytes"
                                .formatted(written.key(), written.sums().length(), put.length()));
    }

    /** Whether a start would still go to such places, and to no more of them. */
    private boolean mayHold(List<Replica> replicas, Args.PutStart put) {
        for (Replica replica : replicas) {
            if (!state.segments.at(replica.segment).isAllocatable()) {
                return false;
            }
        }
        return writes.isWhole(put, replicas);
    }

    private static Failed<Long> gone(long id) {
        return Outcome.failed(
                StoreCode.INVALID_WRITE,
                "space " + id + " is not reserved for this client: it was given back or is gone");
    }

    /** The client writes nothing there any more. */
    Done giveBack(GiveBack given) {
        for (long id : given.spaces()) {
            int slot = find(given.client(), id);
            if (slot != NONE) {
                space.erase(slot, Fate.REVOKED);
            }
        }
        return Done.DONE;
    }

    /** The client is taken for dead, but may still be writing. */
    void dropAll(Uuid client) {
        drop(slot -> objects.isWriter(slot, client));
    }

    /** The tenant is to be no more; its clients may still be writing. */
    void dropAll(ByteString tenant) {
        int number = state.tenants.find(tenant);
        drop(slot -> objects.tenant(slot) == number);
    }

    private void drop(IntPredicate which) {
        int slot = state.reserved.isEmpty() ? NONE : state.recency.head(RecencyLists.IN_FLIGHT);
        while (slot != NONE) {
            int next = objects.next(slot);
            if (objects.has(slot, ObjectTable.RESERVED) && which.test(slot)) {
                space.erase(
                        slot, objects.stamp(slot) + state.config.putReleaseNanos(), Fate.REVOKED);
            }
            slot = next;
        }
    }

    private int find(Uuid client, long id) {
        Integer slot = state.reserved.get(id);
        return slot != null && objects.isWriter(slot, client) ? slot : NONE;
    }
}
