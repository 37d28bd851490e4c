package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages;
import io.cassia.rpc.cassia.CheckedMessages;
import io.cassia.rpc.cassia.CheckedMessages.CheckedAcquired;
import io.cassia.rpc.cassia.CheckedMessages.CheckedObject;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.cassia.ReservedMessages.Commit;
import io.cassia.rpc.cassia.ReservedMessages.GiveBack;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.testkit.simulation.History;
import io.cassia.testkit.simulation.SimulatedProcess;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the simulation. A client that wants this and that, one thing after the other and
 * sometimes two at a time, by the rules of the store's client: a read counts its lease from before
 * the request on its own clock and gives the bytes away when that is over; a write stops in time.
 */
final class SimulatedClient extends SimulatedMember {
    private static final int ALL = ReplicaType.ALL.number();
    private static final int CELLS_PER_ACCESS = 8;
    private static final long LONGEST = 4096;

    /** What is under way when the process dies. */
    private final Set<WriteAttempt> writing = new LinkedHashSet<>();

    /** Keys about which messages are under way that change something. */
    private final Map<ObjectName, Integer> unsettled = new HashMap<>();

    /** Space for the next write; another process would not know of it. */
    private @Nullable Ahead ahead;

    private boolean finished;

    SimulatedClient(ClusterSimulation world, SimulatedProcess process) {
        super(world, process);
    }

    @Override
    void run() {
        if (world.profile.config().multiTenant()) {
            setQuota();
        }
        next();
    }

    @Override
    void crash() {
        process.crash();
        Set<WriteAttempt> died = new LinkedHashSet<>(writing);
        writing.clear();
        ahead = null;
        died.forEach(WriteAttempt::abandon);
    }

    private SplittableRandom random() {
        return world.random;
    }

    private void next() {
        long pause = (long) (-Math.log(1 - random().nextDouble()) * 8 * SimulationProfile.MILLI);
        process.after(
                pause,
                () -> {
                    if (!world.quiet) {
                        act();
                    }
                });
    }

    private ObjectName anyName() {
        return new ObjectName(
                world.tenant(random().nextInt(world.profile.tenants())),
                ByteString.of("k" + random().nextInt(world.profile.keys())));
    }

    private List<ObjectName> someNames(int most) {
        ByteString tenant = world.tenant(random().nextInt(world.profile.tenants()));
        Set<ObjectName> names = new LinkedHashSet<>();
        int count = 1 + random().nextInt(most);
        for (int i = 0; i < count; i++) {
            names.add(new ObjectName(tenant, anyName().key()));
        }
        return List.copyOf(names);
    }

    private void act() {
        int choice = random().nextInt(1000);
        if (choice < 300) {
            get(anyName());
        } else if (choice < 430) {
            acquire();
        } else if (choice < 470) {
            longestPrefix();
        } else if (choice < 540) {
            exist(List.of(anyName()));
        } else if (choice < 560) {
            exist(someNames(4));
        } else if (choice < 580) {
            getAll(someNames(4));
        } else if (choice < 650) {
            reserve();
        } else if (choice < 760) {
            write(List.of(anyName()), random().nextInt(4) == 0, false);
        } else if (choice < 840) {
            write(someNames(4), random().nextInt(3) == 0, true);
        } else if (choice < 880) {
            remove(List.of(anyName()), false);
        } else if (choice < 895) {
            remove(someNames(3), true);
        } else {
            rarely(choice);
        }
    }

    private void rarely(int choice) {
        ByteString tenant = world.tenant(random().nextInt(world.profile.tenants()));
        Optional<ByteString> regex =
                Optional.of(ByteString.of("k" + random().nextInt(3) + "?[0-4]$"));
        if (choice < 905) {
            Selection selection = new Selection(Optional.of(tenant), regex);
            tell(new Command.RemoveSlice(selection, random().nextInt(4) == 0, Cursor.START));
        } else if (choice < 907) {
            Selection all = new Selection(Optional.of(tenant), Optional.empty());
            tell(new Command.RemoveSlice(all, random().nextBoolean(), Cursor.START));
        } else if (choice < 915) {
            getByRegex(tenant, regex);
        } else if (choice < 925) {
            List<ByteString> keys = someNames(3).stream().map(ObjectName::key).toList();
            String segment = random().nextBoolean() ? "" : anyNode();
            // The writer named may be anybody, also one who is about to lose the key.
            Uuid writer = writing.isEmpty() ? id : writing.iterator().next().writer;
            tell(new Command.BatchReplicaClear(new Args.BatchReplicaClear(keys, writer, segment)));
        } else if (choice < 975) {
            createTask();
        } else if (choice < 978) {
            drain();
        } else if (choice < 985 && world.profile.config().multiTenant()) {
            setQuota();
            next();
        } else if (choice < 990) {
            tell(new Command.Stats());
        } else if (choice < 993) {
            tell(new Command.Release(List.of(random().nextLong(), random().nextLong())));
        } else {
            // Two things at a time.
            get(anyName());
            write(List.of(anyName()), true, false);
        }
    }

