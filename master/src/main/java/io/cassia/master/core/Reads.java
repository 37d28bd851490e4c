package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.Acquire;
import io.cassia.rpc.cassia.CassiaMessages.Acquired;
import io.cassia.rpc.cassia.CassiaMessages.Explanation;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
import io.cassia.rpc.cassia.CassiaMessages.PrefixHit;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Confined to the master's lock. Lookups and the leases they give (spec mooncake-store 3.6, 3.7).
 *
 * <p>A read or an acquire is a use in the order of eviction; an exist is not, and its lease is the
 * weaker one (see {@link Evictor}).
 */
final class Reads {
    private static final int NONE = ObjectTable.NONE;
    private static final Outcome<Boolean> TRUE = Outcome.ok(true);
    private static final Outcome<Boolean> FALSE = Outcome.ok(false);

    // A miss is as common as a hit and the caller knows the key: no text is made for it.
    private static final Outcome.Failed<?> NOT_FOUND =
            Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no object has this key");

    private final CoreState state;
    private final ObjectTable objects;
    private final Space space;

    Reads(CoreState state, Space space) {
        this.state = state;
        this.objects = state.objects;
        this.space = space;
    }

    Outcome<Boolean> exist(ByteString key, ByteString tenant) {
        int slot = slotOf(key, tenant);
        if (slot == NONE || !space.isAlive(slot)) {
            return slot == NONE && state.tenants.find(tenant) == Tenants.MALFORMED
                    ? malformed(tenant)
                    : FALSE;
        }
        long until = state.now + state.config.leaseNanos();
        objects.setExistLeaseUntil(slot, until);
        for (int member : toRefresh(slot, objects.existLeaseUntil(slot))) {
            objects.setExistLeaseUntil(member, until);
        }
        return TRUE;
    }

    List<Outcome<Boolean>> existAll(Args.Keys keys) {
        List<Outcome<Boolean>> found = new ArrayList<>(keys.keys().size());
        for (ByteString key : keys.keys()) {
            found.add(exist(key, keys.tenant()));
        }
        return found;
    }

    private void hit(int slot) {
        state.counters.add(CoreCount.GET_HITS, 1);
        state.counters.add(CoreCount.GET_HIT_BYTES, state.objects.size(slot));
    }

    Outcome<ReplicaList> get(ByteString key, ByteString tenant) {
        int slot = slotOf(key, tenant);
        Outcome<List<ReplicaDescriptor>> found = lookUp(slot, key, tenant);
        state.counters.add(CoreCount.GETS, 1);
        if (found instanceof Outcome.Ok<List<ReplicaDescriptor>>(List<ReplicaDescriptor> list)) {
            lease(slot);
            hit(slot);
            return Outcome.ok(
                    new ReplicaList(
                            list,
                            TimeUnit.NANOSECONDS.toMillis(state.config.leaseNanos()),
                            checksum(slot)));
        }
        return ((Outcome.Failed<List<ReplicaDescriptor>>) found).as();
    }

    List<Outcome<ReplicaList>> getAll(Args.Keys keys) {
        List<Outcome<ReplicaList>> found = new ArrayList<>(keys.keys().size());
        for (ByteString key : keys.keys()) {
            found.add(get(key, keys.tenant()));
        }
        return found;
    }

    /** Gives a readable object the lease of a read, which is a use. */
    void lease(int slot) {
        leaseAlone(slot);
        for (int member : toRefresh(slot, objects.readLeaseUntil(slot))) {
            if (space.isReadable(member)) {
                leaseAlone(member);
            }
        }
    }

    /**
     * The other members of an object's group whose leases are at least half over; all of them when
     * one has joined since the last time.
     */
    private List<Integer> toRefresh(int slot, long until) {
        ObjectExtra extra = objects.extra(slot);
        GroupTable.Group group = extra == null ? null : extra.group;
        if (group == null) {
            return List.of();
        }
        long half = until - state.config.leaseNanos() / 2;
        List<Integer> members = new ArrayList<>();
        for (int member : group.members) {
            long lease = Math.max(objects.readLeaseUntil(member), objects.existLeaseUntil(member));
            if (member != slot && (group.joined || lease <= half)) {
                members.add(member);
            }
        }
        group.joined = false;
        return members;
    }

    private void leaseAlone(int slot) {
        objects.setReadLeaseUntil(slot, state.now + state.config.leaseNanos());
        int list = objects.list(slot);
        if (list != RecencyLists.IN_FLIGHT && list != RecencyLists.NO_LIST) {
            state.recency.use(slot, RecencyLists.READ);
        }
    }

    Acquired acquire(Acquire wanted) {
        long leaseNanos = leaseNanos(wanted.leaseTtlMs());
        int count = wanted.keys().size();
        int[] held = new int[count];
        int holds = 0;
        List<Outcome<List<ReplicaDescriptor>>> found = new ArrayList<>(count);
        boolean full = state.leases.isFull();
        for (ByteString key : wanted.keys()) {
            state.counters.add(CoreCount.GETS, 1);
            int slot = full ? NONE : slotOf(key, wanted.tenant());
            Outcome<List<ReplicaDescriptor>> one =
                    full ? tooManyLeases() : lookUp(slot, key, wanted.tenant());
            if (one.isOk()) {
                state.leases.hold(slot);
                hit(slot);
                held[holds++] = slot;
            } else if (wanted.prefixOnly()) {
                break;
            }
            found.add(one);
        }
        long id = holds == 0 ? 0 : state.leases.create(held, holds, state.now + leaseNanos);
        return new Acquired(id, TimeUnit.NANOSECONDS.toMillis(leaseNanos), found);
    }

