package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.PingResult;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import io.cassia.testkit.simulation.SimulatedNetwork;
import io.cassia.testkit.simulation.SimulatedProcess;
import io.cassia.testkit.simulation.VirtualClock;
import io.cassia.testkit.simulation.VirtualTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Confined to one thread. A master, nodes and clients in virtual time, and somebody who breaks
 * things. Everything is a function of the seed.
 */
final class ClusterSimulation {
    /** A one-sided access to a node's memory. */
    @FunctionalInterface
    interface Access {
        void at(NodeMemory memory, long address);
    }

    private static final int TRACE_LINES = 80;

    final VirtualTime time = new VirtualTime();
    final SplittableRandom random;
    final SimulationProfile profile;
    final SimulatedNetwork network;
    final SimulatedProcess master;
    MasterCore core;
    final MasterAudit audit;
    final SimulationFigures figures = new SimulationFigures();
    final List<SimulatedNode> nodes = new ArrayList<>();
    final List<SimulatedClient> clients = new ArrayList<>();
    final List<Uuid> drainJobs = new ArrayList<>();
    boolean quiet;
    private final Map<String, SimulatedNode> byEndpoint = new HashMap<>();
    private final @Nullable Deque<String> trace;

    /** What the master keeps in its file of policies. */
    private final Map<ByteString, Long> quotas = new TreeMap<>();

    private long lastNumber;
    private long lastVersion;
    private int lastPort = 1000;

    ClusterSimulation(long seed, boolean traced) {
        random = new SplittableRandom(seed);
        profile = SimulationProfile.of(random.split());
        network = new SimulatedNetwork(time, random.split(), profile.network());
        master = newProcess("master", 0);
        core = new MasterCore(profile.config(0, random.nextLong()), master.clock().nanos());
        audit = new MasterAudit(profile.config(), core, time, master);
        trace = traced ? new ArrayDeque<>() : null;
        for (int i = 0; i < profile.nodes(); i++) {
            String name = "node-" + i;
            nodes.add(new SimulatedNode(this, newProcess(name, drift()), name));
        }
        for (int i = 0; i < profile.clients(); i++) {
            clients.add(new SimulatedClient(this, newProcess("client-" + i, drift())));
        }
    }

    private SimulatedProcess newProcess(String name, long driftPpm) {
        long origin = random.nextLong(-1L << 60, 1L << 60);
        return new SimulatedProcess(name, time, new VirtualClock(time, origin, driftPpm));
    }

    /** Quartz is good to some ten millionths. */
    private long drift() {
        return random.nextLong(-100, 101);
    }

    Uuid newId() {
        return new Uuid(++lastNumber, random.nextLong());
    }

    /**
     * Names somebody who may read or write. Versions are negative here, so that both are unique.
     */
    long newHolder() {
        return - ++lastNumber;
    }

    long newVersion() {
        return ++lastVersion;
    }

    /** A node that was restarted may find itself at its old place, with other bytes. */
    NodeMemory newMemory(SimulatedNode node, @Nullable NodeMemory crashed) {
        if (crashed != null && profile.checksums() && random.nextBoolean()) {
            return new NodeMemory(crashed.endpoint, crashed.base, crashed.bytes());
        }
        String endpoint = "10.0.0." + nodes.indexOf(node) + ":" + ++lastPort;
        byEndpoint.put(endpoint, node);
        return new NodeMemory(endpoint, (1L << 40) + lastPort * (1L << 30), profile.nodeBytes());
    }

    ByteString tenant(int number) {
        return number == 0 ? Tenants.DEFAULT_NAME : ByteString.of("tenant-" + number);
    }