    private String anyNode() {
        return world.nodes.get(random().nextInt(world.nodes.size())).name;
    }

    private <R> void tell(Command<R> command) {
        ask(command, _ -> next(), this::next);
    }

    private void setQuota() {
        ByteString tenant = world.tenant(random().nextInt(world.profile.tenants()));
        long quota = 1 + random().nextLong(world.profile.nodeBytes() * world.profile.nodes());
        ask(new Command.SetTenantQuota(tenant, quota), _ -> {}, () -> {});
    }

    private void createTask() {
        // Some keys are hot: what was copied is moved later, to where a replica is.
        ObjectName name =
                random().nextBoolean()
                        ? anyName()
                        : new ObjectName(
                                anyName().tenant(), ByteString.of("k" + random().nextInt(3)));
        long epoch = process.clock().epochMillis();
        if (random().nextBoolean()) {
            tell(
                    new Command.CreateCopyTask(
                            new Args.CreateCopyTask(name.key(), name.tenant(), List.of(anyNode())),
                            epoch));
        } else {
            tell(
                    new Command.CreateMoveTask(
                            new Args.CreateMoveTask(
                                    name.key(), name.tenant(), anyNode(), anyNode()),
                            epoch));
        }
    }

    private void drain() {
        CassiaMessages.CreateDrainJob job =
                new CassiaMessages.CreateDrainJob(List.of(anyNode()), List.of(), 2);
        ask(
                new Command.CreateDrainJob(job, process.clock().epochMillis()),
                answer -> {
                    if (answer instanceof Outcome.Ok<Uuid>(Uuid created)) {
                        world.time.after(
                                300 * SimulationProfile.MILLI, () -> world.cancelDrain(created));
                    }
                    next();
                },
                this::next);
    }

    // Reading

    private History<Long, StoreOperation> history(ObjectName name) {
        return world.audit.history(name);
    }

    private static StoreOperation saw(long version) {
        return new StoreOperation(StoreOperation.Kind.SAW, version);
    }

    private static boolean isMiss(Code code) {
        return code == StoreCode.OBJECT_NOT_FOUND || code == StoreCode.REPLICA_IS_NOT_READY;
    }

    private long leaseEnd(long sentOwn, long leaseMs) {
        // The clocks of the two machines may differ by a little.
        long nanos = TimeUnit.MILLISECONDS.toNanos(leaseMs);
        return sentOwn + nanos - nanos / 1000;
    }

    private void get(ObjectName name) {
        long sent = process.clock().nanos();
        History.Call<StoreOperation> call = history(name).call(saw(0));
        ask(
                new Command.GetReplicaList(name.key(), name.tenant()),
                answer -> found(name, call, answer, sent, this::next),
                () -> forget(name, call));
    }

    private void forget(ObjectName name, History.Call<StoreOperation> call) {
        history(name).unknown(call);
        next();
    }

    private void found(
            ObjectName name,
            History.Call<StoreOperation> call,
            Outcome<ReplicaList> answer,
            long sentOwn,
            Runnable then) {
        switch (answer) {
            case Outcome.Ok<ReplicaList>(ReplicaList list) ->
                    new Read(
                                    name,
                                    call,
                                    list.replicas(),
                                    list.objectChecksum(),
                                    leaseEnd(sentOwn, list.leaseTtlMs()),
                                    then)
                            .start();
            case Outcome.Failed<ReplicaList> failed -> {
                missed(name, call, failed.code());
                then.run();
            }
        }
    }

    private void missed(ObjectName name, History.Call<StoreOperation> call, Code code) {
        if (isMiss(code)) {
            world.figures.misses++;
            history(name).done(call);
        } else {
            history(name).unknown(call);
        }
    }

    private void getAll(List<ObjectName> names) {
        long sent = process.clock().nanos();
        List<History.Call<StoreOperation>> calls = observe(names);
        Args.Keys args = new Args.Keys(keys(names), names.getFirst().tenant());
        ask(
                new Command.BatchGetReplicaList(args),
                answers -> {
                    for (int i = 0; i < names.size(); i++) {
                        found(names.get(i), calls.get(i), answers.get(i), sent, () -> {});
                    }
                    next();
                },
                () -> forgetAll(names, calls));
    }

