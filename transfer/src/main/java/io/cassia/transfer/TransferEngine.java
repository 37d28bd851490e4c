package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.base.Entropy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.handshake.HandshakeClient;
import io.cassia.transfer.handshake.HandshakeServer;
import io.cassia.transfer.handshake.Inbox;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.metadata.DescriptorCodec;
import io.cassia.transfer.metadata.HostPort;
import io.cassia.transfer.metadata.HttpMetadataStore;
import io.cassia.transfer.metadata.MetadataStore;
import io.cassia.transfer.metadata.P2pDirectory;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.metadata.RpcMeta;
import io.cassia.transfer.metadata.SegmentDescriptor;
import io.cassia.transfer.metadata.StoreDirectory;
import io.cassia.transfer.net.Dialer;
import io.cassia.transfer.net.PortBinder;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.Transport;
import io.cassia.transfer.transport.local.LocalEngines;
import io.cassia.transfer.transport.shm.SameHost;
import io.cassia.transfer.transport.tcp.ClientContext;
import io.cassia.transfer.transport.tcp.DataServer;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between registered memory of processes, one-sidedly: the peer's application takes no
 * part. Guarded: every method may be called from any thread.
 */
public final class TransferEngine implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TransferEngine.class.getName());
    private static final int MAX_BATCH = 1_000_000;

    private final TransferConfig config;
    private final Clock clock;
    private final String name;
    private final int rpcPort;
    private final int dataPort;
    private final BufferTable buffers;
    private final Inbox inbox;
    private final Watchdog watchdog;
    private final HandshakeServer handshakes;
    private final HandshakeClient handshake;
    private final DataServer data;
    private final SameHost host;
    private final PeerDirectory directory;
    private final Runners runners = new Runners();
    private final LocalMemory memory;
    private final SegmentTable segments;
    private final Dispatcher dispatcher;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Bound listeners of an engine that is being started. */
    private record Listeners(ServerSocketChannel rpc, ServerSocketChannel data) {}

    private TransferEngine(
            TransferConfig config,
            Clock clock,
            MeterRegistry meters,
            Listeners listeners,
            Optional<MetadataStore> store) {
        this.config = config;
        this.clock = clock;
        this.rpcPort = listeners.rpc().socket().getLocalPort();
        this.dataPort = listeners.data().socket().getLocalPort();
        this.name =
                config.isP2p() || config.segmentName().isEmpty()
                        ? new HostPort(config.localHost(), rpcPort).toString()
                        : config.segmentName();
        this.buffers = new BufferTable();
        this.inbox = new Inbox();
        this.watchdog = new Watchdog(clock, "cassia-watchdog-" + rpcPort);
        TransferConfig.Timeouts timeouts = config.timeouts();
        TransferMetrics metrics = new TransferMetrics(meters, name);
        this.host = SameHost.open(config.transports(), Entropy.system(), clock, metrics);
        Dialer dialer = new Dialer(clock, timeouts.connect());
        this.handshake = new HandshakeClient(dialer, watchdog, clock);
        Supplier<String> descriptor = this::descriptor;
        this.directory =
                store.isEmpty()
                        ? new P2pDirectory(handshake, descriptor)
                        : new StoreDirectory(store.get(), "", name, endpoint(), descriptor, clock);
        this.data =
                DataServer.start(
                        listeners.data(), buffers, timeouts.stall(), watchdog, clock, metrics);
        host.listener().ifPresent(data::serveUnix);
        this.handshakes =
                HandshakeServer.start(
                        listeners.rpc(),
                        descriptor,
                        inbox,
                        timeouts.connect().multipliedBy(2),
                        watchdog,
                        clock,
                        meters);
        this.memory = new LocalMemory(buffers, data, host, directory, clock, timeouts.drain());
        ClientContext tcp =
                new ClientContext(
                        dialer,
                        watchdog,
                        clock,
                        metrics,
                        metrics.client(Transport.TCP),
                        config.lanesPerPeer(),
                        timeouts.stall().toNanos());
        EngineParts parts =
                new EngineParts(
                        config,
                        clock,
                        metrics,
                        directory,
                        host,
                        tcp,
                        tcp.withFlows(metrics.client(Transport.UDS)),
                        runners);
        this.segments = new SegmentTable(name, parts);
        this.dispatcher = new Dispatcher(parts, segments);
    }

    private RpcMeta endpoint() {
        return new RpcMeta(config.localHost(), rpcPort, OptionalLong.of(clock.epochMillis()));
    }

    private String descriptor() {
        return DescriptorCodec.encode(
                SegmentDescriptor.tcp(name, dataPort, LocalMemory.published(buffers, name))
                        .withHost(host.access(name, dataPort)),
                DescriptorCodec.timestamp(clock.epochMillis()));
    }

    /**
     * Opens the handshake and data ports and publishes an empty segment. ERR_SOCKET when no port
     * can be had, ERR_DNS when {@code localHost} does not resolve, ERR_METADATA when the metadata
     * server refuses or is not there.
     */
    public static Outcome<TransferEngine> start(
            TransferConfig config, Clock clock, MeterRegistry meters) {
        if (config.isP2p()) {
            return start(config, clock, meters, Optional.empty());
        }
        return HttpMetadataStore.open(config.metadata())
                .then(store -> start(config, clock, meters, Optional.of(store)));
    }

    private static Outcome<TransferEngine> start(
            TransferConfig config,
            Clock clock,
            MeterRegistry meters,
            Optional<MetadataStore> store) {
        return switch (listen(config, clock)) {
            case Outcome.Failed<Listeners> failed -> {
                store.ifPresent(MetadataStore::close);
                yield failed.as();
            }
            case Outcome.Ok<Listeners>(Listeners listeners) ->
                    new TransferEngine(config, clock, meters, listeners, store).publish();
        };
    }

    private static Outcome<Listeners> listen(TransferConfig config, Clock clock) {
        long deadline = clock.nanos() + config.timeouts().connect().toNanos();
        return new Dialer(clock, config.timeouts().connect())
                .resolve(config.localHost(), deadline)
                .then(
                        addresses -> {
                            TransferConfig.Ports ports = config.ports();
                            PortBinder binder =
                                    new PortBinder(loopback(addresses), ports.min(), ports.max());
                            return binder.bind(ports.rpc())
                                    .then(rpc -> second(rpc, binder.bind(ports.data())));
                        });
    }

    private static Outcome<Listeners> second(
            ServerSocketChannel rpc, Outcome<ServerSocketChannel> data) {
        if (!data.isOk()) {
            try {
                rpc.close();
            } catch (IOException e) {
                LOG.log(System.Logger.Level.DEBUG, "listener-close-failed", e);
            }
        }
        return data.map(listener -> new Listeners(rpc, listener));
    }

    /**
     * A host name that peers can only use on this host is served on this host only; any other one
     * on all interfaces, as upstream does it.
     */
    private static @Nullable InetAddress loopback(List<InetAddress> addresses) {
        return addresses.stream().allMatch(InetAddress::isLoopbackAddress)
                ? addresses.getFirst()
                : null;
    }

    private Outcome<TransferEngine> publish() {
        return switch (directory.publish()) {
            case Outcome.Failed<Done> failed -> {
                close();
                yield failed.in("publishing segment " + name);
            }
            case Outcome.Ok<Done> ok -> {
                LocalEngines.add(config.metadata(), name, buffers);
                LOG.log(
                        System.Logger.Level.INFO,
                        "transfer-engine-started segment={0} rpcPort={1} dataPort={2} metadata={3}",
                        name,
                        Integer.toString(rpcPort),
                        Integer.toString(dataPort),
                        config.metadata());
                yield Outcome.ok(this);
            }
        };
    }

    /** The published segment name. */
    public String localName() {
        return name;
    }

    /** The handshake port. */
    public int rpcPort() {
        return rpcPort;
    }

    /** The data port. */
    public int dataPort() {
        return dataPort;
    }

    /** This engine's own segment. */
    public SegmentHandle localSegment() {
        return new SegmentHandle(SegmentHandle.LOCAL_ID, name);
    }

    /**
     * Allocates memory that other processes of the host can map; ERR_MEMORY when the host has not
     * enough, ERR_INVALID_ARGUMENT for a length below 1. It is registered separately.
     */
    public Outcome<Region> allocate(long lengthBytes) {
        if (closed.get()) {
            return closedFailure();
        }
        return memory.allocate(lengthBytes);
    }

    /** Unmaps a region; ERR_BATCH_BUSY while a buffer of it is registered or a transfer uses it. */
    public Outcome<Done> free(Region region) {
        return memory.free(region);
    }

    /**
     * Makes native memory addressable by peers and publishes it. ERR_ADDRESS_OVERLAPPED when it
     * touches a registered range, ERR_INVALID_ARGUMENT for no bytes, heap memory, or memory of one
     * thread only; ERR_METADATA when publishing failed, and then it is not registered.
     */
    public Outcome<RegisteredBuffer> register(MemorySegment segment, BufferOptions options) {
        if (closed.get()) {
            return closedFailure();
        }
        return memory.register(segment, options);
    }

    /**
     * Takes a buffer from the peers: no new transfer starts, those in progress end or, after the
     * configured drain time, are aborted. On return nobody touches the memory for a peer.
     * ERR_ADDRESS_NOT_REGISTERED when it is not registered here, ERR_METADATA when the withdrawal
     * could not be published (the buffer is gone all the same).
     */
    public Outcome<Done> unregister(RegisteredBuffer buffer) {
        return memory.unregister(buffer);
    }

    /**
     * Finds a peer by its published name. ERR_INVALID_ARGUMENT for an empty name, ERR_DNS,
     * ERR_SOCKET, ERR_MALFORMED_JSON, ERR_METADATA when its descriptor cannot be had,
     * ERR_NOT_IMPLEMENTED when it speaks a protocol that this engine does not.
     */
    public Outcome<SegmentHandle> openSegment(String segmentName) {
        String stripped = segmentName;
        while (stripped.startsWith("/")) {
            stripped = stripped.substring(1);
        }
        if (stripped.isEmpty()) {
            return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, "the segment name is empty");
        }
        return segments.open(stripped, deadline(config.timeouts().stall()));
    }

    /** The buffers a peer published, in order of registration; read afresh from the peer. */
    public Outcome<List<RemoteBuffer>> remoteBuffers(SegmentHandle segment) {
        return require(segment)
                .then(opened -> opened.describe(deadline(config.timeouts().stall())))
                .map(
                        peer ->
                                peer.descriptor().buffers().stream()
                                        .map(
                                                buffer ->
                                                        new RemoteBuffer(
                                                                buffer.address(),
                                                                buffer.lengthBytes()))
                                        .toList());
    }

    /** A batch of that many tasks; ERR_INVALID_ARGUMENT when below 1 or above a million. */
    public Outcome<Batch> allocateBatch(int capacity) {
        if (capacity < 1 || capacity > MAX_BATCH) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "capacity of %d tasks, not in 1..%d".formatted(capacity, MAX_BATCH));
        }
        return Outcome.ok(new Batch(capacity, dispatcher));
    }

    /**
     * Moves all requests; on return each has completed or failed, one outcome per request in their
     * order. Nothing writes to local memory after return, whatever happened.
     *
     * <p>The calling thread does the I/O. Requests to one peer run in order on one connection;
     * several peers are served at once, so that a slow one does not delay the others. ERR_SOCKET:
     * the peer cannot be reached, died, or did not answer within the deadline;
     * ERR_ADDRESS_NOT_REGISTERED: it rejected the range. The content of local memory of a READ that
     * failed, and of remote memory of a WRITE that failed, is undefined.
     */
    public List<Outcome<Done>> transfer(List<TransferRequest> requests, Duration deadline) {
        return dispatcher.transfer(requests, deadline);
    }

    /** Which ways lead to the segments that were opened, and why others do not. */
    public List<RouteReport> routes() {
        return segments.reports();
    }

    /** Pushes a message to a peer; at most once. */
    public Outcome<Done> sendNotification(SegmentHandle target, Notification notification) {
        return rpcAddress(target)
                .then(
                        address ->
                                handshake.notify(
                                        address,
                                        notification.name(),
                                        notification.message(),
                                        deadline(config.timeouts().stall())));
    }

    /** Takes all messages that peers have pushed, in order of arrival. */
    public List<Notification> drainNotifications() {
        List<Notification> drained = new ArrayList<>();
        for (Inbox.Message message : inbox.drain()) {
            drained.add(new Notification(message.name(), message.message()));
        }
        return drained;
    }

    /** Asks whether a peer's engine is alive. */
    public Outcome<Done> probe(SegmentHandle target) {
        return rpcAddress(target)
                .then(address -> handshake.probe(address, deadline(config.timeouts().stall())));
    }

    /** Withdraws the segment, ends all transfers and frees the regions. Idempotent. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        LocalEngines.remove(config.metadata(), name, buffers);
        directory.close();
        segments.close();
        runners.close();
        handshakes.close();
        data.close();
        host.announceEnd();
        memory.close();
        host.close();
        // Last: until here it ends what would hang.
        watchdog.close();
    }

    private static <T> Outcome<T> closedFailure() {
        return Outcome.failed(TransferCode.ERR_CONTEXT, "the engine is closed");
    }

    private long deadline(Duration timeout) {
        return clock.nanos() + timeout.toNanos();
    }

    private Outcome<Segment> require(SegmentHandle handle) {
        Segment found = segments.find(handle);
        return found != null
                ? Outcome.ok(found)
                : Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        "segment " + handle + " was not opened by this engine");
    }

    private Outcome<HostPort> rpcAddress(SegmentHandle target) {
        return require(target)
                .then(
                        segment ->
                                config.isP2p()
                                        ? Outcome.ok(HostPort.parse(segment.name()))
                                        : segment.describe(deadline(config.timeouts().stall()))
                                                .map(PeerDirectory.Peer::rpc));
    }
}
