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
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Confined to the simulation. A storage node: lends memory, pings, mounts again when the master has
 * forgotten it, carries out copies and moves.
 */
final class SimulatedNode extends SimulatedMember {
    private static final long PING_EVERY = 100 * SimulationProfile.MILLI;
    private static final int FAILED = 2;
    private static final int SUCCESS = 3;

    final String name;
    @Nullable NodeMemory memory;
    private @Nullable Segment segment;

    /** What the master was asked to unmount and may still think to have. */
    private boolean leaving;

    /** What it lent when it crashed. */
    private @Nullable NodeMemory crashed;

    SimulatedNode(ClusterSimulation world, SimulatedProcess process, String name) {
        super(world, process);
        this.name = name;
    }

    @Override
    void run() {
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
                status -> {
                    if (status.isOk()) {
                        process.after(20 * SimulationProfile.MILLI, () -> unmount(gone));
                    } else {
                        comeBack();
                    }
                },
                () -> waitUntilGone(gone));
    }

    private void unmountLeftover(Uuid left) {
        ask(
                new Command.UnmountSegment(new Args.UnmountSegment(left, id)),
                _ -> {},
                () -> unmountLeftover(left));
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
        Segment left = segment;
        if (leaving && left != null) {
            // A late mount may bring it back at the master, which this node would keep alive.
            process.after(
                    2 * world.profile.network().lateNanos(), () -> unmountLeftover(left.id()));
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

    private void carryOut(TaskOrder order) {
        long sent = process.clock().nanos();
        long holder = world.newHolder();
        if (order.move()) {
            ask(
                    new Command.MoveStart(
                            new Args.MoveStart(
                                    id,
                                    order.key(),
                                    order.tenant(),
                                    order.source(),
                                    order.targets().getFirst())),
                    List.of(),
                    holder,
                    answer -> {
                        if (answer instanceof Outcome.Ok<MoveStartResult>(var started)) {
                            copy(
                                    order,
                                    holder,
                                    sent,
                                    started.source(),
                                    started.target().stream().toList());
                        } else {
                            report(order, FAILED);
                        }
                    },
                    () -> {},
                    () -> {});
            return;
        }
        ask(
                new Command.CopyStart(
                        new Args.CopyStart(
                                id, order.key(), order.tenant(), order.source(), order.targets())),
                List.of(),
                holder,
                answer -> {
                    if (answer instanceof Outcome.Ok<CopyStartResult>(var started)) {
                        copy(order, holder, sent, started.source(), started.targets());
                    } else {
                        report(order, FAILED);
                    }
                },
                () -> {},
                () -> {});
    }

    private void copy(
            TaskOrder order,
            long holder,
            long sentOwn,
            ReplicaDescriptor source,
            List<ReplicaDescriptor> targets) {
        BufferDescriptor from = RangeClaims.bufferOf(source);
        NodeMemory own = memory;
        if (own == null || !own.endpoint.equals(from.transportEndpoint())) {
            end(order, holder, false);
            return;
        }
        long[] cells = new long[(int) (from.size() / NodeMemory.CELL)];
        own.read(from.address(), cells, 0, cells.length);
        paste(order, holder, sentOwn, cells, targets);
    }

    private void paste(
            TaskOrder order,
            long holder,
            long sentOwn,
            long[] cells,
            List<ReplicaDescriptor> targets) {
        if (targets.isEmpty()) {
            end(order, holder, true);
            return;
        }
        if (world.isTooLate(process, sentOwn)) {
            end(order, holder, false);
            return;
        }
        world.access(
                process,
                RangeClaims.bufferOf(targets.getFirst()),
                (node, address) -> node.paste(address, cells),
                () -> paste(order, holder, sentOwn, cells, targets.subList(1, targets.size())),
                () -> end(order, holder, false));
    }

    private void end(TaskOrder order, long holder, boolean well) {
        Args.ClientKey args = new Args.ClientKey(id, order.key(), order.tenant());
        Command<Outcome<Done>> command =
                order.move()
                        ? well ? new Command.MoveEnd(args) : new Command.MoveRevoke(args)
                        : well ? new Command.CopyEnd(args) : new Command.CopyRevoke(args);
        Consumer<Outcome<Done>> ended =
                answer -> report(order, well && answer.isOk() ? SUCCESS : FAILED);
        ask(command, List.of(), holder, ended, () -> report(order, FAILED), () -> {});
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