    private List<History.Call<StoreOperation>> observe(List<ObjectName> names) {
        return names.stream().map(name -> history(name).call(saw(0))).toList();
    }

    private void forgetAll(List<ObjectName> names, List<History.Call<StoreOperation>> calls) {
        for (int i = 0; i < names.size(); i++) {
            // What it has removed is in the history without it.
            history(names.get(i)).failed(calls.get(i));
        }
        next();
    }

    private static List<ByteString> keys(List<ObjectName> names) {
        return names.stream().map(ObjectName::key).toList();
    }

    private void acquire() {
        List<ObjectName> names = someNames(3);
        long sent = process.clock().nanos();
        List<History.Call<StoreOperation>> calls = observe(names);
        CassiaMessages.Acquire args =
                new CassiaMessages.Acquire(
                        keys(names),
                        names.getFirst().tenant(),
                        random().nextBoolean(),
                        random().nextInt(3) * 20L);
        Consumer<CheckedAcquired> acquired =
                answer -> {
                    acquired(names, calls, answer, sent);
                    next();
                };
        Runnable silence = () -> forgetAll(names, calls);
        if (world.profile.checksums()) {
            ask(new Command.AcquireChecked(args), acquired, silence);
        } else {
            ask(new Command.Acquire(args), answer -> acquired.accept(unchecked(answer)), silence);
        }
    }

    private static CheckedAcquired unchecked(CassiaMessages.Acquired plain) {
        return new CheckedAcquired(
                plain.leaseId(),
                plain.leaseTtlMs(),
                plain.objects().stream()
                        .map(
                                one ->
                                        one.map(
                                                replicas ->
                                                        new CheckedObject(
                                                                replicas,
                                                                0,
                                                                OptionalLong.empty(),
                                                                ByteString.EMPTY)))
                        .toList());
    }

    private void acquired(
            List<ObjectName> names,
            List<History.Call<StoreOperation>> calls,
            CheckedAcquired answer,
            long sentOwn) {
        long until = leaseEnd(sentOwn, answer.leaseTtlMs());
        int[] left = {1};
        Runnable release = () -> release(answer.leaseId(), left);
        for (int i = 0; i < names.size(); i++) {
            Outcome<CheckedObject> one =
                    i < answer.objects().size()
                            ? answer.objects().get(i)
                            : Outcome.failed(StoreCode.INTERNAL_ERROR, "not told");
            switch (one) {
                case Outcome.Ok<CheckedObject>(CheckedObject object) -> {
                    left[0]++;
                    Read read =
                            new Read(
                                    names.get(i),
                                    calls.get(i),
                                    object.replicas(),
                                    object.crc64(),
                                    until,
                                    release);
                    read.number = object.version();
                    read.start();
                }
                case Outcome.Failed<CheckedObject> failed ->
                        missed(names.get(i), calls.get(i), failed.code());
            }
        }
        release.run();
    }

    private void release(long leaseId, int[] readsLeft) {
        if (--readsLeft[0] == 0 && leaseId != 0 && random().nextInt(8) != 0) {
            ask(new Command.Release(List.of(leaseId)), _ -> {}, () -> {});
        }
    }

    private void longestPrefix() {
        List<ObjectName> names = someNames(4);
        long sent = process.clock().nanos();
        List<History.Call<StoreOperation>> calls = observe(names);
        CassiaMessages.LongestPrefix args =
                new CassiaMessages.LongestPrefix(
                        keys(names),
                        names.getFirst().tenant(),
                        random().nextInt(2) * 30L,
                        random().nextBoolean(),
                        true);
        ask(
                new Command.LongestPrefix(args),
                answer -> {
                    CassiaMessages.PrefixHit hit =
                            answer instanceof Outcome.Ok<CassiaMessages.PrefixHit>(var ok)
                                    ? ok
                                    : new CassiaMessages.PrefixHit(0, 0, 0, List.of());
                    int[] left = {1};
                    Runnable release = () -> release(hit.leaseId(), left);
                    for (int i = 0; i < names.size(); i++) {
                        if (i < hit.count()) {
                            left[0]++;
                            found(names.get(i), calls.get(i), hit.objects().get(i), sent, release);
                        } else {
                            history(names.get(i)).unknown(calls.get(i));
                        }
                    }
                    release.run();
                    next();
                },
                () -> forgetAll(names, calls));
    }

