package io.cassia.transfer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.metadata.HostPort;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.metadata.SegmentDescriptor;
import io.cassia.transfer.net.Target;
import io.cassia.transfer.transport.Transport;
import io.cassia.transfer.transport.shm.Attachment;
import io.cassia.transfer.transport.tcp.TcpRoute;
import java.time.Duration;
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
    private volatile boolean closed;
    private volatile long retryAtNanos;

    WayFinder(String name, EngineParts parts) {
        this.name = name;
        this.parts = parts;
        this.retryAtNanos = parts.clock().nanos() + RETRY_NANOS;
    }

    boolean isClosed() {
        return closed;
    }

    /** The ways that were found last; null before the first success. */
    @Nullable Ways known() {
        return ways;
    }

    /** The ways as they are known, or found now. */
    Outcome<Ways> find(long deadlineNanos) {
        Ways known = ways;
        if (known == null) {
            return refresh(null, deadlineNanos);
        }
        long now = parts.clock().nanos();
        if (known.host().isWorthAnother() && now - retryAtNanos > 0) {
            retryAtNanos = now + RETRY_NANOS;
            Outcome<Ways> again = refresh(known, deadlineNanos);
            return again.isOk() ? again : Outcome.ok(known);
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
            if (closed) {
                return Outcome.failed(TransferCode.ERR_CONTEXT, "the engine is closed");
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
        boolean acknowledged = descriptor.isAcknowledged();
        TcpRoute tcp = null;
        if (parts.config().allows(Transport.TCP)) {
            Target port =
                    new Target.Port(new HostPort(peer.rpc().host(), descriptor.tcpDataPort()));
            tcp = known == null ? null : reuse(known.tcp(), port, acknowledged);
            if (tcp == null) {
                tcp = new TcpRoute(name, port, acknowledged, parts.tcp());
            }
        }
        Attachment host = attach(known, descriptor);
        TcpRoute uds = null;
        if (host.socket().isPresent()) {
            Target socket = new Target.Socket(host.socket().get());
            uds = known == null ? null : reuse(known.uds(), socket, acknowledged);
            if (uds == null) {
                uds = new TcpRoute(name, socket, acknowledged, parts.uds());
            }
        }
        Ways found = new Ways(descriptor.host(), host, uds, tcp, acknowledged);
        replace(known, found);
        return Outcome.ok(found);
    }

    private static @Nullable TcpRoute reuse(
            @Nullable TcpRoute known, Target target, boolean acknowledged) {
        return known != null && known.leadsTo(target, acknowledged) ? known : null;
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
        if (known == null) {
            return;
        }
        if (!known.host().equals(found.host())) {
            known.host().close();
        }
        if (known.uds() != null && known.uds() != found.uds()) {
            known.uds().close();
        }
        if (known.tcp() != null && known.tcp() != found.tcp()) {
            known.tcp().close();
        }
    }

    /** Takes the socket of this host out of the ways: it does not answer. */
    void dropSocket(Ways failed) {
        lock.lock();
        try {
            if (failed.equals(ways)) {
                replace(failed, failed.withoutSocket());
            }
        } finally {
            lock.unlock();
        }
    }

    void close() {
        closed = true;
        lock.lock();
        try {
            Ways last = ways;
            if (last != null) {
                last.host().close();
                closeAll(last.uds(), last.tcp());
            }
        } finally {
            lock.unlock();
        }
    }

    private static void closeAll(@Nullable TcpRoute... routes) {
        for (TcpRoute route : routes) {
            if (route != null) {
                route.close();
            }
        }
    }
}
