package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.metadata.HostPort;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.metadata.SegmentDescriptor;
import io.cassia.transfer.transport.Route;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.local.LocalEngines;
import io.cassia.transfer.transport.local.LocalRoute;
import io.cassia.transfer.transport.tcp.TcpRoute;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An opened segment: where its owner is, the route to it, and what to do when the route fails.
 * Guarded. The lock is held while the owner's descriptor is read: who waits for it wants the same.
 *
 * <p>Each request goes out twice at most. Between the two the descriptor is read again: the owner
 * may have restarted elsewhere, and its old port may belong to another engine by now.
 */
final class Segment {
    private static final int MAX_ATTEMPTS = 2;

    private final long id;
    private final String name;
    private final EngineParts parts;
    private final WorkQueue queue;
    private final ReentrantLock lock = new ReentrantLock();

    // Written under the lock, read without it.
    private volatile @Nullable TcpRoute tcp;
    private volatile @Nullable LocalRoute local;
    private volatile @Nullable BufferTable localBuffers;
    private volatile boolean closed;

    Segment(long id, String name, EngineParts parts) {
        this.id = id;
        this.name = name;
        this.parts = parts;
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
        return route(deadlineNanos).map(_ -> Done.DONE);
    }

    /** What the owner has published at this moment. */
    Outcome<PeerDirectory.Peer> describe(long deadlineNanos) {
        return parts.directory().find(name, deadlineNanos);
    }

    private Outcome<Route> route(long deadlineNanos) {
        if (parts.config().localCopies()) {
            Optional<BufferTable> buffers = LocalEngines.find(parts.config().metadata(), name);
            if (buffers.isPresent()) {
                return Outcome.ok(localRoute(buffers.get()));
            }
        }
        TcpRoute known = tcp;
        return known != null ? Outcome.ok(known) : refresh(null, deadlineNanos);
    }

    private Route localRoute(BufferTable buffers) {
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
        boolean refreshed = false;
        while (!run.isDone()) {
            if (closed) {
                run.failRest(TransferCode.ERR_CONTEXT, "the engine is closed", false);
                return;
            }
            switch (route(run.head().deadlineNanos())) {
                case Outcome.Failed<Route>(Code code, String detail) ->
                        run.failRest(code, detail, false);
                case Outcome.Ok<Route>(Route route) -> {
                    route.carry(run);
                    Run.Loss loss = run.takeLoss();
                    if (loss != null) {
                        parts.metrics().laneLost(loss.stop());
                        refreshed = recover(run, route, loss, refreshed);
                    }
                }
            }
        }
    }

    /**
     * Ends the transfers that the loss is final for; the others are carried again.
     *
     * @return whether the descriptor has been read again for this run
     */
    private boolean recover(Run run, Route route, Run.Loss loss, boolean refreshed) {
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
            case BUSY, INTERRUPTED, BACKING_OFF -> run.failRest(code, detail, false);
            case MEMORY_GONE -> {
                if (!run.failFreed(code, "local memory was freed: " + detail) && !run.isDone()) {
                    run.failHead(code, detail, false);
                }
            }
            case CLOSED -> {
                // Another thread has found the owner elsewhere, or the engine ends.
                if (closed) {
                    run.failRest(code, detail, false);
                }
            }
            case BROKEN -> {
                if (!run.isDone() && run.head().attempts() >= MAX_ATTEMPTS) {
                    run.failHead(code, detail, false);
                }
                return reconsider(run, route, loss);
            }
            case PROTOCOL, UNREACHABLE -> {
                if (refreshed || !reconsider(run, route, loss) || leadsOn(route)) {
                    run.failRest(code, detail, false);
                }
                return true;
            }
        }
        return refreshed;
    }

    /** Whether the descriptor still leads the way that has failed. */
    private boolean leadsOn(Route route) {
        return tcp == route;
    }

    /** Reads the descriptor again; without an owner the run fails. */
    private boolean reconsider(Run run, Route route, Run.Loss loss) {
        if (!(route instanceof TcpRoute lost)) {
            return false;
        }
        lost.dropIdle();
        if (run.isDone()) {
            return false;
        }
        if (closed) {
            run.failRest(TransferCode.ERR_CONTEXT, "the engine is closed", false);
            return false;
        }
        if (refresh(lost, run.head().deadlineNanos())
                instanceof Outcome.Failed<Route>(Code code, String detail)) {
            if (parts.config().isP2p()) {
                run.failRest(code, loss.detail() + "; then " + detail, false);
                return false;
            }
            // The store may be down while the owner is not: what it said before still holds.
        }
        return true;
    }

    /** Reads the descriptor and keeps or replaces the route, unless somebody else has done it. */
    private Outcome<Route> refresh(@Nullable TcpRoute outdated, long deadlineNanos) {
        long left = deadlineNanos - parts.clock().nanos();
        try {
            if (!lock.tryLock(left, TimeUnit.NANOSECONDS)) {
                return Outcome.failed(
                        TransferCode.ERR_SOCKET,
                        "segment " + name + ": its descriptor is late, the deadline is over");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(TransferCode.ERR_SOCKET, "segment " + name + ": interrupted");
        }
        try {
            TcpRoute known = tcp;
            if (known != null && known != outdated) {
                return Outcome.ok(known);
            }
            if (closed) {
                return Outcome.failed(TransferCode.ERR_CONTEXT, "the engine is closed");
            }
            long patience = parts.clock().nanos() + parts.tcp().stallNanos();
            long limit = deadlineNanos - patience < 0 ? deadlineNanos : patience;
            return switch (parts.directory().find(name, limit)) {
                case Outcome.Failed<PeerDirectory.Peer> failed -> failed.as();
                case Outcome.Ok<PeerDirectory.Peer>(PeerDirectory.Peer peer) -> adopt(known, peer);
            };
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Outcome<Route> adopt(@Nullable TcpRoute known, PeerDirectory.Peer peer) {
        SegmentDescriptor descriptor = peer.descriptor();
        if (!descriptor.speaksTcp()) {
            return Outcome.failed(
                    TransferCode.ERR_NOT_IMPLEMENTED,
                    "segment %s is reached by %s, data port %d; this engine speaks tcp"
                            .formatted(name, descriptor.protocols(), descriptor.tcpDataPort()));
        }
        HostPort data = new HostPort(peer.rpc().host(), descriptor.tcpDataPort());
        if (known != null && known.leadsTo(data, descriptor.isAcknowledged())) {
            return Outcome.ok(known);
        }
        TcpRoute route = new TcpRoute(name, data, descriptor.isAcknowledged(), parts.tcp());
        tcp = route;
        if (known != null) {
            known.close();
        }
        return Outcome.ok(route);
    }

    void close() {
        closed = true;
        queue.close();
        lock.lock();
        try {
            TcpRoute route = tcp;
            if (route != null) {
                route.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
