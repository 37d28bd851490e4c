package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.cassia.ReservedMessages.Reserved;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;

/**
 * Confined to the master's lock. The state machine: a function of (command, time). The parts behind
 * it are {@link Writes}, {@link Reservations}, {@link Reads}, {@link Removals}, {@link Mounts},
 * {@link ClientTable}, {@link Copies}, {@link TaskTable}, {@link Drains}, {@link Placer}, {@link
 * Evictor} and {@link Scans}.
 *
 * <p>No command takes longer than its own items justify: what concerns all objects goes in slices.
 */
public final class MasterCore {
    /** Lease ends handled along with any command; ticks do the bulk. */
    private static final int LEASES_PER_COMMAND = 64;

    private static final int LEASES_PER_TICK = 16_384;
    private static final int DISCARDS_PER_TICK = 4096;
    private static final int REAPS_PER_TICK = 4096;
    private static final int SWEEPS_PER_TICK = 4096;
    private static final int EVICTIONS_PER_TICK = 4096;
    private static final int EVICTIONS_PER_PUT = 16;

    private final CoreState state;
    private final Space space;
    private final Evictor evictor;
    private final Writes writes;
    private final BatchStarts batchStarts;
    private final Reservations reservations;
    private final Reads reads;
    private final CheckedObjects checked;
    private final Removals removals;
    private final Mounts mounts;
    private final Copies copies;
    private final TaskTable tasks;
    private final Drains drains;
    private final ClientTable clients;
    private final Scans scans;

    /**
     * @param config never changes
     * @param originNanos the clock at the start
     */
    public MasterCore(CoreConfig config, long originNanos) {
        state = new CoreState(config, originNanos);
        space = new Space(state);
        evictor = new Evictor(state, space);
        Placer placer = new Placer(state, evictor);
        writes = new Writes(state, space, placer, evictor);
        batchStarts = new BatchStarts(state, writes);
        reservations = new Reservations(state, space, writes);
        reads = new Reads(state, space);
        checked = new CheckedObjects(state, space, reads, writes);
        removals = new Removals(state, space);
        mounts = new Mounts(state, space);
        copies = new Copies(state, space);
        tasks = new TaskTable(state, space);
        drains = new Drains(state, space, tasks);
        clients = new ClientTable(state, mounts, copies, tasks, reservations);
        scans = new Scans(state, space, removals, reads);
    }

    /** Does what the command says at that time; a time before the last one counts as that. */
    @SuppressWarnings("unchecked") // each command's type parameter is what its branch answers
    public <R> R apply(Command<R> command, long nowNanos) {
        state.advance(nowNanos);
        state.leases.expire(LEASES_PER_COMMAND);
        return (R) dispatch(command);
    }