    private void getByRegex(ByteString tenant, Optional<ByteString> regex) {
        long sent = process.clock().nanos();
        ask(
                new Command.GetSlice(new Selection(Optional.of(tenant), regex), Cursor.START),
                answer -> {
                    answer.orThrow()
                            .part()
                            .forEach(
                                    (key, replicas) -> {
                                        ObjectName name = new ObjectName(tenant, key);
                                        // It may have been seen since the request was sent.
                                        new Read(
                                                        name,
                                                        null,
                                                        replicas,
                                                        OptionalLong.empty(),
                                                        leaseEnd(
                                                                sent,
                                                                TimeUnit.NANOSECONDS.toMillis(
                                                                        world.profile
                                                                                .config()
                                                                                .leaseNanos())),
                                                        () -> {})
                                                .start();
                                    });
                    next();
                },
                this::next);
    }

    private void exist(List<ObjectName> names) {
        List<History.Call<StoreOperation>> calls =
                names.stream()
                        .map(
                                name ->
                                        history(name)
                                                .call(
                                                        new StoreOperation(
                                                                StoreOperation.Kind.EXISTS, 0)))
                        .toList();
        if (names.size() == 1) {
            ObjectName name = names.getFirst();
            ask(
                    new Command.ExistKey(name.key(), name.tenant()),
                    answer -> {
                        existed(name, calls.getFirst(), answer);
                        next();
                    },
                    () -> forgetAll(names, calls));
            return;
        }
        ask(
                new Command.BatchExistKey(new Args.Keys(keys(names), names.getFirst().tenant())),
                answers -> {
                    for (int i = 0; i < names.size(); i++) {
                        existed(names.get(i), calls.get(i), answers.get(i));
                    }
                    next();
                },
                () -> forgetAll(names, calls));
    }

    private void existed(
            ObjectName name, History.Call<StoreOperation> call, Outcome<Boolean> answer) {
        if (answer.orThrow()) {
            history(name).done(call);
        } else if (world.profile.config().wipeNanos() > world.profile.config().clientTtlNanos()) {
            // No may mean that only silent nodes hold it; the audit checks that.
            history(name).unknown(call);
        } else {
            history(name).done(call, saw(0));
        }
    }

    /** One object being read, part by part, from one replica after the other until one is good. */
    private final class Read {
        private final ObjectName name;
        private final History.@Nullable Call<StoreOperation> call;
        private final List<ReplicaDescriptor> replicas;
        private final OptionalLong checksum;
        private final long untilOwn;
        private final Runnable then;
        private long[] cells = new long[0];
        private int replica;

        /** The master's number of the version, if it told. */
        private long number;

        Read(
                ObjectName name,
                History.@Nullable Call<StoreOperation> call,
                List<ReplicaDescriptor> replicas,
                OptionalLong checksum,
                long untilOwn,
                Runnable then) {
            this.name = name;
            this.call = call;
            this.replicas = replicas;
            this.checksum = checksum;
            this.untilOwn = untilOwn;
            this.then = then;
        }

        void start() {
            if (replica == replicas.size()) {
                over(0);
                return;
            }
            int length = (int) RangeClaims.bufferOf(replicas.get(replica)).size();
            cells = new long[length / NodeMemory.CELL];
            part(0);
        }

        private void part(int from) {
            if (from == cells.length) {
                judge();
                return;
            }
            int to = Math.min(cells.length, from + CELLS_PER_ACCESS);
            world.access(
                    process,
                    RangeClaims.bufferOf(replicas.get(replica)),
                    (memory, address) -> memory.read(address, cells, from, to),
                    () -> part(to),
                    this::nextReplica);
        }

        private void nextReplica() {
            replica++;
            start();
        }

        private void judge() {
            if (process.clock().nanos() > untilOwn) {
                world.figures.lateReads++;
                over(0);
                return;
            }
            long version = NodeMemory.wholeVersion(cells);
            WriteAttempt write = world.audit.attempt(version);
            if (world.profile.checksums()) {
                // Without the checksum in the answer the client compares nothing and trusts
                // nothing.
                if (checksum.isEmpty() || checksum.getAsLong() != version) {
                    if (checksum.isPresent()) {
                        mismatch();
                    }
                    nextReplica();
                    return;
                }
            }
            if (write == null || !write.name.equals(name)) {
                throw new AssertionError(
                        "%s: %s read %s from %s under a lease until %d us: bytes of %s"
                                .formatted(
                                        name,
                                        process.name(),
                                        replicas.get(replica),
                                        replicas,
                                        untilOwn / 1000,
                                        write == null ? "no one version" : write));
            }
            over(version);
        }

        private void mismatch() {
            world.figures.mismatches++;
            if (number != 0) {
                ask(
                        new Command.DropReplica(
                                new CheckedMessages.DropReplica(
                                        name.key(),
                                        name.tenant(),
                                        number,
                                        replicas.get(replica).id())),
                        dropped -> world.figures.dropped += dropped ? 1 : 0,
                        () -> {});
            }
        }

