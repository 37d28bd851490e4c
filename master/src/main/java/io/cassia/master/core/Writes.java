package io.cassia.master.core;

import io.cassia.base.ByteString;
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
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the master's lock. Puts and upserts from start to end (spec mooncake-store 3.2 to
 * 3.4).
 *
 * <pre>
 *   absent ──start──► in flight ──end──► complete ──upsert start──► complete + new version in flight
 *                      │   ▲                 ▲                            │ end: the new one replaces
 *          revoke, release timeout           └── revoke, release timeout ─┤ the old one
 * </pre>
 */
final class Writes {
    private static final int NONE = ObjectTable.NONE;

    /** Time between two messages about a full pool. */
    private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final CoreState state;
    private final ObjectTable objects;
    private final Space space;
    private final Placer placer;
    private final Evictor evictor;
    private final TenantRoom tenantRoom;
    private long untold;
    private long tellAt;

    Writes(CoreState state, Space space, Placer placer, Evictor evictor) {
        this.state = state;
        this.objects = state.objects;
        this.space = space;
        this.placer = placer;
        this.evictor = evictor;
        this.tenantRoom = new TenantRoom(state, evictor);
    }

    /** Where the replicas of a write that may start come from. */
    private interface Places {
        Outcome<List<Replica>> of(int tenant, Args.PutStart put);
    }

    Outcome<List<ReplicaDescriptor>> start(Args.PutStart put, boolean upsert) {
        return start(put, upsert, this::place);
    }

    /** Starts where the bytes are already; the replicas stay the caller's when it is refused. */
    Outcome<List<ReplicaDescriptor>> startOn(
            List<Replica> written, Args.PutStart put, boolean upsert) {
        return start(put, upsert, (tenant, same) -> admit(tenant, same, written));
    }

    private Outcome<List<ReplicaDescriptor>> start(
            Args.PutStart put, boolean upsert, Places places) {
        Failed<List<ReplicaDescriptor>> refused = check(put);
        return refused == null
                ? startIn(state.tenants.find(put.tenant()), put, upsert, places)
                : refused;
    }

    /** Null when nothing but the state of the key and the space can refuse the write. */
    @Nullable Failed<List<ReplicaDescriptor>> check(Args.PutStart put) {
        Failed<List<ReplicaDescriptor>> refused = state.tenants.checkName(put.tenant());
        refused = refused == null ? PutRules.check(put, state.config) : refused;
        return refused == null ? state.tenants.checkRegistered(put.tenant()) : refused;
    }

    private Outcome<List<ReplicaDescriptor>> startIn(
            int tenant, Args.PutStart put, boolean upsert, Places places) {
        int slot = objects.find(tenant, put.key().array());
        if (slot != NONE) {
            slot = space.settle(slot);
        }
        // What only silent clients hold may be gone: a put replaces it without giving it up before.
        boolean replaces = upsert || (slot != NONE && isHeldBySilentOnly(slot));
        if (slot != NONE && replaces && objects.has(slot, ObjectTable.COMPLETE)) {
            return startUpsert(slot, put, places);
        }
        if (slot != NONE) {
            Failed<List<ReplicaDescriptor>> refused = upsert ? null : refuseExisting(slot, put);
            if (refused != null) {
                return refused;
            }
        }
        return startNew(tenant, put, slot, upsert, places);
    }

    private boolean isHeldBySilentOnly(int slot) {
        return space.isReadable(slot)
                && !space.isAlive(slot)
                && !objects.has(slot, ObjectTable.IN_FLIGHT | ObjectTable.REPLICATING);
    }

    private @Nullable Failed<List<ReplicaDescriptor>> refuseExisting(int slot, Args.PutStart put) {
        if (objects.has(slot, ObjectTable.COMPLETE)) {
            return Outcome.failed(
                    StoreCode.OBJECT_ALREADY_EXISTS, "a complete object has this key");
        }
        long age = state.now - objects.stamp(slot);
        if (age <= state.config.putDiscardNanos()) {
            return Outcome.failed(
                    StoreCode.OBJECT_ALREADY_EXISTS,
                    "key "
                            + put.key()
                            + " is being put by client "
                            + objects.writer(slot)
                            + " for "
                            + TimeUnit.NANOSECONDS.toMillis(age)
                            + " ms; it can be taken over after "
                            + TimeUnit.NANOSECONDS.toMillis(state.config.putDiscardNanos())
                            + " ms");
        }
        return null;
    }

