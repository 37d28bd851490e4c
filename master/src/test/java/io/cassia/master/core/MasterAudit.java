package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages;
import io.cassia.rpc.cassia.CheckedMessages;
import io.cassia.rpc.cassia.ReservedMessages.Reserved;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.CopyStartResult;
import io.cassia.rpc.mooncake.MoveStartResult;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.testkit.simulation.History;
import io.cassia.testkit.simulation.SimulatedProcess;
import io.cassia.testkit.simulation.VirtualTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the simulation. Follows every command and answer of the master with books of its own:
 * which version each replica is of, which leases and pins were given, who may still read or write
 * which range, who was heard of when. It says when the master breaks a promise.
 */
final class MasterAudit {
    private record ReadLease(long version, long untilNanos, long leaseId) {}

    /** A copy or move by its last Start that succeeded; it may have been given up since. */
    private record OpenCopy(long holder, long number) {}

    private record Heard(long awakeNanos, int stalls) {}

    private final CoreConfig config;
    private MasterCore core;
    private final VirtualTime time;
    private final SimulatedProcess master;
    private StateAudit stateAudit;
    private final RangeClaims claims = new RangeClaims();
    private final Map<Long, WriteAttempt> byReplica = new HashMap<>();

    /** The first replica of the same Start. */
    private final Map<Long, Long> startOf = new HashMap<>();

    private final Map<Long, WriteAttempt> byVersion = new HashMap<>();
    private final Map<ObjectName, History<Long, StoreOperation>> histories =
            new TreeMap<>(Comparator.comparing(ObjectName::tenant).thenComparing(ObjectName::key));
    private final List<ReadLease> readLeases = new ArrayList<>();
    private final Map<Long, Long> existLeases = new HashMap<>();
    private final Map<Long, Long> softPins = new HashMap<>();
    private final Map<Long, Long> holders = new HashMap<>();
    private final Map<Uuid, Heard> heard = new HashMap<>();
    private Map<ObjectName, StoredObject> stored = Map.of();

    /** When the last write or copy of an object was started. */
    private final Map<ObjectName, Long> startedAt = new HashMap<>();

    private final Map<ObjectName, OpenCopy> copying = new HashMap<>();

    private record Space(Uuid client, List<ReplicaDescriptor> replicas) {}

    /** Space that was reserved and not committed, by its number, for ever. */
    private final Map<Long, Space> spaces = new HashMap<>();

    /** What the command under way has ended, by its answer. */
    private final List<WriteAttempt> ended = new ArrayList<>();

    /** Whether a client was given up by the command under way. */
    private boolean expiredNow;

    private int stalls;
    long evictions;
    long losses;
    long copies;
    long refusedEnds;
    long commits;

    MasterAudit(CoreConfig config, MasterCore core, VirtualTime time, SimulatedProcess master) {
        this.config = config;
        this.core = core;
        this.time = time;
        this.master = master;
        this.stateAudit = new StateAudit(core.state(), byReplica::get, startOf::get);
    }

    History<Long, StoreOperation> history(ObjectName name) {
        return histories.computeIfAbsent(
                name, _ -> new History<>(time, 0L, new StoreOperation.Rules()));
    }

    void register(WriteAttempt attempt) {
        byVersion.put(attempt.version, attempt);
    }

    /** The write that a version is of; null when there is none with that number. */
    @Nullable WriteAttempt attempt(long version) {
        return byVersion.get(version);
    }

    /** Whether only silent clients hold the object now. */
    boolean isSilent(ObjectName name) {
        StoredObject object = stored.get(name);
        return object != null && object.silent();
    }

    void masterStalls() {
        stalls++;
    }

    /**
     * Nobody has what was stored, and the new master owes nothing to those whom the old one told
     * something. Whether they are safe rests on checksums, or on the time that it waits.
     */
    void masterStartsAgain(MasterCore fresh) {
        core = fresh;
        stateAudit = new StateAudit(core.state(), byReplica::get, startOf::get);
        for (StoredObject object : stored.values()) {
            losses++;
            history(object.name())
                    .happened(new StoreOperation(StoreOperation.Kind.LOST, object.version()));
        }
        stored = Map.of();
        readLeases.clear();
        existLeases.clear();
        softPins.clear();
        holders.clear();
        heard.clear();
        startedAt.clear();
        copying.clear();
        spaces.clear();
        if (config.restartGraceNanos() == 0) {
            claims.forget();
        }
    }

