package io.cassia.transfer.transport;

import io.cassia.status.Code;
import io.cassia.transfer.memory.Rejection;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** The meters of one engine, each declared here and nowhere else. Guarded by the registry. */
public final class TransferMetrics {
    /** Bytes and requests of one direction. Guarded by the registry. */
    public static final class Flow {
        private final Counter bytes;
        private final Counter requests;

        private Flow(Counter bytes, Counter requests) {
            this.bytes = bytes;
            this.requests = requests;
        }

        /** Counts completed requests, several at once. */
        public void add(long requestCount, long byteCount) {
            requests.increment((double) requestCount);
            bytes.increment((double) byteCount);
        }
    }

    /**
     * Both directions of one carrier. Immutable.
     *
     * @param read remote to local, from the client's side
     * @param write local to remote, from the client's side
     */
    public record Flows(Flow read, Flow write) {
        /** The one or the other. */
        public Flow of(boolean isWrite) {
            return isWrite ? write : read;
        }
    }

    private final MeterRegistry registry;
    private final String engine;
    private final Map<Transport, Flows> client = new EnumMap<>(Transport.class);
    private final Map<Transport, Flows> server = new EnumMap<>(Transport.class);
    private final Map<Rejection, Counter> rejections = new EnumMap<>(Rejection.class);

    // Made on first use: few of the many combinations ever occur.
    private final Map<Transport, Map<RouteReason, Counter>> routed = new ConcurrentHashMap<>();

    private final AtomicInteger lanesConnecting;
    private final AtomicInteger lanesIdle;
    private final AtomicInteger lanesBusy;
    private final AtomicInteger serverConnections;
    private final AtomicInteger deferredBatches;

    /**
     * Declares the meters.
     *
     * @param engine published name, the tag that tells several engines of a process apart
     */
    public TransferMetrics(MeterRegistry registry, String engine) {
        this.registry = registry;
        this.engine = engine;
        for (Transport transport : Transport.values()) {
            client.put(transport, declareFlows("client", transport.label()));
        }
        for (Transport transport : List.of(Transport.UDS, Transport.TCP)) {
            server.put(transport, declareFlows("server", transport.label()));
        }
        for (Rejection reason : Rejection.values()) {
            rejections.put(
                    reason,
                    Counter.builder("cassia.transfer.rejections")
                            .description("Requests of peers that were rejected, by reason")
                            .tag("engine", engine)
                            .tag("reason", reason.label())
                            .register(registry));
        }
        lanesConnecting = lanes("connecting");
        lanesIdle = lanes("idle");
        lanesBusy = lanes("busy");
        deferredBatches = new AtomicInteger();
        Gauge.builder("cassia.transfer.batches.deferred", deferredBatches, AtomicInteger::get)
                .description("Batches that were freed while their tasks run")
                .tag("engine", engine)
                .register(registry);
        serverConnections = new AtomicInteger();
        Gauge.builder("cassia.transfer.server.connections", serverConnections, AtomicInteger::get)
                .description("Data connections of peers")
                .tag("engine", engine)
                .register(registry);
    }

    private Flows declareFlows(String role, String transport) {
        return new Flows(
                declareFlow(role, transport, "read"), declareFlow(role, transport, "write"));
    }

    private Flow declareFlow(String role, String transport, String direction) {
        Counter bytes =
                Counter.builder("cassia.transfer.bytes")
                        .description("Bytes moved")
                        .baseUnit("bytes")
                        .tag("engine", engine)
                        .tag("role", role)
                        .tag("transport", transport)
                        .tag("direction", direction)
                        .register(registry);
        Counter requests =
                Counter.builder("cassia.transfer.requests")
                        .description("Requests completed")
                        .tag("engine", engine)
                        .tag("role", role)
                        .tag("transport", transport)
                        .tag("direction", direction)
                        .register(registry);
        return new Flow(bytes, requests);
    }

    private AtomicInteger lanes(String state) {
        AtomicInteger count = new AtomicInteger();
        Gauge.builder("cassia.transfer.lanes", count, AtomicInteger::get)
                .description("Connections to peers, by state")
                .tag("engine", engine)
                .tag("state", state)
                .register(registry);
        return count;
    }

    /** What this engine moves for its callers. */
    public Flows client(Transport transport) {
        return require(client, transport);
    }

    /** What this engine moves for peers, by transports in which it takes part. */
    public Flows server(Transport transport) {
        return require(server, transport);
    }

    private static Flows require(Map<Transport, Flows> flows, Transport transport) {
        Flows found = flows.get(transport);
        if (found == null) {
            throw new IllegalArgumentException(transport + " has no such flows");
        }
        return found;
    }

    /** Requests were given to a transport, and why not to a faster one. */
    public void routed(Transport transport, RouteReason reason, long requests) {
        Counter counter =
                routed.computeIfAbsent(transport, _ -> new ConcurrentHashMap<>())
                        .computeIfAbsent(reason, why -> declareRoute(transport, why));
        counter.increment((double) requests);
    }

    private Counter declareRoute(Transport transport, RouteReason reason) {
        return Counter.builder("cassia.transfer.route")
                .description("Requests given to a transport, by why not a faster one")
                .tag("engine", engine)
                .tag("transport", transport.label())
                .tag("reason", reason.label())
                .register(registry);
    }

    /** Lanes that are being connected. */
    public AtomicInteger lanesConnecting() {
        return lanesConnecting;
    }

    /** Lanes that wait for work. */
    public AtomicInteger lanesIdle() {
        return lanesIdle;
    }

    /** Lanes that move bytes. */
    public AtomicInteger lanesBusy() {
        return lanesBusy;
    }

    /** Connections of peers. */
    public AtomicInteger serverConnections() {
        return serverConnections;
    }

    /** Declares the gauge of messages that nobody has taken. */
    public void watchInbox(Supplier<Number> size) {
        Gauge.builder("cassia.transfer.inbox.messages", size)
                .description("Messages of peers that nobody has taken yet")
                .tag("engine", engine)
                .register(registry);
    }

    /** Batches that were freed while their tasks run. */
    public AtomicInteger deferredBatches() {
        return deferredBatches;
    }

    /** A task was cancelled by its owner. */
    public void canceled() {
        Counter.builder("cassia.transfer.cancellations")
                .description("Requests that their owner cancelled")
                .tag("engine", engine)
                .register(registry)
                .increment();
    }

    /** A message that should have followed a batch was not delivered. */
    public void notificationFailed(Code code) {
        count(
                "cassia.transfer.notification.failures",
                "Messages after a batch that were not delivered, by code",
                "code",
                code.name());
    }

    /** A peer's request was refused. */
    public void rejected(Rejection reason) {
        Counter counter = rejections.get(reason);
        if (counter != null) {
            counter.increment();
        }
    }

    /** A request of this engine's caller failed. */
    public void failed(Code code) {
        count("cassia.transfer.failures", "Requests failed, by code", "code", code.name());
    }

    /** A connection to a peer was lost or could not be had. */
    public void laneLost(Run.Stop why) {
        count(
                "cassia.transfer.lane.losses",
                "Connections to peers that were lost or could not be had, by cause",
                "cause",
                why.name());
    }

    /** A connection of a peer was ended by this engine, or in the middle of a request. */
    public void serverClosed(String reason) {
        count(
                "cassia.transfer.server.closed",
                "Connections of peers that ended other than by the peer between requests",
                "reason",
                reason);
    }

    private void count(String name, String description, String tag, String value) {
        Counter.builder(name)
                .description(description)
                .tag("engine", engine)
                .tag(tag, value)
                .register(registry)
                .increment();
    }
}