        private void over(long version) {
            if (version != 0) {
                world.figures.reads++;
            }
            if (call != null) {
                if (version == 0) {
                    history(name).unknown(call);
                } else {
                    history(name).done(call, saw(version));
                }
            }
            then.run();
        }
    }

    // Writing

    private ReplicateConfig anyConfig(int keys) {
        int choice = random().nextInt(40);
        int softPin = choice < 4 ? 1 : choice == 4 ? 2 : 0;
        boolean hardPin = choice == 5;
        Optional<List<ByteString>> group =
                choice < 12 && choice > 5
                        ? Optional.of(
                                java.util.Collections.nCopies(
                                        keys, ByteString.of("g" + random().nextInt(3))))
                        : Optional.empty();
        long replicas = choice < 24 ? 1 : 1 + random().nextInt(3);
        return new ReplicateConfig(
                replicas,
                0,
                0,
                softPin,
                softPin == 1 && random().nextBoolean()
                        ? OptionalLong.of(random().nextInt(500))
                        : OptionalLong.empty(),
                hardPin,
                random().nextBoolean() ? List.of() : List.of(anyNode()),
                "",
                List.of(),
                false,
                0,
                "",
                group);
    }

    private long anyLength() {
        long cells = 1 + random().nextLong(random().nextInt(4) == 0 ? LONGEST / 64 : 12);
        return cells * NodeMemory.CELL;
    }

    private boolean isUnsettled(ObjectName name) {
        return !world.profile.namesPuts()
                && (unsettled.getOrDefault(name, 0) > 0
                        || writing.stream().anyMatch(attempt -> attempt.name.equals(name)));
    }

