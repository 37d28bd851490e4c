package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.handshake.HandshakeClient;
import io.cassia.transfer.handshake.Inbox;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.metadata.HostPort;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.transport.local.LocalEngines;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Moves bytes between registered memory of processes, one-sidedly: the peer's application takes no
 * part. Guarded: every method may be called from any thread.
 */
public final class TransferEngine implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TransferEngine.class.getName());
    private static final int MAX_BATCH = 1_000_000;

    private final String name;
    private final BufferTable buffers;
    private final EngineServers servers;
    private final HandshakeClient handshake;
    private final EngineParts parts;
    private final LocalMemory memory;
    private final SegmentTable segments;
    private final Dispatcher dispatcher;
    private final AtomicBoolean closed = new AtomicBoolean();

    TransferEngine(
            String name,
            BufferTable buffers,
            EngineServers servers,
            HandshakeClient handshake,
            EngineParts parts) {
        this.name = name;
        this.buffers = buffers;
        this.servers = servers;
        this.handshake = handshake;
        this.parts = parts;
        this.memory = new LocalMemory(buffers, servers.data(), parts);
        this.segments = new SegmentTable(name, parts);
        this.dispatcher = new Dispatcher(parts, segments);
    }

    /**
     * Opens the handshake and data ports and publishes an empty segment. ERR_SOCKET when no port
     * can be had, ERR_DNS when {@code localHost} does not resolve, ERR_METADATA when the metadata
     * server refuses or is not there.
     */
    public static Outcome<TransferEngine> start(
            TransferConfig config, Clock clock, MeterRegistry meters) {
        return new EngineAssembly(config, clock, meters).build().then(TransferEngine::publish);
    }

    private Outcome<TransferEngine> publish() {
        return switch (parts.directory().publish()) {
            case Outcome.Failed<Done> failed -> {
                close();
                yield failed.in("publishing segment " + name);
            }
            case Outcome.Ok<Done> ok -> {
                LocalEngines.add(parts.config().metadata(), name, buffers);
                LOG.log(
                        System.Logger.Level.INFO,
                        "transfer-engine-started segment={0} rpcPort={1} dataPort={2} metadata={3}",
                        name,
                        Integer.toString(servers.rpcPort()),
                        Integer.toString(servers.dataPort()),
                        parts.config().metadata());
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
        return servers.rpcPort();
    }

    /** The data port. */
    public int dataPort() {
        return servers.dataPort();
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
        return segments.open(stripped, soon());
    }

    /** The buffers a peer published, in order of registration; read afresh from the peer. */
    public Outcome<List<RemoteBuffer>> remoteBuffers(SegmentHandle segment) {
        return require(segment)
                .then(opened -> opened.describe(soon()))
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
     * <p>The calling thread does the I/O, in the order of the requests and on one connection per
     * peer; large amounts, and further peers, are carried by other threads at the same time, so
     * that a slow peer does not delay the others. Nothing orders two requests. ERR_SOCKET: the peer
     * cannot be reached, died, or did not answer within the deadline; ERR_ADDRESS_NOT_REGISTERED:
     * it rejected the range; ERR_TOO_MANY_REQUESTS: all lanes to it were in use. The content of
     * local memory of a READ that failed, and of remote memory of a WRITE that failed, is
     * undefined; a WRITE may go out twice when its connection breaks.
     */
    public List<Outcome<Done>> transfer(List<TransferRequest> requests, Duration deadline) {
        return dispatcher.transfer(requests, deadline);
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
                                        soon()));
    }

    /** Takes all messages that peers have pushed, in order of arrival. */
    public List<Notification> drainNotifications() {
        List<Notification> drained = new ArrayList<>();
        for (Inbox.Message message : servers.inbox().drain()) {
            drained.add(new Notification(message.name(), message.message()));
        }
        return drained;
    }

    /** Asks whether a peer's engine is alive. */
    public Outcome<Done> probe(SegmentHandle target) {
        return rpcAddress(target).then(address -> handshake.probe(address, soon()));
    }

    /** Withdraws the segment, ends all transfers and frees the regions. Idempotent. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        LocalEngines.remove(parts.config().metadata(), name, buffers);
        parts.directory().close();
        segments.close();
        parts.runners().close();
        servers.close();
        memory.close();
        // Last: until here it ends what would hang.
        parts.tcp().watchdog().close();
    }

    private static <T> Outcome<T> closedFailure() {
        return Outcome.failed(TransferCode.ERR_CONTEXT, "the engine is closed");
    }

    /** Deadline of a question to a peer. */
    private long soon() {
        return parts.clock().nanos() + parts.config().timeouts().stall().toNanos();
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
                                parts.config().isP2p()
                                        ? Outcome.ok(HostPort.parse(segment.name()))
                                        : segment.describe(soon()).map(PeerDirectory.Peer::rpc));
    }
}