    private Object dispatch(Command<?> command) {
        return switch (command) {
            case Command.ExistKey c -> reads.exist(c.key(), c.tenant());
            case Command.GetReplicaList c -> reads.get(c.key(), c.tenant());
            case Command.BatchGetReplicaList c -> reads.getAll(c.args());
            case Command.BatchExistKey c -> reads.existAll(c.args());
            case Command.Acquire c -> reads.acquire(c.args());
            case Command.LongestPrefix c -> reads.longestPrefix(c.args(), c.leaseId());
            case Command.Explain c -> reads.explain(c.key(), c.tenant());
            case Command.Release c -> release(c.leaseIds());
            case Command.AcquireChecked c -> checked.acquire(c.args());
            case Command.EndChecked c -> checked.end(c.args(), c.puts());
            case Command.UpsertStartIf c -> relieved(checked.startIf(c.args()));
            case Command.DropReplica c -> checked.drop(c.args());
            case Command.Reserve c -> reserve(c);
            case Command.Commit c -> relieved(reservations.commit(c.args()));
            case Command.GiveBack c -> reservations.giveBack(c.args());
            case Command.PutStart c -> relieved(writes.start(c.args(), false));
            case Command.PutEnd c -> end(c.args(), c.put());
            case Command.BatchPutStart c -> relieved(batchStarts.start(c.args(), false));
            case Command.BatchPutEnd c -> endAll(c);
            case Command.UpsertStart c -> relieved(writes.start(c.args(), true));
            case Command.BatchUpsertStart c -> relieved(batchStarts.start(c.args(), true));
            case Command.PutRevoke c -> revoke(c.args(), c.put());
            case Command.BatchPutRevoke c -> revokeAll(c);
            case Command.Remove c -> removals.remove(c.key(), c.force(), c.tenant());
            case Command.BatchRemove c -> removals.removeAll(c.args());
            case Command.BatchReplicaClear c -> clear(c.args());
            case Command.RemoveSlice c -> scans.remove(c);
            case Command.GetSlice c -> scans.get(c);
            case Command.FindReplicas c -> reads.find(c.key(), c.tenant());
            case Command.IsPresent c -> reads.isPresent(c.key(), c.tenant());
            case Command.Ping c -> clients.ping(c.client());
            case Command.MountSegment c -> mount(c.args());
            case Command.ReMountSegment c -> remount(c.args());
            case Command.UnmountSegment c -> mounts.unmount(c.args().segment(), c.args().client());
            case Command.GracefulUnmountSegment c -> unmountGracefully(c.args());
            case Command.QuerySegmentStatus c -> statusOf(c.name());
            case Command.QuerySegmentStatusById c -> statusOf(c.id());
            case Command.BatchQueryIp c -> addresses(c.clients());
            case Command.CopyStart c -> copies.startCopy(c.args());
            case Command.CopyEnd c -> copies.end(Replication.Kind.COPY, c.args(), c.number());
            case Command.CopyRevoke c -> copies.revoke(Replication.Kind.COPY, c.args(), c.number());
            case Command.MoveStart c -> copies.startMove(c.args());
            case Command.MoveEnd c -> copies.end(Replication.Kind.MOVE, c.args(), c.number());
            case Command.MoveRevoke c -> copies.revoke(Replication.Kind.MOVE, c.args(), c.number());
            case Command.CreateCopyTask c ->
                    tasks.createCopy(c.args(), c.epochMs(), c.tellExisting());
            case Command.CreateMoveTask c -> tasks.createMove(c.args(), c.epochMs());
            case Command.QueryTask c -> tasks.query(c.id());
            case Command.FetchTasks c -> tasks.fetch(c.args().client(), c.args().batchSize());
            case Command.MarkTaskToComplete c -> completeTask(c.args());
            case Command.CreateDrainJob c -> drains.create(c.args(), c.epochMs());
            case Command.QueryDrainJob c -> drains.query(c.id());
            case Command.CancelDrainJob c -> drains.cancel(c.id());
            case Command.SetTenantQuota c -> state.tenants.set(c.tenant(), c.requestedBytes());
            case Command.CheckTenantQuota c -> state.tenants.check(c.tenant(), c.requestedBytes());
            case Command.TenantQuotas c -> state.tenants.list(c.tenant());
            case Command.DeleteTenantQuota c -> deleteTenant(c.tenant());
            case Command.Clients c -> clients.list(c.id());
            case Command.ListShard c -> scans.listShard(c.args());
            case Command.Stats _ -> stats();
            case Command.Tick _ -> tick();
        };
    }

    private Reserved reserve(Command.Reserve command) {
        return reservations.reserve(command.client(), command.tenant(), command.wanted());
    }

    /** Space without a key is no object that would have to be removed first. */
    private Outcome<Done> deleteTenant(ByteString tenant) {
        if (state.tenants.isWithoutObjects(tenant)) {
            reservations.dropAll(tenant);
        }
        return state.tenants.delete(tenant);
    }

    private Outcome<Done> completeTask(Args.MarkTaskToComplete args) {
        Outcome<Done> completed = tasks.complete(args.client(), args.completion());
        drains.taskEnded();
        return completed;
    }

    private <T> T relieved(T started) {
        evictor.relieve(EVICTIONS_PER_PUT);
        return started;
    }

    private Outcome<Done> end(Args.PutEnd args, long put) {
        return writes.end(args.client(), args.object(), args.replicaType(), args.tenant(), put);
    }