    private void write(List<ObjectName> wanted, boolean upsert, boolean batch) {
        List<ObjectName> names = wanted.stream().filter(name -> !isUnsettled(name)).toList();
        if (names.isEmpty()) {
            next();
            return;
        }
        ReplicateConfig config = anyConfig(names.size());
        List<WriteAttempt> attempts = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            WriteAttempt attempt =
                    new WriteAttempt(
                            names.get(i),
                            id,
                            world.newVersion(),
                            anyLength(),
                            upsert,
                            withOneGroup(config),
                            history(names.get(i)));
            world.audit.register(attempt);
            attempts.add(attempt);
            writing.add(attempt);
        }
        if (batch) {
            startBatch(attempts, config, upsert);
        } else {
            startOne(attempts.getFirst(), upsert);
        }
    }

    private static ReplicateConfig withOneGroup(ReplicateConfig config) {
        return withGroups(config, 1);
    }

    /** The groups of the first of its objects only. */
    private static ReplicateConfig withGroups(ReplicateConfig config, int count) {
        return new ReplicateConfig(
                config.replicaNum(),
                config.nofReplicaNum(),
                config.dfsReplicaNum(),
                config.softPinAction(),
                config.softPinTtlMs(),
                config.withHardPin(),
                config.preferredSegments(),
                config.preferredSegment(),
                config.preferredNofSegments(),
                config.preferAllocInSameNode(),
                config.dataType(),
                config.hostId(),
                config.groupIds().map(ids -> ids.subList(0, count)));
    }

    private void startOne(WriteAttempt attempt, boolean upsert) {
        long sent = process.clock().nanos();
        Args.PutStart args =
                new Args.PutStart(
                        attempt.writer,
                        attempt.name.key(),
                        attempt.length,
                        attempt.config,
                        attempt.name.tenant());
        Command<Outcome<List<ReplicaDescriptor>>> command =
                upsert ? new Command.UpsertStart(args) : new Command.PutStart(args);
        List<WriteAttempt> attempts = List.of(attempt);
        change(
                command,
                attempts,
                answer -> {
                    started(attempt, answer, sent, good -> end(attempts, List.of(good), 0));
                },
                () -> giveUp(attempts));
    }

    private void startBatch(List<WriteAttempt> attempts, ReplicateConfig config, boolean upsert) {
        long sent = process.clock().nanos();
        Args.BatchPutStart args =
                new Args.BatchPutStart(
                        attempts.getFirst().writer,
                        attempts.stream().map(attempt -> attempt.name.key()).toList(),
                        attempts.stream().map(attempt -> attempt.length).toList(),
                        config,
                        attempts.getFirst().name.tenant());
        Command<List<Outcome<List<ReplicaDescriptor>>>> command =
                upsert ? new Command.BatchUpsertStart(args) : new Command.BatchPutStart(args);
        change(
                command,
                attempts,
                answers -> {
                    List<Boolean> good = new ArrayList<>();
                    for (int i = 0; i < attempts.size(); i++) {
                        started(
                                attempts.get(i),
                                answers.get(i),
                                sent,
                                well -> {
                                    good.add(well);
                                    if (good.size() == attempts.size()) {
                                        endBatch(attempts);
                                    }
                                });
                    }
                },
                () -> giveUp(attempts));
    }

    /** Asks for a change; the keys are unsettled until the message is over. */
    private <R> void change(
            Command<R> command,
            List<WriteAttempt> attempts,
            Consumer<R> answered,
            Runnable silence) {
        attempts.forEach(attempt -> unsettled.merge(attempt.name, 1, Integer::sum));
        ask(
                command,
                attempts,
                0,
                answered,
                silence,
                () -> {
                    attempts.forEach(attempt -> unsettled.merge(attempt.name, -1, Integer::sum));
                    if (command instanceof Command.PutEnd
                            || command instanceof Command.Commit
                            || command instanceof Command.BatchPutEnd) {
                        attempts.forEach(WriteAttempt::endOver);
                    }
                });
    }

    private void giveUp(List<WriteAttempt> attempts) {
        attempts.forEach(this::abandon);
        next();
    }

    private void abandon(WriteAttempt attempt) {
        writing.remove(attempt);
        attempt.abandon();
    }

    private void started(
            WriteAttempt attempt,
            Outcome<List<ReplicaDescriptor>> answer,
            long sentOwn,
            Consumer<Boolean> then) {
        switch (answer) {
            case Outcome.Ok<List<ReplicaDescriptor>>(var replicas) -> {
                attempt.put = replicas.getFirst().id();
                transfer(attempt, replicas, 0, sentOwn, then);
            }
            case Outcome.Failed<List<ReplicaDescriptor>> _ -> {
                attempt.started = false;
                then.accept(false);
            }
        }
    }

    private void transfer(
            WriteAttempt attempt,
            List<ReplicaDescriptor> replicas,
            int part,
            long sentOwn,
            Consumer<Boolean> then) {
        attempt.started = true;
        int parts = (int) (attempt.length / NodeMemory.CELL);
        if (replicas.isEmpty()) {
            attempt.written = true;
            then.accept(true);
            return;
        }
        // With checksums a writer may be as careless as one that was stopped in the middle.
        if (world.isTooLate(process, sentOwn)
                && !(world.profile.checksums() && random().nextBoolean())) {
            then.accept(false);
            return;
        }
        int to = Math.min(parts, part + CELLS_PER_ACCESS);
        world.access(
                process,
                RangeClaims.bufferOf(replicas.getFirst()),
                (memory, address) -> memory.write(address, attempt.version, part, to),
                () -> {
                    boolean more = to < parts;
                    transfer(
                            attempt,
                            more ? replicas : replicas.subList(1, replicas.size()),
                            more ? to : 0,
                            sentOwn,
                            then);
                },
                () -> then.accept(false));
    }

    private void end(List<WriteAttempt> attempts, List<Boolean> good, int retries) {
        WriteAttempt attempt = attempts.getFirst();
        if (!good.getFirst()) {
            revoke(attempt);
            next();
            return;
        }
        attempt.endSent();
        Args.PutEnd args =
                new Args.PutEnd(attempt.writer, meta(attempt), ALL, attempt.name.tenant());
        change(
                new Command.PutEnd(args, named(attempt)),
                attempts,
                answer -> {
                    ended(attempt, answer);
                    next();
                },
                () -> {
                    if (retries < 2) {
                        end(attempts, good, retries + 1);
                    } else {
                        giveUp(attempts);
                    }
                });
    }

    /** What an End says about which Start it means. */
    private long named(WriteAttempt attempt) {
        return world.profile.namesPuts() ? attempt.put : 0;
    }

    private static ObjectMeta meta(WriteAttempt attempt) {
        return new ObjectMeta(attempt.name.key(), OptionalLong.of(attempt.version));
    }

    private void ended(WriteAttempt attempt, Outcome<Done> answer) {
        writing.remove(attempt);
        if (answer.isOk()) {
            world.figures.puts++;
            attempt.succeeded();
        } else {
            attempt.refused();
        }
    }

    private void revoke(WriteAttempt attempt) {
        abandon(attempt);
        if (attempt.started) {
            change(
                    new Command.PutRevoke(
                            new Args.PutRevoke(
                                    attempt.writer, attempt.name.key(), ALL, attempt.name.tenant()),
                            named(attempt)),
                    List.of(attempt),
                    _ -> {},
                    () -> {});
        }
    }

    private void endBatch(List<WriteAttempt> attempts) {
        List<WriteAttempt> good = attempts.stream().filter(attempt -> attempt.written).toList();
        attempts.stream().filter(attempt -> !attempt.written).forEach(this::revoke);
        if (good.isEmpty()) {
            next();
            return;
        }
        good.forEach(WriteAttempt::endSent);
        change(
                new Command.BatchPutEnd(
                        good.getFirst().writer,
                        good.stream().map(SimulatedClient::meta).toList(),
                        ALL,
                        good.getFirst().name.tenant(),
                        good.stream().map(this::named).toList()),
                good,
                answers -> {
                    for (int i = 0; i < good.size(); i++) {
                        ended(good.get(i), answers.get(i));
                    }
                    next();
                },
                () -> giveUp(good));
    }

    // Writing to space that was reserved ahead

    private record Ahead(
            ByteString tenant,
            ReplicateConfig config,
            List<List<ReplicaDescriptor>> spaces,
            long sentOwn,
            long ttlNanos) {
        List<Long> ids() {
            return spaces.stream().map(each -> each.getFirst().id()).toList();
        }
    }

    private void reserve() {
        ByteString tenant = world.tenant(random().nextInt(world.profile.tenants()));
        int count = 1 + random().nextInt(3);
        List<Long> lengths = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            lengths.add(anyLength());
        }
        ReplicateConfig config = anyConfig(count);
        long sent = process.clock().nanos();
        ask(
                new Command.Reserve(id, tenant, new Wanted(lengths, config)),
                answer -> {
                    if (answer.spaces().isEmpty()) {
                        next();
                        return;
                    }
                    world.figures.reserved += answer.spaces().size();
                    Ahead old = ahead;
                    if (old != null) {
                        giveBack(old.ids());
                    }
                    long ttl = TimeUnit.MILLISECONDS.toNanos(answer.ttlMs());
                    ahead = new Ahead(tenant, config, answer.spaces(), sent, ttl);
                    if (random().nextInt(8) == 0) {
                        // Forgotten until the next one comes, or for ever.
                        next();
                    } else {
                        process.after(
                                random().nextLong(90 * SimulationProfile.MILLI), this::writeAhead);
                    }
                },
                this::next);
    }

    private void giveBack(List<Long> spaces) {
        ask(new Command.GiveBack(new GiveBack(id, spaces)), _ -> {}, () -> {});
    }

    private void writeAhead() {
        Ahead space = ahead;
        ahead = null;
        if (space == null) {
            next();
            return;
        }
        boolean young =
                process.clock().nanos() - space.sentOwn < space.ttlNanos - space.ttlNanos / 100;
        Set<ObjectName> names = new LinkedHashSet<>();
        for (int i = 0; young && !world.quiet && i < space.spaces.size(); i++) {
            ObjectName name = new ObjectName(space.tenant, anyName().key());
            if (!isUnsettled(name)) {
                names.add(name);
            }
        }
        giveBack(space.ids().subList(names.size(), space.spaces.size()));
        if (names.isEmpty()) {
            next();
            return;
        }
        boolean upsert = random().nextInt(4) == 0;
        List<WriteAttempt> attempts = new ArrayList<>();
        for (ObjectName name : names) {
            List<ReplicaDescriptor> own = space.spaces.get(attempts.size());
            WriteAttempt attempt =
                    new WriteAttempt(
                            name,
                            id,
                            world.newVersion(),
                            RangeClaims.bufferOf(own.getFirst()).size(),
                            upsert,
                            withOneGroup(space.config),
                            history(name));
            attempt.put = own.getFirst().id();
            world.audit.register(attempt);
            attempts.add(attempt);
            writing.add(attempt);
        }
        int[] open = {attempts.size()};
        for (int i = 0; i < attempts.size(); i++) {
            transfer(
                    attempts.get(i),
                    space.spaces.get(i),
                    0,
                    space.sentOwn,
                    _ -> {
                        if (--open[0] == 0) {
                            commit(attempts, space.config);
                        }
                    });
        }
    }

    private static List<Long> spaces(List<WriteAttempt> attempts) {
        return attempts.stream().map(attempt -> attempt.put).toList();
    }

    private void commit(List<WriteAttempt> attempts, ReplicateConfig config) {
        List<WriteAttempt> good = attempts.stream().filter(attempt -> attempt.written).toList();
        List<WriteAttempt> bad = attempts.stream().filter(attempt -> !attempt.written).toList();
        if (!bad.isEmpty()) {
            giveBack(spaces(bad));
            bad.forEach(this::abandon);
        }
        if (good.isEmpty()) {
            next();
            return;
        }
        good.forEach(WriteAttempt::endSent);
        WriteAttempt first = good.getFirst();
        Commit args =
                new Commit(
                        first.writer,
                        good.stream().map(SimulatedClient::written).toList(),
                        good.stream().map(attempt -> attempt.length).toList(),
                        spaces(good),
                        withGroups(config, good.size()),
                        first.upsert,
                        first.name.tenant(),
                        Wanted.NOTHING);
        change(
                new Command.Commit(args),
                good,
                answers -> committed(good, answers),
                () -> {
                    giveBack(spaces(good));
                    giveUp(good);
                });
    }

    private static WrittenObject written(WriteAttempt attempt) {
        return new WrittenObject(
                attempt.name.key(), OptionalLong.of(attempt.version), ByteString.EMPTY);
    }

    private void committed(List<WriteAttempt> attempts, List<Outcome<Long>> answers) {
        List<ObjectName> gone = new ArrayList<>();
        for (int i = 0; i < attempts.size(); i++) {
            ended(attempts.get(i), answers.get(i).map(version -> Done.DONE));
            if (answers.get(i) instanceof Outcome.Failed<Long> failed
                    && failed.code() == StoreCode.INVALID_WRITE) {
                world.figures.goneSpaces++;
                gone.add(attempts.get(i).name);
            }
        }
        if (gone.isEmpty()) {
            next();
        } else {
            write(gone, attempts.getFirst().upsert, true);
        }
    }

    private void remove(List<ObjectName> names, boolean batch) {
        boolean force = random().nextInt(3) == 0;
        List<History.Call<StoreOperation>> calls =
                names.stream()
                        .map(
                                name ->
                                        history(name)
                                                .call(
                                                        new StoreOperation(
                                                                StoreOperation.Kind.REMOVE, 0)))
                        .toList();
        Runnable over = () -> forgetOpen(names, calls);
        if (!batch) {
            ObjectName name = names.getFirst();
            ask(
                    new Command.Remove(name.key(), force, name.tenant()),
                    List.of(),
                    0,
                    answer -> {
                        removed(name, calls.getFirst(), answer);
                        next();
                    },
                    this::next,
                    over);
            return;
        }
        ask(
                new Command.BatchRemove(
                        new Args.BatchRemove(keys(names), force, names.getFirst().tenant())),
                List.of(),
                0,
                answers -> {
                    for (int i = 0; i < names.size(); i++) {
                        removed(names.get(i), calls.get(i), answers.get(i));
                    }
                    next();
                },
                this::next,
                over);
    }

    private void removed(ObjectName name, History.Call<StoreOperation> call, Outcome<Done> answer) {
        if (!call.isOpen()) {
            return;
        }
        switch (answer) {
            case Outcome.Ok<Done> _ -> history(name).done(call);
            case Outcome.Failed<Done> failed when failed.code() == StoreCode.OBJECT_NOT_FOUND ->
                    history(name).done(call);
            case Outcome.Failed<Done> _ -> history(name).failed(call);
        }
    }

    /** The message cannot arrive any more, but its answer may be under way. */
    private void forgetOpen(List<ObjectName> names, List<History.Call<StoreOperation>> calls) {
        world.time.after(
                2 * world.profile.network().lateNanos(),
                () -> {
                    for (int i = 0; i < names.size(); i++) {
                        if (calls.get(i).isOpen()) {
                            history(names.get(i)).unknown(calls.get(i));
                        }
                    }
                });
    }

    // The end

    /** Puts and gets one more object of each tenant, when nothing goes wrong any more. */
    void finish() {
        ObjectName name = new ObjectName(world.tenant(0), ByteString.of("last"));
        WriteAttempt attempt =
                new WriteAttempt(
                        name,
                        world.newId(),
                        world.newVersion(),
                        NodeMemory.CELL,
                        true,
                        ReplicateConfig.DEFAULT,
                        history(name));
        world.audit.register(attempt);
        if (world.profile.config().multiTenant()) {
            ask(
                    // So much that the shares of the others do not matter; pinned objects may be
                    // many.
                    new Command.SetTenantQuota(
                            name.tenant(),
                            1_000L * world.profile.nodeBytes() * world.profile.nodes()),
                    _ -> startOne(attempt, true),
                    () -> {});
        } else {
            startOne(attempt, true);
        }
        process.after(
                200 * SimulationProfile.MILLI,
                () ->
                        ask(
                                new Command.GetReplicaList(name.key(), name.tenant()),
                                answer -> finished = answer.isOk() && attempt.tookEffect,
                                () -> {}));
    }

    boolean isFinished() {
        return finished;
    }
}
