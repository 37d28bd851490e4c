package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.HostPort;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.metadata.SegmentDescriptor;
import io.cassia.transfer.net.Target;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transport;
import io.cassia.transfer.transport.shm.Attachment;
import io.cassia.transfer.transport.tcp.ClientContext;
import io.cassia.transfer.transport.tcp.TcpRoute;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the ways to one segment's owner, and finds them anew when one has failed. Guarded. The lock
 * is held while the owner's descriptor is read: who waits for it wants the same.
 */
final class WayFinder {
    /** When a way that others had crowded is tried again. */
    private static final long RETRY_NANOS = Duration.ofSeconds(10).toNanos();

    private final String name;
    private final EngineParts parts;
    private final ReentrantLock lock = new ReentrantLock();

    // Written under the lock, read without it.
    private volatile @Nullable Ways ways;
    private volatile Outcome.@Nullable Failed<Done> closed;
    private volatile long retryAtNanos;

    WayFinder(String name, EngineParts parts) {
        this.name = name;
        this.parts = parts;
        this.retryAtNanos = parts.clock().nanos() + RETRY_NANOS;
    }

    /** The ways that were found last; null before the first success. */
    @Nullable Ways known() {
        return ways;
    }

    /** Whether the ways that are known still lead by a route. */
    boolean leadsBy(TcpRoute route) {
        Ways known = ways;
        return known != null && known.lanes() == route;
    }

    /** The ways as they are known, or found now. */
    Outcome<Ways> find(long deadlineNanos) {
        Outcome.Failed<Done> why = closed;
        if (why != null) {
            return why.as();
        }
        Ways known = ways;
        if (known == null) {
            return refresh(null, deadlineNanos);
        }
        if (known.host().isWorthAnother()) {
            long now = parts.clock().nanos();
            if (now - retryAtNanos > 0) {
                retryAtNanos = now + RETRY_NANOS;
                Outcome<Ways> again = refresh(known, deadlineNanos);
                return again.isOk() ? again : Outcome.ok(known);
            }
        }
        return Outcome.ok(known);
    }

    /** What the owner has published at this moment. */
    Outcome<PeerDirectory.Peer> describe(long deadlineNanos) {
        return parts.directory().find(name, deadlineNanos);
    }

    /** Reads the descriptor and keeps or replaces the ways, unless somebody else has done it. */
    Outcome<Ways> refresh(@Nullable Ways outdated, long deadlineNanos) {
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
            Ways known = ways;
            if (known != null && !known.equals(outdated)) {
                return Outcome.ok(known);
            }
            Outcome.Failed<Done> why = closed;
            if (why != null) {
                return why.as();
            }
            long patience = parts.clock().nanos() + parts.tcp().stallNanos();
            long limit = deadlineNanos - patience < 0 ? deadlineNanos : patience;
            return switch (describe(limit)) {
                case Outcome.Failed<PeerDirectory.Peer> failed -> failed.as();
                case Outcome.Ok<PeerDirectory.Peer>(PeerDirectory.Peer peer) -> adopt(known, peer);
            };
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Outcome<Ways> adopt(@Nullable Ways known, PeerDirectory.Peer peer) {
        SegmentDescriptor descriptor = peer.descriptor();
        if (!descriptor.speaksTcp()) {
            return Outcome.failed(
                    TransferCode.ERR_NOT_IMPLEMENTED,
                    "segment %s is reached by %s, data port %d; this engine speaks tcp"
                            .formatted(name, descriptor.protocols(), descriptor.tcpDataPort()));
        }
        boolean acknowledged =
                descriptor.isAcknowledged()
                        && parts.config().network().tcpVersion() >= SegmentDescriptor.ACKNOWLEDGED;
        Target port = new Target.Port(new HostPort(peer.rpc().host(), descriptor.tcpDataPort()));
        Attachment host = attach(known, descriptor);
        Optional<Target> socket = host.socket().map(Target.Socket::new);
        Ways found =
                new Ways(
                        descriptor.host(),
                        host,
                        socket.isEmpty()
                                ? null
                                : route(
                                        known == null ? null : known.uds(),
                                        socket.get(),
                                        acknowledged,
                                        parts.uds()),
                        parts.config().allows(Transport.TCP)
                                ? route(
                                        known == null ? null : known.tcp(),
                                        port,
                                        acknowledged,
                                        parts.tcp())
                                : null);
        replace(known, found);
        return Outcome.ok(found);
    }

    private TcpRoute route(
            @Nullable TcpRoute known, Target target, boolean acknowledged, ClientContext context) {
        return known != null && known.leadsTo(target, acknowledged)
                ? known
                : new TcpRoute(name, target, acknowledged, context);
    }

    /** The attachment there is, unless the owner is another one now, or it is worth another try. */
    private Attachment attach(@Nullable Ways known, SegmentDescriptor descriptor) {
        if (known != null
                && known.access().equals(descriptor.host())
                && !known.host().isLost()
                && !known.host().isWorthAnother()) {
            return known.host();
        }
        return parts.host().attach(descriptor);
    }

    @GuardedBy("lock")
    private void replace(@Nullable Ways known, Ways found) {
        ways = found;
        if (known != null) {
            if (!known.host().equals(found.host())) {
                known.host().close();
            }
            closeUnless(known.uds(), found.uds());
            closeUnless(known.tcp(), found.tcp());
        }
    }

    private static void closeUnless(@Nullable TcpRoute known, @Nullable TcpRoute found) {
        if (known != null && known != found) {
            known.close();
        }
    }

    /** Gives up the socket of this host if it is the one that failed; false when it is not. */
    boolean dropSocket(Ways failed, TcpRoute route) {
        if (route != failed.uds()) {
            return false;
        }
        lock.lock();
        try {
            if (failed.equals(ways)) {
                replace(failed, failed.withoutSocket());
            }
        } finally {
            lock.unlock();
        }
        return true;
    }

    /** Fails a run when the segment was closed; false when it was not. */
    boolean failIfClosed(Run run) {
        Outcome.Failed<Done> why = closed;
        if (why != null) {
            run.failRest(why.code(), why.detail(), false);
        }
        return why != null;
    }

    /**
     * Finds nothing from now on.
     *
     * @param why what becomes of transfers that have not ended
     */
    void refuse(Outcome.Failed<Done> why) {
        closed = why;
    }

    /** Lets go of the owner. */
    void close() {
        lock.lock();
        try {
            Ways last = ways;
            if (last != null) {
                last.host().close();
                closeUnless(last.uds(), null);
                closeUnless(last.tcp(), null);
            }
        } finally {
            lock.unlock();
        }
    }
}
