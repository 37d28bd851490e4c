package io.cassia.transfer;

import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.transport.RouteReason;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transport;
import io.cassia.transfer.transport.local.LocalEngines;
import io.cassia.transfer.transport.local.LocalRoute;
import io.cassia.transfer.transport.shm.Attachment;
import io.cassia.transfer.transport.shm.HostRoute;
import io.cassia.transfer.transport.tcp.TcpRoute;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An opened segment: the ways to its owner, which of them carries what, and what to do when one
 * fails. Guarded.
 *
 * <pre>
 *   in this process ──► a copy
 *   on this host    ──► shared memory, or the kernel ──┐ what they pass,
 *   elsewhere       ──► a socket of this host ─────────┤ what they lose
 *                       TCP ◄──────────────────────────┘
 * </pre>
 *
 * <p>Each request goes out over sockets twice at most. Between the two the descriptor is read
 * again: the owner may have restarted elsewhere, and its old port may belong to another engine by
 * now.
 */
final class Segment {
    private static final int MAX_ATTEMPTS = 2;

    /** The owner may be found restarted once within a run. */
    private static final int MAX_HOST_ROUNDS = 2;

    private final long id;
    private final String name;
    private final EngineParts parts;
    private final WorkQueue queue;
    private final WayFinder finder;
    private final ReentrantLock lock = new ReentrantLock();

    // Written under the lock, read without it.
    private volatile @Nullable LocalRoute local;
    private volatile @Nullable BufferTable localBuffers;

    Segment(long id, String name, EngineParts parts) {
        this.id = id;
        this.name = name;
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

    /** Which ways there are at the moment. */
    RouteReport report() {
        boolean isLocal = localRoute() != null;
        Ways known = finder.known();
        Ways ways =
                known != null
                        ? known
                        : new Ways(Optional.empty(), Attachment.NOT_TRIED, null, null, false);
        return new RouteReport(name, ways.report(parts.config(), isLocal));
    }

    private @Nullable LocalRoute localRoute() {
        if (!parts.config().allows(Transport.LOCAL)) {
            return null;
        }
        Optional<BufferTable> found = LocalEngines.find(parts.config().metadata(), name);
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
            LocalRoute created = new LocalRoute(buffers, parts.metrics());
            local = created;
            localBuffers = buffers;
            return created;
        } finally {
            lock.unlock();
        }
    }

    /** Carries all transfers of a run on the calling thread; on return each has ended. */
    void carry(Run run) {
        Run left = run;
        while (!left.isDone()) {
            LocalRoute inside = localRoute();
            if (inside != null) {
                carryInside(left, inside);
            } else {
                left = carryByMemory(left);
                carryOverSockets(left);
            }
        }
    }

    private void carryInside(Run run, LocalRoute route) {
        parts.metrics().routed(Transport.LOCAL, RouteReason.PREFERRED, run.left());
        route.carry(run);
        Run.Loss loss = run.takeLoss();
        if (loss != null
                && !run.failFreed(loss.code(), "local memory was freed: " + loss.detail())) {
            run.failHead(loss.code(), loss.detail(), false);
        }
    }

    /** Carries what needs nobody's help; what is left, in order. */
    private Run carryByMemory(Run run) {
        Run left = run;
        for (int round = 0; round < MAX_HOST_ROUNDS && !left.isDone(); round++) {
            Ways ways = find(left);
            if (ways == null || ways.host().route().isEmpty()) {
                return left;
            }
            HostRoute route = ways.host().route().get();
            RouteReason why = route.carryWhatItCan(left);
            left = left.unended();
            left.because(why);
            if (!route.isLost()) {
                return left;
            }
            // The owner is gone, or another one by now: only its descriptor can tell.
            if (!left.isDone() && !reconsider(left, ways, "its process has ended")) {
                return left;
            }
        }
        return left;
    }