    /** No number of a replica is given twice, by no master. */
    private void register(ReplicaDescriptor replica, @Nullable WriteAttempt origin, long start) {
        that(
                !startOf.containsKey(replica.id()),
                () -> "replica id " + replica.id() + " was given before");
        byReplica.put(replica.id(), origin);
        startOf.put(replica.id(), start);
    }

    /** The master has carried out a command. */
    void observe(Request<?> request, Object answer) {
        expiredNow = false;
        ended.clear();
        note(request, answer);
        for (Effect effect : core.takeEffects()) {
            note(effect);
        }
        Map<ObjectName, StoredObject> now = stateAudit.check();
        compare(request, answer, now);
        stored = now;
        if (request.command instanceof Command.Tick) {
            findImmortals();
        }
    }

    @SuppressWarnings("unchecked") // what each command answers
    private void note(Request<?> request, Object answer) {
        switch (request.command) {
            case Command.PutStart _, Command.UpsertStart _ ->
                    started(request, 0, (Outcome<List<ReplicaDescriptor>>) answer);
            case Command.BatchPutStart _, Command.BatchUpsertStart _ -> {
                List<Outcome<List<ReplicaDescriptor>>> all =
                        (List<Outcome<List<ReplicaDescriptor>>>) answer;
                for (int i = 0; i < all.size(); i++) {
                    started(request, i, all.get(i));
                }
            }
            case Command.PutEnd c -> ended(request, 0, c.put(), (Outcome<Done>) answer);
            case Command.BatchPutEnd c -> {
                List<Outcome<Done>> all = (List<Outcome<Done>>) answer;
                for (int i = 0; i < all.size(); i++) {
                    ended(request, i, c.puts().get(i), all.get(i));
                }
            }
            case Command.Reserve c -> reserved(request, c, (Reserved) answer);
            case Command.Commit c -> {
                List<Outcome<Long>> all = (List<Outcome<Long>>) answer;
                for (int i = 0; i < all.size(); i++) {
                    committed(request, c, i, all.get(i));
                }
            }
            case Command.GiveBack c -> c.args().spaces().forEach(id -> claims.giveBack(id, true));
            case Command.PutRevoke _ -> revoked(request, 0, (Outcome<Done>) answer);
            case Command.BatchPutRevoke _ -> {
                List<Outcome<Done>> all = (List<Outcome<Done>>) answer;
                for (int i = 0; i < all.size(); i++) {
                    revoked(request, i, all.get(i));
                }
            }
            case Command.GetReplicaList c ->
                    got(request, name(c.tenant(), c.key()), (Outcome<ReplicaList>) answer);
            case Command.BatchGetReplicaList c -> {
                List<Outcome<ReplicaList>> all = (List<Outcome<ReplicaList>>) answer;
                for (int i = 0; i < all.size(); i++) {
                    got(request, name(c.args().tenant(), c.args().keys().get(i)), all.get(i));
                }
            }
            case Command.GetSlice c -> {
                ByteString tenant = c.selection().tenant().orElseThrow();
                ((Outcome<Slice<Map<ByteString, List<ReplicaDescriptor>>>>) answer)
                        .orThrow()
                        .part()
                        .forEach(
                                (key, replicas) ->
                                        leased(request, name(tenant, key), replicas, leaseMs(), 0));
            }
            case Command.Acquire c -> {
                CassiaMessages.Acquired got = (CassiaMessages.Acquired) answer;
                acquired(request, c.args(), got.leaseId(), got.leaseTtlMs(), got.objects());
            }
            case Command.AcquireChecked c -> {
                CheckedMessages.CheckedAcquired got = (CheckedMessages.CheckedAcquired) answer;
                List<Outcome<List<ReplicaDescriptor>>> objects =
                        got.objects().stream()
                                .map(one -> one.map(CheckedMessages.CheckedObject::replicas))
                                .toList();
                acquired(request, c.args(), got.leaseId(), got.leaseTtlMs(), objects);
            }
            case Command.LongestPrefix c ->
                    ok((Outcome<CassiaMessages.PrefixHit>) answer, hit -> prefix(request, c, hit));
            case Command.ExistKey c -> exists(name(c.tenant(), c.key()), (Outcome<Boolean>) answer);
            case Command.BatchExistKey c -> {
                List<Outcome<Boolean>> all = (List<Outcome<Boolean>>) answer;
                for (int i = 0; i < all.size(); i++) {
                    exists(name(c.args().tenant(), c.args().keys().get(i)), all.get(i));
                }
            }
            case Command.Release c -> c.leaseIds().forEach(this::released);
            case Command.CopyStart c ->
                    ok(
                            (Outcome<CopyStartResult>) answer,
                            r -> copying(request, r.source(), r.targets()));
            case Command.MoveStart c ->
                    ok(
                            (Outcome<MoveStartResult>) answer,
                            r -> copying(request, r.source(), r.target().stream().toList()));
            case Command.CopyEnd _, Command.MoveEnd _ -> {
                copyEnded(request, ((Outcome<Done>) answer).isOk());
                // Whatever the answer is, the copier does not write any more.
                claims.giveBack(request.holder, true);
            }
            case Command.CopyRevoke _, Command.MoveRevoke _ ->
                    // Its bytes may still be on their way.
                    copyEnded(request, ((Outcome<Done>) answer).isOk());
            case Command.Ping c -> hear(c.client());
            case Command.MountSegment c -> {
                if (((Outcome<Done>) answer).isOk()) {
                    hear(c.args().client());
                }
            }
            case Command.ReMountSegment c -> {
                if (((Outcome<Done>) answer).isOk()) {
                    hear(c.args().client());
                }
            }
            default -> {
                // Nothing is promised.
            }
        }
    }