    /** Lets the master carry out a message that has arrived. */
    <R> R handle(Request<R> request) {
        request.arrivals++;
        R answer = core.apply(request.command, master.clock().nanos());
        figures.commands++;
        if (!isRoutine(request.command, answer)) {
            trace(() -> request.sender + " " + request.command + " -> " + answer);
        }
        if (request.command instanceof Command.CreateDrainJob
                && answer instanceof Outcome.Ok<?>(Uuid job)) {
            drainJobs.add(job);
        }
        if (request.command instanceof Command.SetTenantQuota quota
                && answer instanceof Outcome.Ok<?>) {
            quotas.put(quota.tenant(), quota.requestedBytes());
        }
        audit.observe(request, answer);
        return answer;
    }

    private static boolean isRoutine(Command<?> command, Object answer) {
        return switch (command) {
            case Command.Tick _ -> true;
            case Command.FetchTasks _ -> answer.equals(List.of());
            case Command.Ping _ -> answer.equals(Outcome.ok(new PingResult(0, 1)));
            default -> false;
        };
    }

    private void tick() {
        Request<Boolean> tick =
                new Request<>(new Command.Tick(), "timer", time.nanos(), List.of(), 0);
        while (handle(tick)) {
            // Slices until nothing is due.
        }
        master.after(profile.config().tickNanos(), this::tick);
    }

    /** The master runs again and knows nothing but its settings. */
    void startMasterAgain() {
        if (!master.isDown()) {
            return;
        }
        trace(() -> "the master starts");
        master.start();
        drainJobs.clear();
        core =
                new MasterCore(
                        profile.config(profile.config().restartGraceNanos(), random.nextLong()),
                        master.clock().nanos());
        audit.masterStartsAgain(core);
        new TreeMap<>(quotas).forEach(this::setAgain);
        tick();
    }

    private void setAgain(ByteString tenant, long quota) {
        Command<?> set = new Command.SetTenantQuota(tenant, quota);
        handle(new Request<>(set, "policies", time.nanos(), List.of(), 0));
    }

    /** An operator who has waited long enough; he asks again until it is so. */
    void cancelDrain(Uuid job) {
        SimulatedClient operator = clients.getFirst();
        if (operator.process.isUp()) {
            operator.ask(new Command.CancelDrainJob(job), _ -> {}, () -> {});
        }
    }

    /** Whether a writer may not write any more what it started at that time of its own clock. */
    boolean isTooLate(SimulatedProcess writer, long sentOwnNanos) {
        long release = profile.config().putReleaseNanos();
        return writer.clock().nanos() - sentOwnNanos >= release - release / 20;
    }

    /**
     * Reads or writes a node's memory over the data plane. With checksums that is a connection to
     * the node's process, whose bytes may land late; without, it is the memory itself.
     */
    void access(
            SimulatedProcess by,
            BufferDescriptor buffer,
            Access access,
            Runnable done,
            Runnable failed) {
        SimulatedNode node = byEndpoint.get(buffer.transportEndpoint());
        long way = profile.checksums() ? network.wayNanos() : random.nextLong(20_000, 300_000);
        long sender = by.incarnation();
        Runnable answerDone = () -> answer(by, sender, 20_000, 200_000, done);
        Runnable answerFailed = () -> answer(by, sender, 1_000_000, 20_000_000, failed);
        if (node == null || network.isCut(by, node.process)) {
            answerFailed.run();
            return;
        }
        Runnable land =
                () -> {
                    NodeMemory memory = node.memory;
                    boolean there =
                            memory != null && memory.endpoint.equals(buffer.transportEndpoint());
                    if (there && memory != null) {
                        access.at(memory, buffer.address());
                    }
                    (there ? answerDone : answerFailed).run();
                };
        if (profile.checksums() && !quiet && random.nextInt(150) == 0) {
            // The transfer fails for its caller, and its bytes land long after.
            figures.lateBytes++;
            time.after(
                    random.nextLong(3000 * SimulationProfile.MILLI),
                    () -> {
                        NodeMemory memory = node.memory;
                        if (memory != null && memory.endpoint.equals(buffer.transportEndpoint())) {
                            access.at(memory, buffer.address());
                        }
                    });
            answerFailed.run();
        } else if (profile.checksums()) {
            long incarnation = node.process.incarnation();
            time.after(way, () -> node.process.happen(incarnation, land, answerFailed));
        } else {
            time.after(way, land);
        }
    }

