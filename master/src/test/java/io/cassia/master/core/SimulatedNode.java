package io.cassia.master.core;

import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.ClientStatus;
import io.cassia.rpc.mooncake.CopyStartResult;
import io.cassia.rpc.mooncake.MoveStartResult;
import io.cassia.rpc.mooncake.PingResult;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.TaskCompletion;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.testkit.simulation.SimulatedProcess;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the simulation. A storage node: lends memory, pings, mounts again when the master has
 * forgotten it, carries out copies and moves.
 */
final class SimulatedNode extends SimulatedMember {
    private static final long PING_EVERY = 100 * SimulationProfile.MILLI;
    private static final long MOST_BUSY = 800 * SimulationProfile.MILLI;
    private static final int FAILED = 2;
    private static final int SUCCESS = 3;
    private static final int MOST_ENDS = 3;

    final String name;
    @Nullable NodeMemory memory;
    private @Nullable Segment segment;

    /** What the master was asked to unmount and may still think to have. */
    private boolean leaving;

    /** Keys with messages about a copy or move under way; another map after each start. */
    private Map<ObjectName, Integer> unsettled = new HashMap<>();

    /** What it lent when it crashed. */
    private @Nullable NodeMemory crashed;

    SimulatedNode(ClusterSimulation world, SimulatedProcess process, String name) {
        super(world, process);
        this.name = name;
    }

    @Override
    void run() {
        unsettled = new HashMap<>();
        lend();
        heartbeat(process.incarnation());
    }

    private void lend() {
        NodeMemory fresh = world.newMemory(this, crashed);
        crashed = null;
        memory = fresh;
        leaving = false;
        Segment lent =
                new Segment(
                        world.newId(), name, fresh.base, fresh.bytes(), fresh.endpoint, "tcp", "");
        segment = lent;
        mount(lent);
    }

    private void mount(Segment lent) {
        if (lent.equals(segment) && !leaving) {
            ask(
                    new Command.MountSegment(new Args.MountSegment(lent, id)),
                    answer -> {
                        if (!answer.isOk()) {
                            process.after(PING_EVERY, () -> mount(lent));
                        }
                    },
                    () -> mount(lent));
        }
    }

    private void heartbeat(long incarnation) {
        if (incarnation != process.incarnation()) {
            return;
        }
        ask(new Command.Ping(id), this::pinged, () -> {});
        ask(
                new Command.FetchTasks(new Args.FetchTasks(id, 2)),
                orders -> orders.forEach(this::carryOut),
                () -> {});
        process.after(PING_EVERY, () -> heartbeat(incarnation));
    }

    private void pinged(Outcome<PingResult> answer) {
        Segment lent = segment;
        if (answer instanceof Outcome.Ok<PingResult>(PingResult result)
                && result.clientStatus() == ClientStatus.NEED_REMOUNT.number()
                && lent != null
                && !leaving) {
            ask(
                    new Command.ReMountSegment(new Args.ReMountSegment(List.of(lent), id)),
                    _ -> {},
                    () -> {});
        }
    }

    /** Takes its memory back and lends new memory a little later. */
    void leave(boolean gracefully) {
        Segment lent = segment;
        if (lent == null || leaving || !process.isUp()) {
            return;
        }
        leaving = true;
        if (gracefully) {
            long graceMs = world.random.nextInt(100);
            ask(
                    new Command.GracefulUnmountSegment(
                            new Args.GracefulUnmountSegment(lent.id(), id, graceMs)),
                    _ -> {},
                    () -> {});
            process.after(graceMs * SimulationProfile.MILLI, () -> waitUntilGone(lent.id()));
            return;
        }
        unmount(lent.id());
    }

    /** Lends its memory anew when the master does not use it any more. */
    void leaveIfRetired(CoreState state) {
        Segment lent = segment;
        MountedSegment mounted = lent == null ? null : state.segments.find(lent.id());
        if (mounted != null && mounted.status() != SegmentStatus.OK) {
            leave(false);
        }
    }

    private void waitUntilGone(Uuid gone) {
        ask(
                new Command.QuerySegmentStatusById(gone),
                // The last word is an unmount: the master may have started again, with a mount of
                // this segment still on its way.
                _ -> process.after(20 * SimulationProfile.MILLI, () -> unmount(gone)),
                () -> waitUntilGone(gone));
    }

    private void unmount(Uuid gone) {
        // Who reads or writes from now on gets an error, not memory that is used for something
        // else.
        memory = null;
        ask(
                new Command.UnmountSegment(new Args.UnmountSegment(gone, id)),
                _ -> comeBack(),
                () -> unmount(gone));
    }

    private void comeBack() {
        if (leaving && segment != null) {
            memory = null;
            segment = null;
            process.after(50 * SimulationProfile.MILLI, this::lend);
        }
    }

    @Override
    void crash() {
        process.crash();
        crashed = memory;
        memory = null;
        segment = null;
    }

    /** Whether the segment that it lends is in use at the master. */
    boolean isMounted(CoreState state) {
        Segment lent = segment;
        MountedSegment mounted = lent == null ? null : state.segments.find(lent.id());
        return mounted != null && mounted.isAllocatable();
    }