    private static <T> void ok(Outcome<T> answer, Consumer<T> then) {
        if (answer instanceof Outcome.Ok<T>(T value)) {
            then.accept(value);
        }
    }

    private ObjectName name(ByteString tenant, ByteString key) {
        boolean shared = !config.multiTenant() || tenant.isEmpty();
        return new ObjectName(shared ? Tenants.DEFAULT_NAME : tenant, key);
    }

    private long leaseMs() {
        return TimeUnit.NANOSECONDS.toMillis(config.leaseNanos());
    }

    private void started(Request<?> request, int index, Outcome<List<ReplicaDescriptor>> answer) {
        if (!(answer instanceof Outcome.Ok<List<ReplicaDescriptor>>(var replicas))) {
            return;
        }
        WriteAttempt attempt = request.attempts.get(index);
        startedAt.put(attempt.name, time.nanos());
        StoredObject before = stored.get(attempt.name);
        if (!attempt.upsert && before != null && !before.isLost()) {
            // An earlier item of the same batch may have evicted it.
            boolean still = stateAudit.check().containsKey(attempt.name);
            that(before.silent() || !still, () -> attempt + " starts over a complete object");
            attempt.replacesSilent = still;
        }
        for (ReplicaDescriptor replica : replicas) {
            register(replica, attempt, replicas.getFirst().id());
            that(
                    RangeClaims.bufferOf(replica).size() == attempt.length,
                    () -> attempt + " gets another length");
        }
        claims.give(
                replicas,
                time.nanos(),
                request.sentNanos + config.putReleaseNanos(),
                attempt.version,
                attempt.toString());
        int tenant = core.state().tenants.find(attempt.name.tenant());
        that(
                core.state().tenants.charged(tenant) <= core.state().tenants.effective(tenant),
                () -> attempt + " exceeds the quota of its tenant");
    }

    private void ended(Request<?> request, int index, long put, Outcome<Done> answer) {
        WriteAttempt attempt = request.attempts.get(index);
        if (!answer.isOk()) {
            refusedEnds++;
            return;
        }
        claims.giveBack(attempt.version, true);
        if (!attempt.tookEffect) {
            tookEffect(attempt, put);
        }
    }

