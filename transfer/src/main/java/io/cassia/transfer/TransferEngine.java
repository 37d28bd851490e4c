package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.base.Entropy;
import io.cassia.base.HostPort;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.handshake.HandshakeClient;
import io.cassia.transfer.handshake.HandshakeServer;
import io.cassia.transfer.handshake.Inbox;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.memory.LentFile;
import io.cassia.transfer.metadata.DescriptorCodec;
import io.cassia.transfer.metadata.MetadataStore;
import io.cassia.transfer.metadata.MetadataStores;
import io.cassia.transfer.metadata.P2pDirectory;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.metadata.RpcMeta;
import io.cassia.transfer.metadata.SegmentDescriptor;
import io.cassia.transfer.metadata.StoreDirectory;
import io.cassia.transfer.net.Dialer;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.net.tls.Credentials;
import io.cassia.transfer.net.tls.Gate;
import io.cassia.transfer.topology.DeviceFilter;
import io.cassia.transfer.topology.HostProbe;
import io.cassia.transfer.topology.HostTopology;
import io.cassia.transfer.topology.LinkReport;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.Transport;
import io.cassia.transfer.transport.local.LocalEngines;
import io.cassia.transfer.transport.shm.SameHost;
import io.cassia.transfer.transport.tcp.ClientContext;
import io.cassia.transfer.transport.tcp.DataServer;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Moves bytes between registered memory of processes, one-sidedly: the peer's application takes no
 * part. Guarded: every method may be called from any thread.
 */
public final class TransferEngine implements AutoCloseable {
    private static final Duration IDLE_LANES_PERIOD = Duration.ofMinutes(1);
    private static final System.Logger LOG = System.getLogger(TransferEngine.class.getName());
    private static final int MAX_BATCH = 1_000_000;

    private final TransferConfig config;
    private final Clock clock;
    private final long incarnation;
    private final String name;
    private final int rpcPort;
    private final int dataPort;
    private final BufferTable buffers;
    private final Inbox inbox;
    private final Watchdog watchdog;
    private final HandshakeServer handshakes;
    private final DataServer data;
    private final SameHost host;
    private final PeerDirectory directory;
    private final Runners runners = new Runners();
    private final LocalMemory memory;
    private final EngineParts parts;
    private final SegmentTable segments;
    private final Dispatcher dispatcher;
    private final Notifier notifier;
    private final DescriptorRefresher refresher;
    private final IdleLanes idleLanes;
    private final AtomicBoolean closed = new AtomicBoolean();

    private TransferEngine(
            TransferConfig config,
            Clock clock,
            MeterRegistry meters,
            Listeners listeners,
            Optional<Credentials> credentials,
            Optional<MetadataStore> store) {
        this.config = config;
        this.clock = clock;
        this.incarnation = clock.epochMillis();
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
        metrics.watchInbox(inbox::size);
        this.host =
                SameHost.open(
                        config.transports(),
                        config.security().realm(),
                        Entropy.system(),
                        clock,
                        metrics);
        Dialer dialer = new Dialer(clock, timeouts.connect());
        Gate gate =
                new Gate(
                        credentials,
                        config.network().peers(),
                        watchdog,
                        clock,
                        timeouts.connect().multipliedBy(2));
        HandshakeClient handshake = new HandshakeClient(dialer, gate, watchdog, clock);
        Supplier<String> descriptor = this::descriptor;
        this.directory =
                store.isEmpty()
                        ? new P2pDirectory(handshake, descriptor)
                        : new StoreDirectory(
                                store.get(),
                                config.store(),
                                name,
                                endpoint(),
                                descriptor,
                                clock,
                                meters);
        this.data =
                DataServer.start(
                        listeners.data(),
                        buffers,
                        gate,
                        timeouts.stall(),
                        watchdog,
                        clock,
                        metrics);
        host.listener().ifPresent(data::serveUnix);
        this.handshakes =
                HandshakeServer.start(
                        listeners.rpc(),
                        gate,
                        descriptor,
                        inbox,
                        config.network().handshakeBytes(),
                        timeouts.connect().multipliedBy(2),
                        watchdog,
                        clock,
                        meters);
        ClientContext tcp =
                new ClientContext(
                        dialer,
                        gate,
                        watchdog,
                        clock,
                        metrics,
                        metrics.client(Transport.TCP),
                        config.lanesPerPeer(),
                        timeouts.stall().toNanos());
        ClientContext uds = tcp.withFlows(metrics.client(Transport.UDS));
        this.parts = new EngineParts(config, clock, metrics, directory, host, tcp, uds, runners);
        this.memory = new LocalMemory(buffers, data, parts);
        this.segments = new SegmentTable(name, parts);
        this.dispatcher = new Dispatcher(parts, segments);
        this.notifier = new Notifier(parts, handshake);
        this.refresher = new DescriptorRefresher(segments, config.network().refresh(), clock);
        this.idleLanes = new IdleLanes(this::dropStaleLanes, IDLE_LANES_PERIOD);
    }