    private List<Outcome<Done>> endAll(Command.BatchPutEnd batch) {
        List<Outcome<Done>> ended = new ArrayList<>(batch.objects().size());
        for (int i = 0; i < batch.objects().size(); i++) {
            ended.add(
                    writes.end(
                            batch.client(),
                            batch.objects().get(i),
                            batch.replicaType(),
                            batch.tenant(),
                            put(batch.puts(), i)));
        }
        return ended;
    }

    private static long put(List<Long> puts, int item) {
        return item < puts.size() ? puts.get(item) : 0;
    }

    private Outcome<Done> revoke(Args.PutRevoke args, long put) {
        return writes.revoke(args.client(), args.key(), args.replicaType(), args.tenant(), put);
    }

    private List<Outcome<Done>> revokeAll(Command.BatchPutRevoke batch) {
        List<Outcome<Done>> revoked = new ArrayList<>(batch.keys().size());
        for (int i = 0; i < batch.keys().size(); i++) {
            revoked.add(
                    writes.revoke(
                            batch.client(),
                            batch.keys().get(i),
                            batch.replicaType(),
                            batch.tenant(),
                            put(batch.puts(), i)));
        }
        return revoked;
    }

    private Outcome<List<ByteString>> clear(Args.BatchReplicaClear args) {
        return removals.clear(args.keys(), args.client(), args.segment());
    }

    private Done release(List<Long> leaseIds) {
        leaseIds.forEach(state.leases::release);
        return Done.DONE;
    }

    private Outcome<Done> mount(Args.MountSegment args) {
        if (clients.isFull(args.client())) {
            return tooManyClients(args.client());
        }
        Outcome<Done> mounted = mounts.mount(args.segment(), args.client());
        if (mounted.isOk()) {
            clients.mounted(args.client());
        }
        return mounted;
    }

    private Outcome<Done> remount(Args.ReMountSegment args) {
        if (clients.isFull(args.client())) {
            return tooManyClients(args.client());
        }
        Outcome<Done> checked = mounts.checkRemount(args.segments(), args.client());
        if (checked.isOk() && clients.isOk(args.client())) {
            clients.remounted(args.client());
            return checked;
        }
        if (!checked.isOk()) {
            return checked;
        }
        Outcome<Done> mounted = mounts.remount(args.segments(), args.client());
        if (mounted.isOk()) {
            clients.remounted(args.client());
        }
        return mounted;
    }

    private Outcome<Done> tooManyClients(Uuid client) {
        return Outcome.failed(
                StoreCode.INTERNAL_ERROR,
                "clients=" + clients.tracked() + ", which is the limit; client " + client);
    }

    private Outcome<Done> unmountGracefully(Args.GracefulUnmountSegment args) {
        return mounts.unmountGracefully(args.segment(), args.client(), args.graceMs());
    }

    private Outcome<SegmentStatus> statusOf(String name) {
        for (MountedSegment segment : state.segments.all()) {
            if (segment.wire.name().equals(name)) {
                return Outcome.ok(segment.status());
            }
        }
        return Outcome.failed(StoreCode.SEGMENT_NOT_FOUND, "no segment is named " + name);
    }

    private Outcome<SegmentStatus> statusOf(Uuid id) {
        MountedSegment segment = state.segments.find(id);
        return segment == null
                ? Outcome.failed(StoreCode.SEGMENT_NOT_FOUND, "no segment has the id " + id)
                : Outcome.ok(segment.status());
    }

    private Map<Uuid, List<String>> addresses(List<Uuid> wanted) {
        Map<Uuid, List<String>> found = new LinkedHashMap<>();
        for (Uuid client : wanted) {
            List<String> hosts = new ArrayList<>();
            for (MountedSegment segment : state.segments.all()) {
                String host = hostOf(segment.wire.teEndpoint());
                if (segment.client.equals(client) && !hosts.contains(host)) {
                    hosts.add(host);
                }
            }
            if (!hosts.isEmpty()) {
                found.put(client, hosts);
            }
        }
        return found;
    }