    private void tookEffect(WriteAttempt attempt, long put) {
        attempt.tookEffect = true;
        attempt.endedPut = put;
        ended.add(attempt);
        long pin = PutRules.traits(attempt.config, config).softPinNanos();
        StoredObject before = stored.get(attempt.name);
        if (pin > 0) {
            softPins.put(attempt.version, time.nanos() + pin);
        } else if (pin == PutTraits.PRESERVE && before != null && attempt.upsert) {
            softPins.put(attempt.version, softPins.getOrDefault(before.version(), 0L));
        }
    }

    private void reserved(Request<?> request, Command.Reserve command, Reserved answer) {
        List<Long> lengths = command.wanted().lengths();
        that(
                answer.spaces().isEmpty() || answer.spaces().size() == lengths.size(),
                () -> "some of the space of " + command + " is reserved: " + answer);
        for (int i = 0; i < answer.spaces().size(); i++) {
            List<ReplicaDescriptor> replicas = answer.spaces().get(i);
            long id = replicas.getFirst().id();
            spaces.put(id, new Space(command.client(), replicas));
            for (ReplicaDescriptor replica : replicas) {
                register(replica, null, id);
                long length = lengths.get(i);
                that(
                        RangeClaims.bufferOf(replica).size() == length,
                        () -> command + " gets another length");
            }
            claims.give(
                    replicas,
                    time.nanos(),
                    request.sentNanos + config.putReleaseNanos(),
                    id,
                    "space " + id + " of " + request.sender);
        }
        int tenant = core.state().tenants.find(command.tenant());
        that(
                answer.spaces().isEmpty()
                        || core.state().tenants.charged(tenant)
                                <= core.state().tenants.effective(tenant),
                () -> command + " exceeds the quota of its tenant");
    }

    private void committed(
            Request<?> request, Command.Commit command, int index, Outcome<Long> answer) {
        long id = command.args().spaces().get(index);
        // Whatever the answer is, the client does not write there any more.
        claims.giveBack(id, true);
        if (!answer.isOk()) {
            refusedEnds++;
            return;
        }
        WriteAttempt attempt = request.attempts.get(index);
        Space space = spaces.remove(id);
        if (space == null || !space.client.equals(command.args().client())) {
            throw new AssertionError(attempt + " is stored in " + space + ", which is not its own");
        }
        that(!attempt.tookEffect, () -> attempt + " is committed twice");
        commits++;
        space.replicas.forEach(replica -> byReplica.put(replica.id(), attempt));
        StoredObject before = stored.get(attempt.name);
        attempt.replacesSilent = before != null && before.silent();
        tookEffect(attempt, id);
        int tenant = core.state().tenants.find(attempt.name.tenant());
        that(
                core.state().tenants.charged(tenant) <= core.state().tenants.effective(tenant),
                () -> attempt + " exceeds the quota of its tenant");
    }

    private void revoked(Request<?> request, int index, Outcome<Done> answer) {
        // Whatever the answer is, the writer does not write any more.
        claims.giveBack(request.attempts.get(index).version, true);
        WriteAttempt attempt = request.attempts.get(index);
        that(!(answer.isOk() && attempt.tookEffect), () -> attempt + " is revoked after its end");
    }

    private void got(Request<?> request, ObjectName name, Outcome<ReplicaList> answer) {
        if (answer instanceof Outcome.Ok<ReplicaList>(ReplicaList list)) {
            leased(request, name, list.replicas(), list.leaseTtlMs(), 0);
        }
    }

    private void acquired(
            Request<?> request,
            CassiaMessages.Acquire args,
            long leaseId,
            long leaseMs,
            List<Outcome<List<ReplicaDescriptor>>> objects) {
        for (int i = 0; i < objects.size(); i++) {
            if (objects.get(i) instanceof Outcome.Ok<List<ReplicaDescriptor>>(var replicas)) {
                ObjectName name = name(args.tenant(), args.keys().get(i));
                leased(request, name, replicas, leaseMs, leaseId);
            }
        }
        holders.put(leaseId, request.holder);
    }

