package io.cassia.transfer;

import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.topology.LinkReport;
import io.cassia.transfer.transport.RouteReason;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transport;
import io.cassia.transfer.transport.local.LocalEngines;
import io.cassia.transfer.transport.local.LocalRoute;
import io.cassia.transfer.transport.shm.HostRoute;
import io.cassia.transfer.transport.tcp.TcpRoute;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An opened segment: which of the ways to its owner carries what, and what to do when one fails.
 * Guarded.
 *
 * <pre>
 *   in this process ──► a copy
 *   on this host    ──► shared memory, or the kernel ──┐ what they pass,
 *                       a socket of this host ─────────┤ what they lose
 *   elsewhere       ──► TCP ◄──────────────────────────┘
 * </pre>
 *
 * <p>Each request goes out over sockets twice at most. Between the two the descriptor is read
 * again: the owner may have restarted elsewhere, and its old port may belong to another engine by
 * now.
 */
final class Segment {
    private static final int MAX_ATTEMPTS = 2;

    private static final int MAX_DETAIL_CHARS = 512;

    /** The owner may be found restarted once within a run. */
    private static final int MAX_HOST_ROUNDS = 2;

    private final long id;
    private final String name;
    private final String domain;
    private final EngineParts parts;
    private final WorkQueue queue;
    private final WayFinder finder;
    private final ReentrantLock lock = new ReentrantLock();

    // Written under the lock, read without it.
    private volatile @Nullable LocalRoute local;
    private volatile @Nullable BufferTable localBuffers;

    private volatile @Nullable Failure failure;

    /** What was lost last. Immutable. */
    private record Failure(String what, String detail, long atNanos) {}

    Segment(long id, String name, EngineParts parts) {
        this.id = id;
        this.name = name;
        this.domain = parts.config().nameSpace();
        this.parts = parts;
        this.finder = new WayFinder(name, parts);
        this.queue = new WorkQueue(this, parts);
    }

    SegmentHandle handle() {
        return new SegmentHandle(id, name);
    }

    String name() {
        return name;
    }

    /** Transfers that wait for a thread of the background. */
    WorkQueue queue() {
        return queue;
    }

    /** Finds the way to the owner unless it is known. */
    Outcome<Done> open(long deadlineNanos) {
        return localRoute() != null
                ? Outcome.done()
                : finder.find(deadlineNanos).map(_ -> Done.DONE);
    }

    /** What the owner has published at this moment. */
    Outcome<PeerDirectory.Peer> describe(long deadlineNanos) {
        return finder.describe(deadlineNanos);
    }

    /** Reads the descriptor of an owner that was found before; nothing changes when that fails. */
    Outcome<Done> reread(long deadlineNanos) {
        Ways known = finder.known();
        return known == null
                ? Outcome.done()
                : finder.refresh(known, deadlineNanos).map(_ -> Done.DONE);
    }

    /** Closes connections to the owner that nobody has used for minutes. */
    void dropStale() {
        Ways known = finder.known();
        if (known != null) {
            Stream.of(Optional.ofNullable(known.uds()), Optional.ofNullable(known.tcp()))
                    .flatMap(Optional::stream)
                    .forEach(TcpRoute::dropStale);
        }
    }

    /** How it stands with the way to the owner; nothing for the engine's own segment. */
    Optional<LinkReport.Peer> link() {
        if (handle().isLocal()) {
            return Optional.empty();
        }
        Ways known = finder.known();
        TcpRoute route = known == null ? null : known.lanes();
        TcpRoute.Standing standing =
                route == null
                        ? new TcpRoute.Standing(TcpRoute.State.UNCONNECTED, 0, 0)
                        : route.standing();
        String transport = report().preferred().map(Transport::label).orElse("none");
        boolean attached = report().preferred().filter(fastest -> isMemory(fastest)).isPresent();
        return Optional.of(
                new LinkReport.Peer(
                        name,
                        transport,
                        route == null ? "" : route.peer().toString(),
                        attached && standing.busy() == 0 ? "attached" : standing.state().label(),
                        standing.idle(),
                        standing.busy(),
                        lastFailure()));
    }