    /** Starts where nothing is, or takes an unfinished put over once there is room. */
    private Outcome<List<ReplicaDescriptor>> startNew(
            int tenant, Args.PutStart put, int unfinished, boolean upsert, Places places) {
        long bytes = unfinished == NONE ? 0 : objects.memoryBytes(unfinished);
        Outcome<List<Replica>> room = placeInstead(tenant, put, unfinished, bytes, places);
        if (room instanceof Failed<List<Replica>> failed) {
            return failed.as();
        }
        if (unfinished != NONE) {
            long startedAt = upsert ? state.now : objects.stamp(unfinished);
            space.erase(unfinished, startedAt + state.config.putReleaseNanos(), Fate.TAKEN_OVER);
            state.counters.add(CoreCount.PUT_DISCARDED, 1);
        }
        List<Replica> placed = room.orThrow();
        int slot = objects.create(tenant, put.key().array());
        state.tenants.objectCreated(tenant);
        PutTraits traits = PutRules.traits(put.config(), state.config);
        hold(slot, put, placed);
        objects.setDataType(slot, traits.dataType());
        if (traits.hardPin()) {
            objects.set(slot, ObjectTable.HARD_PIN);
        }
        if (traits.softPinNanos() > 0) {
            objects.requireExtra(slot).pendingSoftPinNanos = traits.softPinNanos();
        }
        ByteString group = PutRules.group(put.config());
        if (!group.isEmpty()) {
            objects.requireExtra(slot).group = state.groups.join(slot, tenant, group);
        }
        space.account(slot, 1);
        state.recency.move(slot, RecencyLists.IN_FLIGHT);
        return Outcome.ok(space.all(slot));
    }

    /** Gives a new record its place and its writer, in flight from now on. */
    private void hold(int slot, Args.PutStart put, List<Replica> placed) {
        state.tenantOrder.add(slot);
        objects.setSize(slot, put.length());
        objects.setWriter(slot, put.client());
        objects.setStamp(slot, state.now);
        objects.set(slot, ObjectTable.IN_FLIGHT);
        Replica first = placed.getFirst();
        objects.setReplica(slot, first.id, first.segment, first.allocation, first.offset);
        if (placed.size() > 1) {
            objects.requireExtra(slot).replicas.addAll(placed.subList(1, placed.size()));
        }
        own(slot, placed);
    }

    /**
     * Space for a write without a key yet, as many replicas as there can be; {@link
     * ObjectTable#NONE} when that costs more than objects that nothing protects. It is in flight
     * from now on, as a put is.
     */
    int reserve(int tenant, Args.PutStart put) {
        long bytes = chargeOf(put);
        int[] plan = tenantRoom.plan(tenant, bytes, Room.UNPROTECTED);
        if (plan == null || !recordFits(0)) {
            return NONE;
        }
        List<Replica> placed = placeWithin(tenant, put, plan, bytes, Room.UNPROTECTED);
        if (placed.isEmpty() || !isWhole(put, placed)) {
            release(placed);
            return NONE;
        }
        int slot = objects.reserve(tenant);
        hold(slot, put, placed);
        space.account(slot, 1);
        state.recency.move(slot, RecencyLists.IN_FLIGHT);
        return slot;
    }

    /** Whether a start would not give more replicas now. */
    boolean isWhole(Args.PutStart put, List<Replica> placed) {
        return placed.size() >= wantedReplicas(put);
    }