    private void prefix(
            Request<?> request, Command.LongestPrefix command, CassiaMessages.PrefixHit hit) {
        CassiaMessages.LongestPrefix args = command.args();
        for (int i = 0; i < hit.count(); i++) {
            ObjectName name = name(args.tenant(), args.keys().get(i));
            List<ReplicaDescriptor> replicas =
                    args.withReplicas() ? hit.objects().get(i).orThrow().replicas() : List.of();
            leased(request, name, replicas, hit.leaseTtlMs(), hit.leaseId());
        }
        if (hit.count() < args.keys().size()) {
            StoredObject next = stored.get(name(args.tenant(), args.keys().get((int) hit.count())));
            that(next == null || next.silent(), () -> "the prefix ends before " + next);
        }
        holders.put(hit.leaseId(), request.holder);
    }

    private void leased(
            Request<?> request,
            ObjectName name,
            List<ReplicaDescriptor> replicas,
            long leaseMs,
            long leaseId) {
        StoredObject object = stored.get(name);
        that(object != null && !object.isLost(), () -> name + " is found, but it is not there");
        if (object == null) {
            return;
        }
        long nanos = TimeUnit.MILLISECONDS.toNanos(leaseMs);
        readLeases.add(new ReadLease(object.version(), time.nanos() + nanos, leaseId));
        claims.lease(
                replicas,
                request.sentNanos + nanos,
                request.holder,
                "leased to " + request.sender + " for version " + object.version());
        for (ReplicaDescriptor replica : replicas) {
            WriteAttempt write = byReplica.get(replica.id());
            that(
                    write != null && write.version == object.version(),
                    () -> name + " is given with a replica of another version");
        }
    }

    private void exists(ObjectName name, Outcome<Boolean> answer) {
        StoredObject object = stored.get(name);
        boolean alive = object != null && !object.silent() && !object.isLost();
        that(answer.orThrow() == alive, () -> name + " exists=" + answer + " but is " + object);
        if (object != null && alive) {
            existLeases.put(object.version(), time.nanos() + config.leaseNanos());
        }
    }

    private void released(long leaseId) {
        readLeases.removeIf(lease -> lease.leaseId == leaseId && leaseId != 0);
        Long holder = holders.remove(leaseId);
        if (holder != null) {
            claims.giveBack(holder, false);
        }
    }

    private void copying(
            Request<?> request, ReplicaDescriptor source, List<ReplicaDescriptor> targets) {
        WriteAttempt origin = byReplica.get(source.id());
        that(origin != null, () -> "a copy has a source that nobody wrote");
        if (origin != null) {
            startedAt.put(origin.name, time.nanos());
            long number = targets.isEmpty() ? source.id() : targets.getFirst().id();
            copying.put(origin.name, new OpenCopy(request.holder, number));
        }
        for (ReplicaDescriptor target : targets) {
            register(target, origin, startOf.getOrDefault(source.id(), 0L));
        }
        claims.give(
                targets,
                time.nanos(),
                request.sentNanos + config.putReleaseNanos(),
                request.holder,
                "copy of " + origin);
    }

    /** Only who carries out the copy that is open may end it, and only by its own End. */
    private void copyEnded(Request<?> request, boolean well) {
        if (!well) {
            refusedEnds++;
            return;
        }
        copies++;
        Args.ClientKey args =
                switch (request.command) {
                    case Command.CopyEnd c -> c.args();
                    case Command.MoveEnd c -> c.args();
                    case Command.CopyRevoke c -> c.args();
                    case Command.MoveRevoke c -> c.args();
                    default -> throw new IllegalStateException("no End: " + request.command);
                };
        long number =
                switch (request.command) {
                    case Command.CopyEnd c -> c.number();
                    case Command.MoveEnd c -> c.number();
                    case Command.CopyRevoke c -> c.number();
                    case Command.MoveRevoke c -> c.number();
                    default -> 0;
                };
        OpenCopy open = copying.remove(name(args.tenant(), args.key()));
        that(
                // Copies that find all there have the number of their source: one may end another.
                open != null
                        && (number == 0 ? open.holder == request.holder : open.number == number),
                () -> request.command + " ends a copy of another Start: " + open);
    }