    private static String hostOf(String endpoint) {
        int colon = endpoint.lastIndexOf(':');
        String host = colon < 0 ? endpoint : endpoint.substring(0, colon);
        return host.startsWith("[") && host.endsWith("]")
                ? host.substring(1, host.length() - 1)
                : host;
    }

    private Boolean tick() {
        clients.tick();
        boolean more = state.leases.expire(LEASES_PER_TICK) == 0;
        more |= state.discards.release(state.now, DISCARDS_PER_TICK) == DISCARDS_PER_TICK;
        more |= writes.reap(REAPS_PER_TICK);
        more |= copies.reap(REAPS_PER_TICK);
        more |= tasks.expire(REAPS_PER_TICK);
        drains.tick();
        state.quarantine.expire(state.now);
        state.unmounted.expire(state.now);
        mounts.endGraces();
        clients.expire();
        more |= mounts.sweep(SWEEPS_PER_TICK);
        more |= evictor.relieve(EVICTIONS_PER_TICK);
        return more;
    }

    private Stats stats() {
        state.recency.expireReads(state.now);
        List<SegmentStats> segments = new ArrayList<>();
        for (MountedSegment segment : state.segments.all()) {
            segments.add(
                    new SegmentStats(
                            segment.wire.id(),
                            segment.wire.name(),
                            segment.wire.teEndpoint(),
                            segment.status().number(),
                            segment.client,
                            segment.allocator.capacityBytes(),
                            segment.allocator.usedBytes(),
                            segment.allocator.largestFreeBytes()));
        }
        return new Stats(
                state.segments.capacityBytes(),
                state.segments.usedBytes(),
                state.segments.largestFreeBytes(),
                state.leases.bytes() + state.recency.readLeasedBytes(),
                state.hardPinnedBytes,
                state.objects.count(),
                clients.active(),
                state.counters.of(CoreCount.EVICTED_OBJECTS),
                state.counters.of(CoreCount.EVICTED_BYTES),
                state.counters.of(CoreCount.PUT_ALLOCATION_FAILURES),
                segments);
    }

    /**
     * Adds the keys of one slice that match to {@code page}, which keeps the {@code limit} smallest
     * ones; where to go on, or empty at the end. Changes nothing in the state.
     */
    public Optional<Cursor> list(
            ListKeys query, Cursor from, NavigableMap<ByteString, KeyInfo> page, long nowNanos) {
        state.advance(nowNanos);
        return scans.list(query, from, page);
    }

    /** The mounted segments as their owners described them. */
    public List<Segment> segments() {
        List<Segment> segments = new ArrayList<>();
        for (MountedSegment segment : state.segments.all()) {
            segments.add(segment.wire);
        }
        return segments;
    }

    /** What quotas have cost their tenants. */
    public List<TenantToll> tenantTolls() {
        return state.tenants.tolls();
    }

    /** Bytes that wait until nobody can be reading or writing them any more. */
    public long discardedBytes() {
        return state.discards.bytes();
    }

    /** Remembers so many events of objects until they are taken; 0, as at first, none. */
    public void keepEvents(int capacity) {
        state.events.keep(capacity);
    }

    /** The oldest events of objects, which are forgotten. */
    public List<ObjectEvent> takeEvents(int most) {
        return state.events.take(most);
    }

    /** Events that nobody took in time, since the start. */
    public long droppedEvents() {
        return state.events.dropped();
    }

    /** Takes out what happened since the last call. */
    public List<Effect> takeEffects() {
        if (state.effects.isEmpty()) {
            return List.of();
        }
        List<Effect> taken = List.copyOf(state.effects);
        state.effects.clear();
        return taken;
    }

    public CoreCounters counters() {
        return state.counters;
    }

    /** Estimated heap bytes of the objects. */
    public long metadataBytes() {
        return state.metadataBytes;
    }

    /** A number that two machines share that were given the same commands at the same times. */
    public long digest() {
        Digest digest = new Digest();
        state.digest(digest);
        clients.digest(digest);
        tasks.digest(digest);
        drains.digest(digest);
        return digest.value();
    }

    CoreState state() {
        return state;
    }
}