    private RpcMeta endpoint() {
        return new RpcMeta(config.localHost(), rpcPort, OptionalLong.of(incarnation));
    }

    private String descriptor() {
        return DescriptorCodec.encode(
                SegmentDescriptor.tcp(name, dataPort, LocalMemory.published(buffers, name))
                        .withIncarnation(incarnation)
                        .withHost(host.access(name, dataPort)),
                DescriptorCodec.timestamp(clock.epochMillis()));
    }

    /**
     * Opens the handshake and data ports and publishes an empty segment. ERR_DNS when {@code
     * localHost} does not resolve, ERR_SOCKET when no handshake port can be had, ERR_CONTEXT when
     * no data port can be had or the files of the secure mode cannot be used, ERR_METADATA when the
     * metadata store refuses or is not there, ERR_INVALID_ARGUMENT when {@code metadata} names
     * none, ERR_CLOCK when the clock cannot be read or was never set. ERR_DEVICE_NOT_FOUND,
     * ERR_CONTEXT, ERR_NOT_IMPLEMENTED when protocol RDMA is asked for.
     *
     * @param clock the machine's, or one of the caller's; once it was read it must not fail
     */
    public static Outcome<TransferEngine> start(
            TransferConfig config, Clock clock, MeterRegistry meters) {
        return ClockCheck.check(clock)
                .then(_ -> RdmaStart.check(config.network()))
                .then(_ -> credentials(config.security()))
                .then(
                        credentials ->
                                MetadataStores.open(config.metadata(), config.store())
                                        .then(
                                                store ->
                                                        start(
                                                                config,
                                                                clock,
                                                                meters,
                                                                credentials,
                                                                store)));
    }

    private static Outcome<Optional<Credentials>> credentials(Security security) {
        return switch (security) {
            case Security.Plain() -> Outcome.ok(Optional.empty());
            case Security.Mutual mutual ->
                    Credentials.load(
                                    mutual.keyStore(),
                                    mutual.trustStore(),
                                    mutual.password(),
                                    mutual.clusterToken(),
                                    mutual.checksHost())
                            .map(Optional::of);
        };
    }

    private static Outcome<TransferEngine> start(
            TransferConfig config,
            Clock clock,
            MeterRegistry meters,
            Optional<Credentials> credentials,
            Optional<MetadataStore> store) {
        return switch (Listeners.open(config, clock)) {
            case Outcome.Failed<Listeners> failed -> {
                store.ifPresent(MetadataStore::close);
                yield failed.as();
            }
            case Outcome.Ok<Listeners>(Listeners listeners) ->
                    new TransferEngine(config, clock, meters, listeners, credentials, store)
                            .publish();
        };
    }