    /** Tells the process that asked, if it still is that. */
    private void answer(
            SimulatedProcess asked,
            long incarnation,
            long leastNanos,
            long mostNanos,
            Runnable then) {
        if (incarnation == asked.incarnation() && !asked.isDown()) {
            asked.after(random.nextLong(leastNanos, mostNanos), then);
        }
    }

    /** Runs so many commands with faults, then without, and checks what must hold at the end. */
    void run(long commands) {
        master.start();
        tick();
        nodes.forEach(SimulatedNode::start);
        clients.forEach(SimulatedClient::start);
        new FaultInjection(this).schedule();
        while (figures.commands < commands && time.step()) {
            // The audit looks at each command.
        }
        comeToRest();
        audit.checkHistories();
        figures.evictions = audit.evictions;
        figures.losses = audit.losses;
        figures.refusedEnds = audit.refusedEnds;
        figures.copies = audit.copies;
        figures.commits = audit.commits;
    }

    /** Nothing goes wrong any more, and nobody wants anything: what was in flight must end. */
    private void comeToRest() {
        quiet = true;
        network.heal();
        trace(() -> "faults end");
        master.resume(random);
        startMasterAgain();
        for (SimulatedNode node : nodes) {
            node.process.resume(random);
            if (node.process.isDown()) {
                node.start();
            }
        }
        for (SimulatedClient client : clients) {
            client.process.resume(random);
            if (client.process.isDown()) {
                client.start();
            }
        }
        endDrains(10);
        CoreConfig config = profile.config();
        long rest =
                3 * (config.putReleaseNanos() + config.wipeNanos() + config.leaseNanos())
                        + config.restartGraceNanos()
                        + profile.network().lateNanos();
        long until = time.nanos() + rest;
        while (time.nanos() < until && time.step()) {
            // The audit looks at each command.
        }
        CoreState state = core.state();
        empty("bytes in flight", state.inFlightBytes);
        empty("reserved spaces", state.reserved.size());
        empty("space that awaits its release", state.discards.size());
        empty("counted leases", state.leases.count());
        empty("copies", state.replications.size());
        for (SimulatedNode node : nodes) {
            if (!node.isMounted(state)) {
                throw new AssertionError(node.name + " is up and not mounted");
            }
        }
        for (MountedSegment segment : state.segments.all()) {
            if (nodes.stream().noneMatch(node -> node.lends(segment))) {
                throw new AssertionError(
                        segment.wire + " is mounted although nobody lends it any more");
            }
        }
        clients.getFirst().finish();
        long end = time.nanos() + 1000 * SimulationProfile.MILLI;
        while (time.nanos() < end && time.step()) {
            // The last operations.
        }
        if (!clients.getFirst().isFinished()) {
            throw new AssertionError("the last put and get did not succeed");
        }
    }

    /** An operator cancels all drains until it is done; what is drained already is lent anew. */
    private void endDrains(int tries) {
        for (Uuid job : drainJobs) {
            handle(
                    new Request<>(
                            new Command.CancelDrainJob(job),
                            "operator",
                            time.nanos(),
                            List.of(),
                            0));
        }
        nodes.forEach(node -> node.leaveIfRetired(core.state()));
        if (tries > 0) {
            time.after(200 * SimulationProfile.MILLI, () -> endDrains(tries - 1));
        }
    }

    private static void empty(String what, long count) {
        if (count != 0) {
            throw new AssertionError(count + " " + what + " although nobody does anything");
        }
    }

    void trace(Supplier<String> line) {
        if (trace != null) {
            trace.addLast(time.nanos() / 1000 + " us " + line.get());
            if (trace.size() > TRACE_LINES) {
                trace.removeFirst();
            }
        }
    }

    String trace() {
        return trace == null ? "" : String.join("\n    ", trace);
    }
}