    private void compare(Request<?> request, Object answer, Map<ObjectName, StoredObject> now) {
        for (WriteAttempt attempt : ended) {
            StoredObject object = now.get(attempt.name);
            that(
                    object == null || object.version() == attempt.version,
                    () -> attempt + " is said to be stored, but there is " + object);
        }
        for (StoredObject before : stored.values()) {
            StoredObject after = now.get(before.name());
            if (after == null || after.version() != before.version()) {
                gone(request, answer, before, after);
            }
        }
        for (WriteAttempt attempt : ended) {
            if (request.command instanceof Command.Commit && !now.containsKey(attempt.name)) {
                // It was stored and evicted at once.
                evictions++;
                history(attempt.name)
                        .happened(new StoreOperation(StoreOperation.Kind.LOST, attempt.version));
            }
        }
        for (StoredObject after : now.values()) {
            StoredObject before = stored.get(after.name());
            if (before == null || before.version() != after.version()) {
                boolean ended =
                        request.command instanceof Command.PutEnd
                                || request.command instanceof Command.Commit
                                || request.command instanceof Command.BatchPutEnd;
                that(
                        ended && request.attempts.contains(byVersion.get(after.version())),
                        () -> after + " appears by " + request.command);
                if (request.arrivals > 1) {
                    that(false, () -> after + " appears by a repeated End");
                }
            }
        }
    }

    /** A version is not there any more: why may that be? */
    private void gone(
            Request<?> request, Object answer, StoredObject before, @Nullable StoredObject after) {
        History<Long, StoreOperation> history = history(before.name());
        StoreOperation lost = new StoreOperation(StoreOperation.Kind.LOST, before.version());
        if (before.isLost()) {
            losses++;
            history.happened(lost);
            return;
        }
        switch (request.command) {
            case Command.PutEnd _, Command.BatchPutEnd _ -> {
                that(after != null, () -> before + " vanishes by an End");
                WriteAttempt by = attempt(after == null ? 0 : after.version());
                if (by != null && !by.upsert) {
                    that(by.replacesSilent, () -> by + " replaces " + before);
                    history.happened(lost);
                }
            }
            case Command.Commit c -> {
                WriteAttempt by =
                        ended.stream()
                                .filter(each -> each.name.equals(before.name()))
                                .findFirst()
                                .orElse(null);
                if (by == null) {
                    mayEvict(request, before);
                    evictions++;
                    history.happened(lost);
                } else if (!by.upsert) {
                    // An earlier object of the same batch may have evicted it.
                    that(
                            by.replacesSilent || c.args().objects().size() > 1,
                            () -> by + " replaces " + before);
                    history.happened(lost);
                }
            }
            case Command.Reserve _ -> {
                mayEvict(request, before);
                that(!isExistLeased(before), () -> before + " goes for a put that may be");
                that(
                        softPins.getOrDefault(before.version(), 0L) <= time.nanos(),
                        () -> before + " goes for a put that may be, although soft-pinned");
                evictions++;
                history.happened(lost);
            }
            case Command.DropReplica c -> {
                that(
                        before.name().equals(name(c.args().tenant(), c.args().key())),
                        () -> before + " is dropped instead of another");
                history.happened(lost);
            }
            case Command.Remove c -> removed(request, c.force(), before, lost);
            case Command.BatchRemove c -> removed(request, c.args().force(), before, lost);
            case Command.RemoveSlice c -> {
                mayRemove(c.force(), before, request);
                history.happened(lost);
            }
            case Command.BatchReplicaClear _ -> {
                // A new version that is being written stays; the old one may be cleared meanwhile.
                that(!isReadLeased(before), () -> before + " is cleared under a lease");
                that(!isExistLeased(before), () -> before + " is cleared under an exist lease");
                history.happened(lost);
            }
            case Command.PutStart _,
                    Command.UpsertStart _,
                    Command.BatchPutStart _,
                    Command.BatchUpsertStart _,
                    Command.Tick _ -> {
                mayEvict(request, before);
                evictions++;
                history.happened(lost);
            }
            default ->
                    that(
                            false,
                            () ->
                                    before
                                            + " vanishes by "
                                            + request.command
                                            + ", answered "
                                            + answer);
        }
    }