    private Outcome<List<ReplicaDescriptor>> startUpsert(
            int slot, Args.PutStart put, Places places) {
        ObjectExtra extra = objects.extra(slot);
        ByteString group =
                extra == null || extra.group == null ? ByteString.EMPTY : extra.group.text;
        if (put.config().groupIds().isPresent() && !PutRules.group(put.config()).equals(group)) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "key " + put.key() + " is in group '" + group + "', which cannot change");
        }
        if (objects.has(slot, ObjectTable.REPLICATING)) {
            return Outcome.failed(
                    StoreCode.OBJECT_HAS_REPLICATION_TASK,
                    "key " + put.key() + " is being copied or moved; retry when that has ended");
        }
        boolean preempts = objects.has(slot, ObjectTable.IN_FLIGHT);
        // So that making room does not take the old version.
        objects.set(slot, ObjectTable.IN_FLIGHT);
        Outcome<List<Replica>> room =
                placeInstead(objects.tenant(slot), put, slot, upsertBytes(extra), places);
        if (room instanceof Failed<List<Replica>> failed) {
            if (!preempts) {
                objects.clear(slot, ObjectTable.IN_FLIGHT);
            }
            return failed.as();
        }
        preempt(slot);
        state.recency.move(slot, RecencyLists.IN_FLIGHT);
        List<Replica> placed = room.orThrow();
        PutTraits traits = PutRules.traits(put.config(), state.config);
        objects.requireExtra(slot).upsert =
                new Upsert(put.client(), state.now, put.length(), traits, placed);
        own(slot, placed);
        state.inFlight(objects.tenant(slot), put.length() * placed.size());
        List<ReplicaDescriptor> descriptors = new ArrayList<>(placed.size());
        for (Replica replica : placed) {
            descriptors.add(space.descriptor(replica, put.length()));
        }
        return Outcome.ok(descriptors);
    }

    /** A writer in flight loses its upsert at once, but may go on writing to its space. */
    private void preempt(int slot) {
        ObjectExtra extra = objects.extra(slot);
        if (extra != null && extra.upsert != null) {
            markLost(slot, extra.upsert);
            space.dropUpsert(slot, state.now + state.config.putReleaseNanos());
        }
    }

    /** An End of the lost upsert must not pass for a repeated End of the current version. */
    private void markLost(int slot, Upsert upsert) {
        if (objects.isWriter(slot, upsert.writer)) {
            objects.set(slot, ObjectTable.UPSERT_LOST);
        }
    }

    private static long upsertBytes(@Nullable ObjectExtra extra) {
        Upsert upsert = extra == null ? null : extra.upsert;
        return upsert == null ? 0 : upsert.size * upsert.replicas.size();
    }

    /**
     * Space for a write. Nothing has changed when there is none, but for what was evicted in vain.
     *
     * @param replaced the object with its key, if there is one
     * @param givesUp bytes in flight of that object that count no more once this write has started
     */
    private Outcome<List<Replica>> placeInstead(
            int tenant, Args.PutStart put, int replaced, long givesUp, Places places) {
        state.tenants.charge(tenant, -givesUp);
        Outcome<List<Replica>> room =
                replaced != NONE || makeMetadataRoom(put.key().length())
                        ? places.of(tenant, put)
                        : noSpace(put, metadataLimit(put.key().length()));
        state.tenants.charge(tenant, givesUp);
        return room;
    }

    private Outcome<List<Replica>> place(int tenant, Args.PutStart put) {
        long bytes = chargeOf(put);
        int[] plan = tenantRoom.plan(tenant, bytes, Room.DEMANDED);
        if (plan == null) {
            return overQuota(tenant, put, bytes);
        }
        List<Replica> placed = placeWithin(tenant, put, plan, bytes, Room.DEMANDED);
        if (placed.isEmpty()) {
            return noSpace(put, "");
        }
        if (placed.size() < put.config().replicaNum()) {
            state.counters.add(CoreCount.PUT_PARTIAL_ALLOCATIONS, 1);
        }
        return Outcome.ok(placed);
    }

    /** What is written already counts for its tenant as what will be written does. */
    private Outcome<List<Replica>> admit(int tenant, Args.PutStart put, List<Replica> written) {
        long bytes = put.length() * written.size();
        int[] plan = tenantRoom.plan(tenant, bytes, Room.DEMANDED);
        if (plan == null) {
            return overQuota(tenant, put, bytes);
        }
        tenantRoom.carryOut(plan, tenant, bytes);
        return Outcome.ok(written);
    }

    private Outcome<List<Replica>> overQuota(int tenant, Args.PutStart put, long bytes) {
        state.counters.add(CoreCount.TENANT_REJECTS, 1);
        return state.tenants.overQuota(
                tenant, bytes, put.key(), "; evicting its own objects would not do");
    }

    /** The tenant's own objects go before those of others, but only if there is a place at all. */
    private List<Replica> placeWithin(
            int tenant, Args.PutStart put, int[] plan, long bytes, Room room) {
        if (!state.tenants.isEnabled()) {
            return placeFor(put, room);
        }
        List<Replica> placed = placeFor(put, Room.FREE);
        if (placed.size() == wantedReplicas(put)) {
            tenantRoom.carryOut(plan, tenant, bytes);
            return placed;
        }
        release(placed);
        if (!placer.couldEverFit(put.length())) {
            return List.of();
        }
        tenantRoom.carryOut(plan, tenant, bytes);
        return placeFor(put, room);
    }

    private void release(List<Replica> placed) {
        placed.forEach(replica -> space.release(replica.segment, replica.allocation, 0));
    }

    /** Negative when it exceeds all bounds. */
    long chargeOf(Args.PutStart put) {
        long replicas = Math.max(1, wantedReplicas(put));
        return Math.multiplyHigh(put.length(), replicas) == 0 ? put.length() * replicas : -1;
    }

    /** More replicas than names cannot be had. */
    private long wantedReplicas(Args.PutStart put) {
        long wanted = put.config().replicaNum();
        long names = state.segments.groups().size();
        return wanted < 0 ? names : Math.min(wanted, names);
    }

    private List<Replica> placeFor(Args.PutStart put, Room room) {
        ReplicateConfig config = put.config();
        List<String> preferred =
                config.preferredSegment().isEmpty()
                        ? config.preferredSegments()
                        : List.of(config.preferredSegment());
        List<Replica> placed =
                placer.place(put.length(), config.replicaNum(), preferred, config.hostId(), room);
        boolean tooFew = state.config.allReplicas() && placed.size() != config.replicaNum();
        if (tooFew && room != Room.FREE) {
            release(placed);
            return List.of();
        }
        return placed;
    }

    /** The heap and the number of objects are limits like the segments: old objects go. */
    private boolean makeMetadataRoom(int keyLength) {
        if (fits(keyLength)) {
            return true;
        }
        evictor.begin(true);
        while (!fits(keyLength)) {
            int victim = evictor.next();
            if (victim == NONE) {
                return false;
            }
            evictor.evict(victim, Fate.EVICTED_FOR_COUNT);
        }
        state.counters.add(CoreCount.EVICTIONS_SUCCESSFUL, 1);
        return true;
    }

    private boolean fits(int keyLength) {
        long most = state.config.maxObjects();
        return recordFits(keyLength) && (most == 0 || objects.count() < most);
    }

    private boolean recordFits(int keyLength) {
        return state.metadataBytes + Space.metadataBytes(keyLength)
                <= state.config.maxMetadataBytes();
    }

    /** Which limit of objects keeps one more out. */
    private String metadataLimit(int keyLength) {
        return !recordFits(keyLength)
                ? "; metadata=" + state.metadataBytes + " bytes, which is the limit"
                : "; objects=" + objects.count() + ", which is the limit";
    }

    private <T> Outcome<T> noSpace(Args.PutStart put, String why) {
        state.counters.add(CoreCount.PUT_ALLOCATION_FAILURES, 1);
        String detail =
                "key "
                        + put.key()
                        + ": "
                        + placer.describe(put.length(), put.config().replicaNum())
                        + why;
        tell(detail);
        return Outcome.failed(StoreCode.NO_AVAILABLE_HANDLE, detail);
    }

    /** For the log, now and then. */
    private void tell(String why) {
        untold++;
        if (state.now >= tellAt) {
            state.effects.add(new Effect.EvictionFruitless(untold, why));
            untold = 0;
            tellAt = state.now + TELL_NANOS;
        }
    }

    private void own(int slot, List<Replica> replicas) {
        for (Replica replica : replicas) {
            state.segments.at(replica.segment).allocator.setOwner(replica.allocation, slot);
        }
    }

    Outcome<Done> end(Uuid client, ObjectMeta meta, int replicaType, ByteString tenant, long put) {
        return end(client, meta, replicaType, tenant, put, ByteString.EMPTY);
    }

    /**
     * Ends a put or upsert.
     *
     * @param put id of the first replica that its Start answered; 0 when the client does not say
     * @param sums checksums of the chunks; empty when the client gives none
     */
    Outcome<Done> end(
            Uuid client,
            ObjectMeta meta,
            int replicaType,
            ByteString tenant,
            long put,
            ByteString sums) {
        int slot = findValid(tenant, meta.key());
        if (slot == NONE) {
            return notFound(meta.key());
        }
        ObjectExtra extra = objects.extra(slot);
        Upsert upsert = extra == null ? null : extra.upsert;
        if (!(upsert == null ? objects.isWriter(slot, client) : upsert.writer.equals(client))) {
            return illegalClient(slot, client, meta.key());
        }
        if (isStale(slot, put)) {
            return stale(meta.key(), put);
        }
        boolean memory = addressesMemory(replicaType);
        if (!objects.has(slot, ObjectTable.IN_FLIGHT)) {
            return memory && !objects.has(slot, ObjectTable.UPSERT_LOST)
                    ? Outcome.done()
                    : notInFlight(meta.key());
        }
        if (!memory) {
            return Outcome.done();
        }
        long size = upsert == null ? objects.size(slot) : upsert.size;
        if (!CheckedObjects.fit(sums, size)) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "key %s: %d bytes of checksums for an object of %d bytes"
                            .formatted(meta.key(), sums.length(), size));
        }
        if (extra != null && upsert != null) {
            if (upsert.replicas.isEmpty()) {
                dropLostUpsert(slot);
                return notInFlight(meta.key());
            }
            completeUpsert(slot, extra, upsert);
        } else {
            completePut(slot);
        }
        state.versions.begin(slot, sums);
        meta.objectChecksum()
                .ifPresentOrElse(
                        sum -> {
                            objects.setChecksum(slot, sum);
                            objects.set(slot, ObjectTable.HAS_CHECKSUM);
                        },
                        () -> objects.clear(slot, ObjectTable.HAS_CHECKSUM));
        return Outcome.done();
    }

    private void completePut(int slot) {
        space.account(slot, -1);
        objects.set(slot, ObjectTable.COMPLETE);
        ObjectExtra extra = objects.extra(slot);
        if (extra != null) {
            extra.replicas.forEach(replica -> replica.complete = true);
            if (extra.pendingSoftPinNanos > 0) {
                extra.softPinUntil = state.now + extra.pendingSoftPinNanos;
                extra.pendingSoftPinNanos = 0;
            }
        }
        space.account(slot, 1);
        space.event(true, slot);
        objects.clear(slot, ObjectTable.IN_FLIGHT);
        objects.trimExtra(slot);
        state.recency.use(slot, space.restingListOfNew(slot));
    }

    private void completeUpsert(int slot, ObjectExtra extra, Upsert upsert) {
        upsert.replicas.forEach(replica -> replica.complete = true);
        space.replaceVersion(slot, extra, upsert, space.leasedUntil(slot));
        objects.clear(slot, ObjectTable.UPSERT_LOST);
        long pin = upsert.traits.softPinNanos();
        if (pin != PutTraits.PRESERVE) {
            extra.softPinUntil = pin == 0 ? 0 : state.now + pin;
        }
        space.event(true, slot);
        backToRest(slot);
    }

    /** Nothing is in flight any more: the object takes its place in the order of eviction. */
    private void backToRest(int slot) {
        objects.clear(slot, ObjectTable.IN_FLIGHT);
        objects.trimExtra(slot);
        state.recency.use(slot, space.restingList(slot));
    }

    /** Whether an End or Revoke means another put than the one that is there. */
    private boolean isStale(int slot, long put) {
        if (put == 0) {
            return false;
        }
        ObjectExtra extra = objects.extra(slot);
        if (extra != null && extra.upsert != null) {
            return extra.upsert.put != put;
        }
        return space.putOf(slot) != put;
    }

    private static Outcome<Done> stale(ByteString key, long put) {
        return Outcome.failed(
                StoreCode.INVALID_WRITE,
                "put " + put + " of key " + key + " is over: another one took its place");
    }

    Outcome<Done> revoke(
            Uuid client, ByteString key, int replicaType, ByteString tenant, long put) {
        int slot = findValid(tenant, key);
        if (slot == NONE) {
            return notFound(key);
        }
        ObjectExtra extra = objects.extra(slot);
        Upsert upsert = extra == null ? null : extra.upsert;
        if (!(upsert == null ? objects.isWriter(slot, client) : upsert.writer.equals(client))) {
            return illegalClient(slot, client, key);
        }
        if (isStale(slot, put)) {
            return stale(key, put);
        }
        if (!objects.has(slot, ObjectTable.IN_FLIGHT)) {
            return notInFlight(key);
        }
        if (!addressesMemory(replicaType)) {
            return Outcome.done();
        }
        if (upsert == null) {
            space.erase(slot, Fate.REVOKED);
        } else {
            space.dropUpsert(slot, 0);
            backToRest(slot);
        }
        return Outcome.done();
    }

    /** Gives back the space of puts that did not end in time; true when there are more. */
    boolean reap(int budget) {
        for (int i = 0; i < budget; i++) {
            int slot = state.recency.head(RecencyLists.IN_FLIGHT);
            if (slot == NONE || startedAt(slot) + state.config.putReleaseNanos() > state.now) {
                return false;
            }
            state.counters.add(CoreCount.PUT_RELEASED, 1);
            if (objects.has(slot, ObjectTable.COMPLETE)) {
                dropLostUpsert(slot);
            } else {
                space.erase(slot, Fate.TIMED_OUT);
            }
        }
        return true;
    }

    private void dropLostUpsert(int slot) {
        ObjectExtra extra = objects.extra(slot);
        if (extra != null && extra.upsert != null) {
            markLost(slot, extra.upsert);
            space.dropUpsert(slot, 0);
        }
        backToRest(slot);
    }

    private long startedAt(int slot) {
        ObjectExtra extra = objects.extra(slot);
        return extra != null && extra.upsert != null
                ? extra.upsert.startNanos
                : objects.stamp(slot);
    }

    /** The number of a readable object's version; 0 when there is none. */
    long versionOf(ByteString key, ByteString tenant) {
        int number = state.tenants.find(tenant);
        int slot = number < 0 ? NONE : objects.find(number, key.array());
        return slot == NONE ? 0 : state.versions.number(slot);
    }

    private int findValid(ByteString tenant, ByteString key) {
        int number = state.tenants.find(tenant);
        int slot = number < 0 ? NONE : objects.find(number, key.array());
        return slot != NONE && space.isValid(slot) ? slot : NONE;
    }

    /** ALL is memory, NoF and DFS; of these this master has memory. */
    private static boolean addressesMemory(int replicaType) {
        return replicaType == ReplicaType.ALL.number()
                || replicaType == ReplicaType.MEMORY.number();
    }

    private static Outcome<Done> notFound(ByteString key) {
        return Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no object has the key " + key);
    }

    private static Outcome<Done> notInFlight(ByteString key) {
        return Outcome.failed(
                StoreCode.INVALID_WRITE,
                "no put of key " + key + " is in flight: it ended, was revoked or was too slow");
    }

    private Outcome<Done> illegalClient(int slot, Uuid client, ByteString key) {
        return Outcome.failed(
                StoreCode.ILLEGAL_CLIENT,
                "key "
                        + key
                        + " is written by client "
                        + objects.writer(slot)
                        + ", not by "
                        + client);
    }
}
