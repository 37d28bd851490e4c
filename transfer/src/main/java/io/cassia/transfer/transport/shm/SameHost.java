package io.cassia.transfer.transport.shm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.base.Entropy;
import io.cassia.transfer.memory.ProcessCalls;
import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.memory.SharedFiles;
import io.cassia.transfer.metadata.HostAccess;
import io.cassia.transfer.metadata.SegmentDescriptor;
import io.cassia.transfer.net.UnixSockets;
import io.cassia.transfer.transport.RouteReason;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.Transport;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One engine's part in what processes of a host do without the network: what it opens to others,
 * and the others that it is attached to. Guarded.
 *
 * <p>While it is attached to somebody a thread looks twice a second whether owners have died or
 * regions have gone: memory that is mapped stays with the host, however long nobody uses it.
 */
public final class SameHost implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(SameHost.class.getName());
    private static final Duration TICK = Duration.ofMillis(500);
    private static final Set<Transport> TRANSPORTS =
            Set.copyOf(EnumSet.of(Transport.SHM, Transport.PROCESS_VM, Transport.UDS));

    private final @Nullable Exposure exposure;
    private final @Nullable ServerSocketChannel listener;
    private final @Nullable Attacher attacher;
    private final Attachment unable;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Set<HostRoute> attached = new HashSet<>();

    @GuardedBy("lock")
    private @Nullable Thread watcher;

    @GuardedBy("lock")
    private boolean closed;

    private SameHost(
            @Nullable Exposure exposure,
            @Nullable ServerSocketChannel listener,
            @Nullable Attacher attacher,
            Attachment unable) {
        this.exposure = exposure;
        this.listener = listener;
        this.attacher = attacher;
        this.unable = unable;
    }

    /**
     * Opens what the host has. Where it has nothing, the engine works without.
     *
     * @param transports that the engine may use and offer; those of other kinds do not matter here
     * @param realm of the engines that trust each other; empty for all. The socket of this host
     *     serves everybody of this user, so that it is there only without a realm
     */
    public static SameHost open(
            Set<Transport> transports,
            String realm,
            Entropy entropy,
            Clock clock,
            TransferMetrics metrics) {
        Set<Transport> allowed = EnumSet.noneOf(Transport.class);
        allowed.addAll(transports);
        allowed.retainAll(TRANSPORTS);
        if (!realm.isEmpty()) {
            allowed.remove(Transport.UDS);
        }
        if (allowed.isEmpty()) {
            return without(RouteReason.NOT_ALLOWED, "by the configuration");
        }
        Optional<HostIdentity> host = HostIdentity.own();
        Optional<ProcessId> process = ProcessId.own();
        Optional<ProcessCalls> calls = ProcessCalls.find();
        if (host.isEmpty() || process.isEmpty() || calls.isEmpty()) {
            return without(RouteReason.NOT_SUPPORTED, "this is not a Linux that tells of itself");
        }
        Exposure.Owner owner =
                new Exposure.Owner(
                        host.get(), process.get(), id -> ProcessWatch.isAlive(id, calls.get()));
        Attacher attacher =
                new Attacher(
                        allowed,
                        realm,
                        host.get(),
                        process.get(),
                        new HostContext(calls.get(), clock, metrics));
        try {
            return open(owner, attacher, entropy, clock);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "same-host-transports-off", e);
            return without(RouteReason.NOT_SUPPORTED, e.toString());
        }
    }

    private static SameHost open(
            Exposure.Owner owner, Attacher attacher, Entropy entropy, Clock clock)
            throws IOException {
        Set<Transport> offered = attacher.allowed();
        Exposure exposure = Exposure.open(owner, offered, entropy, clock);
        try {
            ServerSocketChannel listener =
                    offered.contains(Transport.UDS)
                            ? UnixSockets.listen(SharedFiles.beside(exposure.name()))
                            : null;
            return new SameHost(
                    exposure, listener, attacher, Attachment.refused(RouteReason.PREFERRED, ""));
        } catch (IOException e) {
            exposure.close();
            throw e;
        }
    }

    private static SameHost without(RouteReason reason, String detail) {
        return new SameHost(null, null, null, Attachment.refused(reason, detail));
    }

    /** What the descriptor of a segment says about this host. */
    public Optional<HostAccess> access(String segment, int dataPort) {
        if (exposure == null || attacher == null) {
            return Optional.empty();
        }
        Proof.Claim claim = new Proof.Claim(segment, dataPort, attacher.realm());
        return Optional.of(exposure.access(claim));
    }

    /** Where the data protocol is to be served as well. */
    public Optional<ServerSocketChannel> listener() {
        return Optional.ofNullable(listener);
    }

    /**
     * Opens a buffer that is being registered.
     *
     * @param file number of the shared file that it is in; 0 for none
     * @param offset where in that file it begins
     */
    public void add(Registration range, long file, long offset) {
        if (exposure != null) {
            exposure.add(range, file, offset);
        }
    }

    /** Tells other processes that the engine ends. */
    public void announceEnd() {
        if (exposure != null) {
            exposure.announceEnd();
        }
    }

    /** No copy on a buffer by another process begins from now on. */
    public void drain(Registration range) {
        if (exposure != null) {
            exposure.drain(range);
        }
    }

    /** Copies on a drained buffer stop soon. */
    public void abort(Registration range) {
        if (exposure != null) {
            exposure.abort(range);
        }
    }

    /** Waits until no process copies on a drained buffer; false when the time is over before. */
    public boolean awaitQuiet(Registration range, long timeoutNanos) {
        return exposure == null || exposure.awaitQuiet(range, timeoutNanos);
    }

    /** Attaches to the owner of a segment, if it is on this host and lets us. */
    public Attachment attach(SegmentDescriptor segment) {
        if (attacher == null) {
            return unable;
        }
        Attachment attachment = attacher.attach(segment);
        LOG.log(
                System.Logger.Level.INFO,
                "peer-memory segment={0} route={1} reason={2} detail=\"{3}\"",
                segment.name(),
                attachment.route().isPresent(),
                attachment.reason().label(),
                attachment.detail());
        attachment.route().ifPresent(this::watch);
        return attachment;
    }

    private void watch(HostRoute route) {
        lock.lock();
        try {
            if (closed) {
                route.close();
                return;
            }
            attached.add(route);
            if (watcher == null) {
                watcher = Thread.ofVirtual().name("cassia-same-host").unstarted(this::watchPeers);
                watcher.start();
            }
        } finally {
            lock.unlock();
        }
    }

    private void watchPeers() {
        while (true) {
            LockSupport.parkNanos(this, TICK.toNanos());
            List<HostRoute> routes;
            lock.lock();
            try {
                attached.removeIf(HostRoute::isLost);
                if (closed || attached.isEmpty()) {
                    watcher = null;
                    return;
                }
                routes = List.copyOf(attached);
            } finally {
                lock.unlock();
            }
            routes.forEach(HostRoute::tidy);
        }
    }

    /**
     * Withdraws what was opened, and lets go of all peers. The listener is closed by whoever serves
     * it.
     */
    @Override
    public void close() {
        List<HostRoute> routes;
        Thread watching;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            watching = watcher;
            routes = List.copyOf(attached);
        } finally {
            lock.unlock();
        }
        routes.forEach(HostRoute::close);
        LockSupport.unpark(watching);
        if (exposure != null) {
            if (listener != null) {
                Path directory = SharedFiles.beside(exposure.name());
                SharedFiles.deleteDirectory(directory);
            }
            exposure.close();
        }
    }
}