    private static boolean isMemory(Transport transport) {
        return switch (transport) {
            case LOCAL, SHM, PROCESS_VM -> true;
            case UDS, TCP -> false;
        };
    }

    private String lastFailure() {
        Failure last = failure;
        return last == null
                ? ""
                : "%s %d ms ago: %s"
                        .formatted(
                                last.what(),
                                (parts.clock().nanos() - last.atNanos()) / 1_000_000,
                                last.detail());
    }

    private void failed(String what, String detail) {
        failure =
                new Failure(
                        what,
                        detail.substring(0, Math.min(detail.length(), MAX_DETAIL_CHARS)),
                        parts.clock().nanos());
    }

    /** Which ways there are at the moment. */
    RouteReport report() {
        Ways known = finder.known();
        return (known != null ? known : Ways.NONE)
                .report(name, parts.config(), localRoute() != null);
    }

    private @Nullable LocalRoute localRoute() {
        if (!parts.config().allows(Transport.LOCAL)) {
            return null;
        }
        Optional<BufferTable> found = LocalEngines.find(domain, name);
        if (found.isEmpty()) {
            return null;
        }
        BufferTable buffers = found.get();
        LocalRoute known = local;
        if (known != null && localBuffers == buffers) {
            return known;
        }
        lock.lock();
        try {
            LocalRoute created = new LocalRoute(buffers, parts.clock(), parts.metrics());
            local = created;
            localBuffers = buffers;
            return created;
        } finally {
            lock.unlock();
        }
    }

    /** Carries all transfers of a run on the calling thread; on return each has ended. */
    void carry(Run run) {
        run.endUnwanted();
        while (!run.isDone() && !finder.failIfClosed(run)) {
            LocalRoute inside = localRoute();
            if (inside != null) {
                carryInside(run, inside);
            } else {
                carryByMemory(run);
                carryOverSockets(run);
            }
        }
    }

    private void carryInside(Run run, LocalRoute route) {
        parts.metrics().routed(Transport.LOCAL, RouteReason.PREFERRED, run.left());
        run.begin();
        route.carry(run);
        boolean _ = run.heedInterrupt();
        Run.Loss loss = run.takeLoss();
        if (loss != null) {
            failFreed(run, loss);
        }
    }

    /** Ends those whose local memory was freed, or, when there is none, the one it is about. */
    private static void failFreed(Run run, Run.Loss loss) {
        if (!run.failFreed(loss.code(), "local memory was freed: " + loss.detail())
                && !run.isDone()) {
            run.failHead(loss.code(), loss.detail(), false);
        }
    }

    /** Carries what needs nobody's help. */
    private void carryByMemory(Run run) {
        for (int round = 0; round < MAX_HOST_ROUNDS && !run.isDone(); round++) {
            Ways ways = find(run);
            if (ways == null || ways.host().route().isEmpty()) {
                return;
            }
            HostRoute route = ways.host().route().get();
            run.begin();
            run.because(route.carryWhatItCan(run));
            boolean _ = run.heedInterrupt();
            // A lost owner is gone, or another one by now: only its descriptor can tell.
            if (!route.isLost() || !reconsider(run, ways, "its process has ended")) {
                return;
            }
        }
    }

    /** The ways; without any the run has failed, or an interrupt was heeded. */
    private @Nullable Ways find(Run run) {
        return switch (finder.find(run.head().deadlineNanos())) {
            case Outcome.Ok<Ways>(Ways ways) -> ways;
            case Outcome.Failed<Ways>(Code code, String detail) -> {
                if (!run.heedInterrupt()) {
                    failed(code.label(), detail);
                    run.failRest(code, detail, false);
                }
                yield null;
            }
        };
    }