    /** A copy or move that it carries out. */
    private final class Copying {
        final TaskOrder order;
        final ObjectName name;
        final long holder = world.newHolder();
        final long sentOwn = process.clock().nanos();
        final Map<ObjectName, Integer> unsettledHere = unsettled;

        /** What its End says about which Start it means. */
        long number;

        Copying(TaskOrder order) {
            this.order = order;
            this.name = new ObjectName(order.tenant(), order.key());
        }

        void settle(int messages) {
            unsettledHere.merge(name, messages, (a, b) -> a + b == 0 ? null : (Integer) (a + b));
        }

        <R> void ask(Command<R> command, Consumer<R> answered, Runnable silence) {
            settle(1);
            SimulatedNode.this.ask(command, List.of(), holder, answered, silence, () -> settle(-1));
        }
    }

    boolean lends(MountedSegment mounted) {
        return mounted.wire.equals(segment);
    }

    private void carryOut(TaskOrder order) {
        Copying copying = new Copying(order);
        if (!world.profile.namesPuts() && unsettled.containsKey(copying.name)) {
            // An End of an earlier one may be under way, and would not say which it means.
            report(order, FAILED);
            return;
        }
        if (order.move()) {
            copying.ask(
                    new Command.MoveStart(
                            new Args.MoveStart(
                                    id,
                                    order.key(),
                                    order.tenant(),
                                    order.source(),
                                    order.targets().getFirst())),
                    answer -> {
                        if (answer instanceof Outcome.Ok<MoveStartResult>(var started)) {
                            copy(copying, started.source(), started.target().stream().toList());
                        } else {
                            report(order, FAILED);
                        }
                    },
                    () -> {});
            return;
        }
        copying.ask(
                new Command.CopyStart(
                        new Args.CopyStart(
                                id, order.key(), order.tenant(), order.source(), order.targets())),
                answer -> {
                    if (answer instanceof Outcome.Ok<CopyStartResult>(var started)) {
                        copy(copying, started.source(), started.targets());
                    } else {
                        report(order, FAILED);
                    }
                },
                () -> {});
    }

    private void copy(Copying copying, ReplicaDescriptor source, List<ReplicaDescriptor> targets) {
        copying.settle(1);
        if (world.profile.namesPuts()) {
            copying.number = targets.isEmpty() ? source.id() : targets.getFirst().id();
        }
        BufferDescriptor from = RangeClaims.bufferOf(source);
        NodeMemory own = memory;
        if (own == null || !own.endpoint.equals(from.transportEndpoint())) {
            end(copying, false, MOST_ENDS);
            return;
        }
        long[] cells = new long[(int) (from.size() / NodeMemory.CELL)];
        own.read(from.address(), cells, 0, cells.length);
        paste(copying, cells, targets);
    }

    private void paste(Copying copying, long[] cells, List<ReplicaDescriptor> targets) {
        if (targets.isEmpty()) {
            // A busy node takes its time.
            long pauseNanos = world.random.nextInt(3) == 0 ? world.random.nextLong(MOST_BUSY) : 0;
            process.after(pauseNanos, () -> end(copying, true, MOST_ENDS));
            return;
        }
        if (world.isTooLate(process, copying.sentOwn)) {
            end(copying, false, MOST_ENDS);
            return;
        }
        world.access(
                process,
                RangeClaims.bufferOf(targets.getFirst()),
                (node, address) -> node.paste(address, cells),
                () -> paste(copying, cells, targets.subList(1, targets.size())),
                () -> end(copying, false, MOST_ENDS));
    }

    private void end(Copying copying, boolean well, int tries) {
        TaskOrder order = copying.order;
        Args.ClientKey args = new Args.ClientKey(id, order.key(), order.tenant());
        long number = copying.number;
        Command<Outcome<Done>> command =
                order.move()
                        ? well
                                ? new Command.MoveEnd(args, number)
                                : new Command.MoveRevoke(args, number)
                        : well
                                ? new Command.CopyEnd(args, number)
                                : new Command.CopyRevoke(args, number);
        copying.ask(
                command,
                answer -> {
                    copying.settle(-1);
                    report(order, well && answer.isOk() ? SUCCESS : FAILED);
                },
                () -> {
                    if (tries > 1 && world.profile.namesPuts() && world.random.nextBoolean()) {
                        startOver(copying);
                    } else if (tries > 1) {
                        end(copying, well, tries - 1);
                    } else {
                        copying.settle(-1);
                        report(order, FAILED);
                    }
                });
    }

    /** Takes back what may have ended and does it once more; the End may still be under way. */
    private void startOver(Copying copying) {
        TaskOrder order = copying.order;
        Args.ClientKey args = new Args.ClientKey(id, order.key(), order.tenant());
        copying.ask(
                order.move()
                        ? new Command.MoveRevoke(args, copying.number)
                        : new Command.CopyRevoke(args, copying.number),
                _ -> {
                    copying.settle(-1);
                    carryOut(order);
                },
                () -> {
                    copying.settle(-1);
                    report(order, FAILED);
                });
    }

    private void report(TaskOrder order, int status) {
        ask(
                new Command.MarkTaskToComplete(
                        new Args.MarkTaskToComplete(
                                id, new TaskCompletion(order.id(), status, ""))),
                _ -> {},
                () -> {});
    }
}
