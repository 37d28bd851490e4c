package io.cassia.rpc;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** What a client counts. Immutable; the counters are the registry's. */
final class ClientMetrics {
    /** What happened beside answers that came in time. */
    enum Event {
        CONNECTED,
        CONNECT_FAILED,
        LOST_BY_PEER,
        LOST_BY_IO_ERROR,
        LOST_BY_MALFORMED_RESPONSE,
        CLOSED,
        TIMED_OUT,
        INTERRUPTED,
        LATE_REPLY,
        ERROR_REPLY,
        TOO_MANY_IN_FLIGHT,
        REQUEST_TOO_LARGE,
        BAD_ATTACHMENT
    }

    private final Map<Event, Counter> events = new EnumMap<>(Event.class);

    ClientMetrics(MeterRegistry registry) {
        for (Event event : Event.values()) {
            events.put(
                    event,
                    Counter.builder("cassia.rpc.client.events")
                            .description("Connections made and lost, calls that did not go well")
                            .tag("event", event.name().toLowerCase(Locale.ROOT))
                            .register(registry));
        }
    }

    void count(Event event) {
        Objects.requireNonNull(events.get(event)).increment();
    }
}
