package io.cassia.gateways.rest;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** What the service counts. Thread-safe. */
final class RestMetrics {
    private final MeterRegistry meters;
    private final AtomicInteger inFlight = new AtomicInteger();
    final Counter receivedBytes;
    final Counter sentBytes;
    final Counter busyRefusals;
    final Counter bufferRefusals;
    final Counter droppedConnections;
    final Counter slowClients;
    final Counter lostClients;
    final Counter brokenAnswers;

    RestMetrics(MeterRegistry meters) {
        this.meters = meters;
        this.receivedBytes = counter("cassia_rest_received_bytes", "Bytes of request bodies");
        this.sentBytes = counter("cassia_rest_sent_bytes", "Bytes of answers' bodies");
        this.busyRefusals =
                counter("cassia_rest_busy_refusals", "Requests refused: too many at once");
        this.bufferRefusals =
                counter("cassia_rest_buffer_refusals", "Requests refused: no room for their body");
        this.droppedConnections =
                counter("cassia_rest_dropped_connections", "Connections closed unread: too many");
        this.slowClients = counter("cassia_rest_slow_clients", "Requests ended: client too slow");
        this.lostClients =
                counter("cassia_rest_lost_clients", "Requests whose client went before its answer");
        this.brokenAnswers =
                counter("cassia_rest_broken_answers", "Answers that broke off in the middle");
        Gauge.builder("cassia_rest_requests_in_flight", inFlight, AtomicInteger::get)
                .description("Requests that are worked on")
                .register(meters);
    }

    private Counter counter(String name, String description) {
        return Counter.builder(name).description(description).register(meters);
    }

    void watch(BodyMemory memory) {
        Gauge.builder("cassia_rest_buffer_used_bytes", memory, BodyMemory::usedBytes)
                .description("Memory taken by bodies")
                .register(meters);
    }

    void began() {
        inFlight.incrementAndGet();
    }

    /** A request was answered, or its client went: status 0. */
    void ended(String operation, int status, long nanos) {
        inFlight.decrementAndGet();
        Timer.builder("cassia_rest_requests")
                .description("Requests by operation and status")
                .tag("operation", operation)
                .tag("status", Integer.toString(status))
                .register(meters)
                .record(Duration.ofNanos(nanos));
    }

    /** One line for people. */
    String summary() {
        return "in_flight=%d, received_bytes=%.0f, sent_bytes=%.0f, refused=%.0f, slow_clients=%.0f%n"
                .formatted(
                        inFlight.get(),
                        receivedBytes.count(),
                        sentBytes.count(),
                        busyRefusals.count() + bufferRefusals.count() + droppedConnections.count(),
                        slowClients.count());
    }
}