    private void carryOverSockets(Run run) {
        boolean refreshed = false;
        TcpRoute counted = null;
        while (!run.isDone()) {
            Ways ways = find(run);
            if (ways == null) {
                continue;
            }
            TcpRoute route = ways.lanes();
            if (route == null) {
                run.failRest(
                        TransferCode.ERR_CONTEXT,
                        "no transport that is allowed leads there: "
                                + ways.report(name, parts.config(), false).ways(),
                        false);
                return;
            }
            if (route != counted) {
                counted = route;
                Transport transport = ways.transport(route);
                parts.metrics()
                        .routed(transport, ways.reason(transport, run.because()), run.left());
            }
            run.begin();
            route.carry(run);
            Run.Loss loss = run.takeLoss();
            if (loss != null) {
                parts.metrics().laneLost(loss.stop());
                failed(loss.stop().label(), loss.detail());
                refreshed = recover(run, ways, route, loss, refreshed);
            }
        }
    }

    /**
     * Ends the transfers that the loss is final for; the others are carried again.
     *
     * @return whether the descriptor has been read again for this run
     */
    private boolean recover(Run run, Ways ways, TcpRoute route, Run.Loss loss, boolean refreshed) {
        if (run.heedInterrupt()) {
            return refreshed;
        }
        Code code = loss.code();
        String detail = loss.detail();
        switch (loss.stop()) {
            case REJECTED -> {
                // The one it was about has ended; those behind it were not looked at.
            }
            case TIMED_OUT -> {
                long now = parts.clock().nanos();
                while (!run.isDone() && run.head().deadlineNanos() - now <= 0) {
                    run.failHead(code, detail, true);
                }
            }
            case STALLED -> run.failRest(code, detail, true);
            case BUSY, INTERRUPTED, REFUSED -> run.failRest(code, detail, false);
            case BACKING_OFF -> {
                if (!finder.dropSocket(ways, route)) {
                    run.failRest(code, detail, false);
                }
            }
            case MEMORY_GONE -> failFreed(run, loss);
            case CLOSED -> {
                // Another thread has found the owner elsewhere, or the engine ends.
                boolean _ = finder.failIfClosed(run);
            }
            case BROKEN -> {
                if (!run.isDone() && run.head().attempts() >= MAX_ATTEMPTS) {
                    run.failHead(code, detail, false);
                }
                route.dropIdle();
                boolean again = reconsider(run, ways, detail);
                return run.heedInterrupt() ? refreshed : again;
            }
            case PROTOCOL, UNREACHABLE -> {
                route.dropIdle();
                return finder.dropSocket(ways, route)
                        ? refreshed
                        : recoverUnreached(run, ways, route, loss, refreshed);
            }
        }
        return refreshed;
    }

    private boolean recoverUnreached(
            Run run, Ways ways, TcpRoute route, Run.Loss loss, boolean refreshed) {
        boolean hopeless =
                refreshed || !reconsider(run, ways, loss.detail()) || finder.leadsBy(route);
        if (run.heedInterrupt()) {
            return refreshed;
        }
        if (hopeless) {
            run.failRest(loss.code(), loss.detail(), false);
        }
        return true;
    }

    /** Reads the descriptor again; without an owner the run fails. */
    private boolean reconsider(Run run, Ways ways, String cause) {
        if (run.isDone() || finder.failIfClosed(run)) {
            return false;
        }
        if (finder.refresh(ways, run.head().deadlineNanos())
                instanceof Outcome.Failed<Ways>(Code code, String detail)) {
            if (run.isCancellable() && Thread.currentThread().isInterrupted()) {
                // Says nothing about the owner; our caller heeds it.
                return true;
            }
            if (parts.config().isP2p()) {
                run.failRest(code, cause + "; then " + detail, false);
                return false;
            }
            // The store may be down while the owner is not: what it said before still holds.
        }
        return true;
    }

    /**
     * Ends the transfers and lets go of the owner.
     *
     * @param why what becomes of those that have not ended
     */
    void close(Outcome.Failed<Done> why) {
        finder.refuse(why);
        queue.close(why);
        finder.close();
    }
}
