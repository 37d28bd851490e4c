package io.cassia.rpc;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntSupplier;

/** What a server counts. Immutable; the counters are the registry's. */
final class ServerMetrics {
    /** Why a connection ended. */
    enum Closed {
        PEER_CLOSED,
        TRUNCATED_FRAME,
        BAD_MAGIC,
        BAD_VERSION,
        BAD_SERIALIZE_TYPE,
        MESSAGE_TOO_LARGE,
        OUT_OF_MEMORY,
        WRITE_STALL,
        READ_STALL,
        IDLE,
        IO_ERROR,
        INTERNAL_ERROR,
        SHUTDOWN
    }

    /** What was refused, or, for attachments, left out. */
    enum Rejected {
        UNKNOWN_FUNCTION,
        INVALID_ARGUMENTS,
        MESSAGE_TOO_LARGE,
        RESULT_TOO_LARGE,
        HANDLER_EXCEPTION,
        BAD_ATTACHMENT,
        TOO_MANY_CONNECTIONS,
        ACCEPT_FAILED
    }

    private final MeterRegistry registry;
    private final Map<Closed, Counter> closed = new EnumMap<>(Closed.class);
    private final Map<Rejected, Counter> rejected = new EnumMap<>(Rejected.class);
    private final Counter received;
    private final Counter sent;

    ServerMetrics(MeterRegistry registry) {
        this.registry = registry;
        for (Closed reason : Closed.values()) {
            String text = "Connections that ended, by reason";
            closed.put(reason, byReason("cassia.rpc.server.closed", text, reason));
        }
        for (Rejected reason : Rejected.values()) {
            String text = "Requests, attachments and connections refused, by reason";
            rejected.put(reason, byReason("cassia.rpc.server.rejected", text, reason));
        }
        received = bytes("cassia.rpc.server.received", "Bytes received");
        sent = bytes("cassia.rpc.server.sent", "Bytes sent");
    }

    /** Shows how many connections a server has, until the gauge is forgotten. */
    Gauge connections(int port, IntSupplier connections) {
        return Gauge.builder("cassia.rpc.server.connections", connections::getAsInt)
                .description("Connections now")
                .tag("port", Integer.toString(port))
                .register(registry);
    }

    void forget(Gauge gauge) {
        Meter _ = registry.remove(gauge);
    }

    private Counter byReason(String name, String description, Enum<?> reason) {
        return Counter.builder(name)
                .description(description)
                .tag("reason", reason.name().toLowerCase(Locale.ROOT))
                .register(registry);
    }

    private Counter bytes(String name, String description) {
        return Counter.builder(name).description(description).baseUnit("bytes").register(registry);
    }

    Counter requests(RpcMethod<?, ?> method) {
        return Counter.builder("cassia.rpc.server.requests")
                .description("Requests whose handler was called, by method")
                .tag("method", method.shortName())
                .register(registry);
    }

    void closed(Closed reason) {
        Objects.requireNonNull(closed.get(reason)).increment();
    }

    void rejected(Rejected reason) {
        Objects.requireNonNull(rejected.get(reason)).increment();
    }

    void received(int bytes) {
        received.increment(bytes);
    }

    void sent(int bytes) {
        sent.increment(bytes);
    }
}