    private void removed(
            Request<?> request, boolean force, StoredObject before, StoreOperation lost) {
        mayRemove(force, before, request);
        history(before.name()).happened(lost);
    }

    private void mayRemove(boolean force, StoredObject object, Request<?> request) {
        that(force || !isReadLeased(object), () -> object + " is removed under a lease");
        that(force || !isExistLeased(object), () -> object + " is removed under an exist lease");
        that(!object.busy(), () -> object + " is removed while busy, by " + request.command);
    }

    private void mayEvict(Request<?> request, StoredObject object) {
        that(!object.hardPin(), () -> object + " is evicted although pinned");
        // The same tick may have given up what was under way for too long, or by a dead client.
        boolean givenUp =
                request.command instanceof Command.Tick
                        && (expiredNow
                                || time.nanos()
                                        >= startedAt.getOrDefault(object.name(), 0L)
                                                + config.putReleaseNanos());
        that(
                !object.busy() || givenUp,
                () -> object + " is evicted while busy by " + request.command);
        that(!isReadLeased(object), () -> object + " is evicted under a lease");
        boolean softPinned = softPins.getOrDefault(object.version(), 0L) > time.nanos();
        that(
                config.evictSoftPinned() || !softPinned,
                () -> object + " is evicted although soft-pinned");
        that(
                !(request.command instanceof Command.Tick && isExistLeased(object)),
                () -> object + " is evicted above the watermark under an exist lease");
        if (!object.group().isEmpty()) {
            for (StoredObject member : stored.values()) {
                that(
                        !(!member.isLost()
                                && member.group().equals(object.group())
                                && member.name().tenant().equals(object.name().tenant())
                                && isReadLeased(member)),
                        () -> object + " is evicted under the lease of its group's " + member);
            }
        }
    }

    private boolean isExistLeased(StoredObject object) {
        return existLeases.getOrDefault(object.version(), 0L) > time.nanos();
    }

    private boolean isReadLeased(StoredObject object) {
        readLeases.removeIf(lease -> lease.untilNanos <= time.nanos());
        return readLeases.stream().anyMatch(lease -> lease.version == object.version());
    }

    private void hear(Uuid client) {
        heard.put(client, new Heard(master.awakeNanos(), stalls));
    }

    private void note(Effect effect) {
        switch (effect) {
            case Effect.ClientSuspected e -> silentFor(e.client(), config.clientTtlNanos());
            case Effect.ClientExpired e -> {
                expiredNow = true;
                // Who holds nothing is forgotten at once.
                silentFor(
                        e.client(),
                        e.segments() == 0 ? config.clientTtlNanos() : config.wipeNanos());
                heard.remove(e.client());
            }
            default -> {
                // No promise.
            }
        }
    }

    /** A standing master must not take its own silence for that of others. */
    private void silentFor(Uuid client, long leastNanos) {
        Heard last = heard.get(client);
        that(last != null, () -> client + " is expired, but nobody heard of it");
        long silent = last == null ? 0 : master.awakeNanos() - last.awakeNanos;
        that(
                silent + slack(last) >= leastNanos,
                () -> client + " is taken for dead after " + silent + " ns of " + leastNanos);
    }

    private long slack(@Nullable Heard last) {
        int since = last == null ? 0 : stalls - last.stalls;
        return 3 * config.tickNanos() * (1 + since);
    }

    private void findImmortals() {
        heard.forEach(
                (client, last) ->
                        that(
                                master.awakeNanos() - last.awakeNanos
                                        <= config.wipeNanos() + slack(last),
                                () -> client + " is silent for too long and still not expired"));
    }

    /** All histories must have an explanation. */
    void checkHistories() {
        histories.forEach(
                (name, history) ->
                        history.check()
                                .ifPresent(
                                        why -> {
                                            throw new AssertionError("key " + name + ": " + why);
                                        }));
    }

    int historySize() {
        return histories.values().stream().mapToInt(History::size).sum();
    }

    boolean isEmpty() {
        return stored.isEmpty();
    }

    private static void that(boolean holds, Supplier<String> otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise.get());
        }
    }
}