    private Outcome<TransferEngine> publish() {
        return switch (directory.publish()) {
            case Outcome.Failed<Done> failed -> {
                close();
                yield failed.in("publishing segment " + name);
            }
            case Outcome.Ok<Done> ok -> {
                LocalEngines.add(config.nameSpace(), name, buffers);
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

    /**
     * Writes what this engine has published into the metadata store once more, for who knows that
     * the store was restarted; without that it is found out at the next heartbeat. ERR_METADATA.
     */
    public Outcome<Done> republish() {
        return directory.publish();
    }

    /** Closes connections that nobody has used for minutes; others are opened when needed. */
    void dropStaleLanes() {
        segments.opened().forEach(Segment::dropStale);
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
     * Allocates memory that other processes of the host can map, wherever the kernel puts it;
     * ERR_MEMORY when the host has not enough, ERR_INVALID_ARGUMENT for a length below 1. It is
     * registered separately.
     */
    public Outcome<Region> allocate(long lengthBytes) {
        return allocate(lengthBytes, BufferOptions.DEFAULT.location());
    }

    /**
     * The same at a location: {@code cpu:<node>}, {@code segments:<page>:<node>,...}, or {@code *}.
     * ERR_INVALID_ARGUMENT also when that is none or is no host memory, ERR_NUMA when the kernel
     * does not put it there.
     */
    public Outcome<Region> allocate(long lengthBytes, String location) {
        return open().then(_ -> memory.allocate(lengthBytes, location));
    }

    /**
     * Maps part of a file that another program owns, to be registered and lent. Peers and this
     * engine then move its bytes by the kernel alone, so that a file that its owner cuts off fails
     * their transfers and nothing else. Nobody else should touch the region's memory.
     *
     * <p>ERR_INVALID_ARGUMENT when the offset is no multiple of the page size, the file is not
     * there, not plain, too short, or this user may not write to it; ERR_ADDRESS_OVERLAPPED when
     * some of it is lent already, ERR_NOT_IMPLEMENTED when the kernel does not copy inside this
     * process, ERR_MEMORY when it cannot be mapped.
     */
    public Outcome<Region> map(Path file, long offsetBytes, long lengthBytes) {
        return open().then(_ -> memory.map(file, offsetBytes, lengthBytes));
    }

    /** Bytes of a page: what is mapped of a file begins at a multiple of them. */
    public static long pageBytes() {
        return LentFile.pageBytes();
    }

    /** Unmaps a region; ERR_BATCH_BUSY while a buffer of it is registered or a transfer uses it. */
    public Outcome<Done> free(Region region) {
        return memory.free(region);
    }

    /**
     * Makes native memory addressable by peers and publishes it. ERR_ADDRESS_OVERLAPPED when it
     * touches a registered range, ERR_INVALID_ARGUMENT for no bytes, heap memory, or memory of one
     * thread only; ERR_DEVICE_NOT_FOUND for a location that this host does not have; ERR_METADATA
     * when publishing failed, and then it is not registered.
     *
     * <p>Unregister it before its arena is closed: other processes of this host may copy from it
     * and to it without asking.
     */
    public Outcome<RegisteredBuffer> register(MemorySegment segment, BufferOptions options) {
        return register(List.of(segment), options).map(List::getFirst);
    }

    /**
     * Registers all or none, with one publication. The buffers come in the order of their memory.
     * ERR_ADDRESS_OVERLAPPED also when two of them overlap; two that touch do not.
     */
    public Outcome<List<RegisteredBuffer>> register(
            List<MemorySegment> segments, BufferOptions options) {
        if (segments.isEmpty()) {
            return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, "no memory to register");
        }
        return open().then(_ -> memory.register(segments, options));
    }

    /**
     * Takes a buffer from the peers: no new transfer starts, those in progress end or, after the
     * configured drain time, are aborted. On return nobody touches the memory for a peer.
     * ERR_ADDRESS_NOT_REGISTERED when it is not registered here, ERR_BATCH_BUSY when a transfer
     * does not let go of it, as that of a process of this host that was stopped in a copy,
     * ERR_METADATA when the withdrawal could not be published (the buffer is gone all the same).
     */
    public Outcome<Done> unregister(RegisteredBuffer buffer) {
        return memory.unregister(buffer);
    }

    /** Each of them, with one publication; the first failure does not spare the others. */
    public Outcome<Done> unregister(List<RegisteredBuffer> buffers) {
        return memory.unregister(buffers);
    }

    /**
     * The same for who knows only the address. ERR_ADDRESS_NOT_REGISTERED unless a buffer starts
     * exactly there: part of a buffer cannot be unregistered.
     */
    public Outcome<Done> unregister(long address) {
        return memory.unregister(address);
    }

    /**
     * Finds a peer by its published name. ERR_INVALID_ARGUMENT for an empty name, ERR_DNS,
     * ERR_SOCKET, ERR_MALFORMED_JSON, ERR_METADATA when its descriptor cannot be had,
     * ERR_REJECT_HANDSHAKE when it refuses this engine, ERR_NOT_IMPLEMENTED when it speaks a
     * protocol that this engine does not.
     */
    public Outcome<SegmentHandle> openSegment(String segmentName) {
        return openSegment(segmentName, deadline(config.timeouts().stall()));
    }

    /** The same within a time: ERR_SOCKET when the peer does not answer until then. */
    public Outcome<SegmentHandle> openSegment(String segmentName, Duration timeout) {
        return openSegment(segmentName, deadline(timeout));
    }

    private Outcome<SegmentHandle> openSegment(String segmentName, long deadlineNanos) {
        String stripped = stripped(segmentName);
        if (stripped.isEmpty()) {
            return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, "the segment name is empty");
        }
        return segments.open(stripped, deadlineNanos);
    }

    /** Upstream's callers may write slashes in front. */
    private static String stripped(String segmentName) {
        String stripped = segmentName;
        while (stripped.startsWith("/")) {
            stripped = stripped.substring(1);
        }
        return stripped;
    }

    /** The open segment of a number; ERR_INVALID_ARGUMENT when there is none. */
    public Outcome<SegmentHandle> segment(long id) {
        Segment found = segments.find(id);
        return found != null
                ? Outcome.ok(found.handle())
                : Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT, "no segment " + id + " is open");
    }

    /**
     * Lets go of a peer: its connections are closed, transfers under way fail with ERR_ENDPOINT,
     * and the handle is void. Opening it again gives a new one. ERR_INVALID_ARGUMENT when it is not
     * open, and for the own segment.
     */
    public Outcome<Done> closeSegment(SegmentHandle segment) {
        return require(segment).then(this::close);
    }

    /**
     * The same by name. ERR_INVALID_ARGUMENT for an empty name, for one that is not open, and for
     * the own one.
     */
    public Outcome<Done> removeLocalSegment(String segmentName) {
        return require(segmentName).then(this::close);
    }

    private Outcome<Done> close(Segment segment) {
        if (segment.handle().isLocal()) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "segment " + name + " is the engine's own and lives as long as the engine");
        }
        segments.close(segment);
        return Outcome.done();
    }

    /**
     * Reads the descriptor of an open segment again, so that the next transfer goes where its owner
     * is now. Not needed for correctness: a transfer that fails does it, too. ERR_INVALID_ARGUMENT
     * when it is not open; otherwise as {@link #openSegment}.
     */
    public Outcome<Done> syncSegment(String segmentName) {
        return require(segmentName).then(this::sync);
    }

    /**
     * The same for all segments at once, each on a thread of its own. The first failure by their
     * numbers; the others have been read all the same.
     */
    public Outcome<Done> syncSegments() {
        List<CompletableFuture<Outcome<Done>>> running = new ArrayList<>();
        for (Segment segment : segments.opened()) {
            running.add(
                    CompletableFuture.supplyAsync(
                            () -> sync(segment),
                            task -> Thread.ofVirtual().name("cassia-sync").start(task)));
        }
        return running.stream()
                .map(CompletableFuture::join)
                .filter(outcome -> !outcome.isOk())
                .findFirst()
                .orElse(Outcome.done());
    }

    private Outcome<Done> sync(Segment segment) {
        return segment.reread(deadline(config.timeouts().stall()));
    }

    /** The buffers a peer published, in order of registration; read afresh from the peer. */
    public Outcome<List<RemoteBuffer>> remoteBuffers(SegmentHandle segment) {
        return require(segment)
                .then(opened -> opened.describe(deadline(config.timeouts().stall())))
                .map(peer -> peer.descriptor().buffers().stream().map(RemoteBuffer::of).toList());
    }

    /**
     * A batch of that many tasks, each of which ends {@link TransferConfig.Timeouts#batch} after
     * its submission at the latest; ERR_INVALID_ARGUMENT when below 1 or above a million.
     */
    public Outcome<Batch> allocateBatch(int capacity) {
        return allocateBatch(capacity, config.timeouts().batch());
    }

    /** The same with another deadline for its tasks. */
    public Outcome<Batch> allocateBatch(int capacity, Duration timeout) {
        if (capacity < 1 || capacity > MAX_BATCH) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "capacity of %d tasks, not in 1..%d".formatted(capacity, MAX_BATCH));
        }
        if (timeout.isNegative() || timeout.isZero()) {
            return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, "a timeout of " + timeout);
        }
        return Outcome.ok(new Batch(capacity, timeout, dispatcher, parts, notifier));
    }

    /**
     * Moves all requests; on return each has completed or failed, one outcome per request in their
     * order. Nothing writes to local memory after return, whatever happened.
     *
     * <p>The calling thread does the copies and the I/O, by the fastest of the configured
     * transports that leads to the memory ({@link #routes} tells which). Requests to one buffer run
     * in order; several peers are served at once, so that a slow one does not delay the others.
     * ERR_SOCKET: the peer cannot be reached, died, or did not answer within the deadline;
     * ERR_ADDRESS_NOT_REGISTERED: it rejected the range; ERR_ENDPOINT: what answers does not speak
     * the protocol, or the segment was closed meanwhile; ERR_REJECT_HANDSHAKE: it refuses this
     * engine; ERR_CONTEXT: no transport that is configured leads there. The content of local memory
     * of a READ that failed, and of remote memory of a WRITE that failed, is undefined.
     */
    public List<Outcome<Done>> transfer(List<TransferRequest> requests, Duration deadline) {
        return dispatcher.transfer(requests, deadline, null);
    }

    /** The same, and tells how far the requests are meanwhile, where the transport can. */
    public List<Outcome<Done>> transfer(
            List<TransferRequest> requests, Duration deadline, Progress progress) {
        return dispatcher.transfer(requests, deadline, progress);
    }

    /**
     * Moves fragments in the background, each with an outcome of its own. A fragment that leaves
     * its spans fails with ERR_INVALID_ARGUMENT, one of a peer that cannot be opened with the code
     * of {@link #openSegment}, and the others proceed. ERR_TOO_MANY_REQUESTS for more than a
     * million fragments.
     *
     * @param timeout until all have ended
     */
    public Outcome<ScatterOperation> submitScatter(List<ScatterRange> ranges, Duration timeout) {
        long fragments = ranges.stream().mapToLong(range -> range.fragments().size()).sum();
        if (fragments > MAX_BATCH) {
            return Outcome.failed(
                    TransferCode.ERR_TOO_MANY_REQUESTS,
                    "%d fragments, more than %d".formatted(fragments, MAX_BATCH));
        }
        return open().then(_ -> allocateBatch((int) Math.max(1, fragments), timeout))
                .map(
                        batch ->
                                ScatterOperation.start(
                                        ranges, batch, this::openSegment, deadline(timeout)));
    }

    /** The same, and waits: one outcome per fragment, by range. */
    public Outcome<List<List<Outcome<Done>>>> transferScatter(
            List<ScatterRange> ranges, Duration timeout) {
        return submitScatter(ranges, timeout)
                .map(
                        operation -> {
                            operation.close();
                            return operation.outcomes();
                        });
    }

    /**
     * Pushes a message to a peer; at most once. ERR_METADATA when its inbox is full; otherwise as
     * {@link #openSegment}.
     */
    public Outcome<Done> sendNotification(SegmentHandle target, Notification notification) {
        return require(target).then(segment -> notifier.send(segment.name(), notification));
    }

    /** The same to a segment that need not be open. */
    public Outcome<Done> sendNotification(String segmentName, Notification notification) {
        return notifier.send(stripped(segmentName), notification);
    }

    /** Takes all messages that peers have pushed, in order of arrival. */
    public List<Notification> drainNotifications() {
        List<Notification> drained = new ArrayList<>();
        for (Inbox.Message message : inbox.drain()) {
            drained.add(new Notification(message.name(), message.message()));
        }
        return drained;
    }

    /** How long a peer with work to do may move no byte before its connection is given up. */
    public Duration stallTimeout() {
        return config.timeouts().stall();
    }

    /** Asks whether a peer's engine is alive. */
    public Outcome<Done> probe(SegmentHandle target) {
        return require(target).then(segment -> notifier.probe(segment.name()));
    }

    /** The same by number. */
    public Outcome<Done> probe(long segmentId) {
        return segment(segmentId).then(this::probe);
    }

    /** The same for a segment that need not be open. */
    public Outcome<Done> probe(String segmentName) {
        return notifier.probe(stripped(segmentName));
    }

    /** What this engine is linked to: the host as it is now, and the open segments. */
    public LinkReport links() {
        HostTopology host = HostProbe.system().discover();
        List<LinkReport.Peer> peers =
                segments.opened().stream().flatMap(segment -> segment.link().stream()).toList();
        return new LinkReport(host, host.matrix(DeviceFilter.ALL), Set.of(), peers);
    }

    /**
     * How each open segment is reached at the moment, and why not by what would be faster. The own
     * segment is not among them.
     */
    public List<RouteReport> routes() {
        return segments.opened().stream()
                .filter(segment -> !segment.handle().isLocal())
                .map(Segment::report)
                .toList();
    }

    /** Withdraws the segment, ends all transfers and frees the regions. Idempotent. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        LocalEngines.remove(config.nameSpace(), name, buffers);
        refresher.close();
        idleLanes.close();
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

    private Outcome<Done> open() {
        return closed.get()
                ? Outcome.failed(TransferCode.ERR_CONTEXT, "the engine is closed")
                : Outcome.done();
    }

    private long deadline(Duration timeout) {
        return Deadline.after(clock, timeout).atNanos();
    }

    private Outcome<Segment> require(SegmentHandle handle) {
        Segment found = segments.find(handle);
        return found != null
                ? Outcome.ok(found)
                : Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        "segment " + handle + " is not open in this engine");
    }

    private Outcome<Segment> require(String segmentName) {
        String stripped = stripped(segmentName);
        if (stripped.isEmpty()) {
            return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, "the segment name is empty");
        }
        Segment found = segments.find(stripped);
        return found != null
                ? Outcome.ok(found)
                : Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT, "segment " + stripped + " is not open");
    }
}