    /** The ways; without any the run has failed. */
    private @Nullable Ways find(Run run) {
        return switch (finder.find(run.head().deadlineNanos())) {
            case Outcome.Ok<Ways>(Ways ways) -> ways;
            case Outcome.Failed<Ways>(Code code, String detail) -> {
                run.failRest(code, detail, false);
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
                return;
            }
            TcpRoute route = ways.lanes();
            if (route == null) {
                run.failRest(TransferCode.ERR_CONTEXT, noWay(ways), false);
                return;
            }
            if (route != counted) {
                counted = route;
                count(run, ways, route);
            }
            route.carry(run);
            Run.Loss loss = run.takeLoss();
            if (loss != null) {
                parts.metrics().laneLost(loss.stop());
                refreshed = recover(run, ways, route, loss, refreshed);
            }
        }
    }

    private void count(Run run, Ways ways, TcpRoute route) {
        Transport transport = ways.transport(route);
        RouteReason reason = run.because();
        if (reason == RouteReason.PREFERRED) {
            boolean socketLost = transport == Transport.TCP && ways.host().socket().isPresent();
            reason = socketLost ? RouteReason.SOCKET_LOST : ways.host().reason();
        }
        parts.metrics().routed(transport, reason, run.left());
    }

    private String noWay(Ways ways) {
        return "no transport of %s leads to segment %s: %s"
                .formatted(parts.config().transports(), name, ways.report(parts.config(), false));
    }

    /**
     * Ends the transfers that the loss is final for; the others are carried again.
     *
     * @return whether the descriptor has been read again for this run
     */
    private boolean recover(Run run, Ways ways, TcpRoute route, Run.Loss loss, boolean refreshed) {
        Code code = loss.code();
        String detail = loss.detail();
        boolean hasOther = route == ways.uds() && ways.tcp() != null;
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
            case BUSY, INTERRUPTED -> run.failRest(code, detail, false);
            case BACKING_OFF -> {
                if (hasOther) {
                    finder.dropSocket(ways);
                } else {
                    run.failRest(code, detail, false);
                }
            }
            case MEMORY_GONE -> {
                if (!run.failFreed(code, "local memory was freed: " + detail) && !run.isDone()) {
                    run.failHead(code, detail, false);
                }
            }
            case CLOSED -> {
                // Another thread has found the owner elsewhere, or the engine ends.
                if (finder.isClosed()) {
                    run.failRest(code, detail, false);
                }
            }
            case BROKEN -> {
                if (!run.isDone() && run.head().attempts() >= MAX_ATTEMPTS) {
                    run.failHead(code, detail, false);
                }
                route.dropIdle();
                return reconsider(run, ways, detail);
            }
            case PROTOCOL, UNREACHABLE -> {
                route.dropIdle();
                if (hasOther) {
                    finder.dropSocket(ways);
                    return refreshed;
                }
                if (refreshed || !reconsider(run, ways, detail) || leadsOn(route)) {
                    run.failRest(code, detail, false);
                }
                return true;
            }
        }
        return refreshed;
    }

    /** Whether the descriptor still leads the way that has failed. */
    private boolean leadsOn(TcpRoute route) {
        Ways known = finder.known();
        return known != null && known.lanes() == route;
    }

    /** Reads the descriptor again; without an owner the run fails. */
    private boolean reconsider(Run run, Ways ways, String cause) {
        if (run.isDone()) {
            return false;
        }
        if (finder.isClosed()) {
            run.failRest(TransferCode.ERR_CONTEXT, "the engine is closed", false);
            return false;
        }
        if (finder.refresh(ways, run.head().deadlineNanos())
                instanceof Outcome.Failed<Ways>(Code code, String detail)) {
            if (parts.config().isP2p()) {
                run.failRest(code, cause + "; then " + detail, false);
                return false;
            }
            // The store may be down while the owner is not: what it said before still holds.
        }
        return true;
    }

    void close() {
        queue.close();
        finder.close();
    }
}