    /** The leading readable keys, leased; one lease for all of them when it is counted. */
    Outcome<PrefixHit> longestPrefix(LongestPrefix wanted, long leaseId) {
        if (state.tenants.find(wanted.tenant()) == Tenants.MALFORMED) {
            return malformed(wanted.tenant());
        }
        if (leaseId != 0 && !state.leases.isLive(leaseId)) {
            return Outcome.failed(
                    StoreCode.LEASE_EXPIRED,
                    "the lease of the first keys ended before the last ones were looked up");
        }
        if (wanted.counted() && leaseId == 0 && state.leases.isFull()) {
            return tooManyLeases();
        }
        long leaseNanos =
                wanted.counted() ? leaseNanos(wanted.leaseTtlMs()) : state.config.leaseNanos();
        long leaseMs = TimeUnit.NANOSECONDS.toMillis(leaseNanos);
        int[] held = new int[wanted.keys().size()];
        int count = 0;
        List<Outcome<ReplicaList>> objectsFound = new ArrayList<>();
        for (ByteString key : wanted.keys()) {
            state.counters.add(CoreCount.GETS, 1);
            int slot = slotOf(key, wanted.tenant());
            if (slot == NONE || !space.isAlive(slot)) {
                break;
            }
            hit(slot);
            if (wanted.withReplicas()) {
                objectsFound.add(
                        Outcome.ok(new ReplicaList(space.readable(slot), leaseMs, checksum(slot))));
            }
            if (wanted.counted()) {
                state.leases.hold(slot);
            } else {
                lease(slot);
            }
            held[count++] = slot;
        }
        long id = leaseId;
        if (wanted.counted() && count > 0) {
            if (leaseId == 0) {
                id = state.leases.create(held, count, state.now + leaseNanos);
            } else {
                state.leases.extend(leaseId, held, count);
            }
        }
        return Outcome.ok(new PrefixHit(count, id, leaseMs, objectsFound));
    }

    /** A counted lease may be shorter than the default, never longer. */
    private long leaseNanos(long wantedMs) {
        long standard = state.config.leaseNanos();
        boolean shorter = wantedMs > 0 && wantedMs < TimeUnit.NANOSECONDS.toMillis(standard);
        return shorter ? TimeUnit.MILLISECONDS.toNanos(wantedMs) : standard;
    }

    /** What became of a key, for people: no lease, no use. */
    Outcome<Explanation> explain(ByteString key, ByteString tenant) {
        int number = state.tenants.find(tenant);
        if (number == Tenants.MALFORMED) {
            return malformed(tenant);
        }
        ByteString name = number == Tenants.DEFAULT ? Tenants.DEFAULT_NAME : tenant;
        int slot = number < 0 ? NONE : objects.find(number, key.array());
        boolean readable = slot != NONE && space.isReadable(slot);
        return Outcome.ok(
                new Explanation(
                        describe(slot),
                        readable,
                        state.decisions.find(name, key.array(), state.now)));
    }

    private String describe(int slot) {
        if (slot == NONE || !space.isValid(slot)) {
            return "absent";
        }
        String writing =
                objects.has(slot, ObjectTable.IN_FLIGHT)
                        ? "; being written by client " + objects.writer(slot)
                        : "";
        String pins =
                (objects.has(slot, ObjectTable.HARD_PIN) ? "; hard-pinned" : "")
                        + (space.isLeased(slot) ? "; leased" : "");
        String silent =
                space.isReadable(slot) && !space.isAlive(slot)
                        ? "; the clients that hold it are silent"
                        : "";
        return (space.isReadable(slot) ? "readable" : "not readable")
                + "; replicas="
                + space.replicaCount(slot)
                + writing
                + silent
                + pins;
    }

    private <T> Outcome<T> tooManyLeases() {
        return Outcome.failed(
                StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                "leases=" + state.leases.count() + ", which is the limit; release some");
    }

    private Outcome<List<ReplicaDescriptor>> lookUp(int slot, ByteString key, ByteString tenant) {
        if (slot == NONE || !space.isValid(slot)) {
            return state.tenants.find(tenant) == Tenants.MALFORMED
                    ? malformed(tenant)
                    : NOT_FOUND.as();
        }
        List<ReplicaDescriptor> readable = space.readable(slot);
        if (readable.isEmpty()) {
            return Outcome.failed(
                    StoreCode.REPLICA_IS_NOT_READY,
                    "key "
                            + key
                            + " is being put by client "
                            + objects.writer(slot)
                            + "; try again later");
        }
        return Outcome.ok(readable);
    }

    Outcome<List<ReplicaDescriptor>> find(ByteString key, ByteString tenant) {
        return lookUp(slotOf(key, tenant), key, tenant);
    }

    boolean isPresent(ByteString key, ByteString tenant) {
        int slot = slotOf(key, tenant);
        return slot != NONE && space.isValid(slot);
    }

    private int slotOf(ByteString key, ByteString tenant) {
        int number = state.tenants.find(tenant);
        return number < 0 ? NONE : objects.find(number, key.array());
    }

    private OptionalLong checksum(int slot) {
        return objects.has(slot, ObjectTable.HAS_CHECKSUM)
                ? OptionalLong.of(objects.checksum(slot))
                : OptionalLong.empty();
    }

    private static <T> Outcome<T> malformed(ByteString tenant) {
        return Outcome.failed(StoreCode.INVALID_PARAMS, "malformed tenant name " + tenant);
    }
}
