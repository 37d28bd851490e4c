package io.cassia.gateways.rest;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Memory that this process lends to the pool (spec mooncake-store 12.3). Immutable.
 *
 * <pre>
 *   POST /api/mount               {"size"}                               memory of this process
 *   POST /api/unmount             {"segment_ids", "grace_period_seconds"}
 *   POST /api/unmount_shm         the same
 *   POST /api/mount_shm           memory of other programs: NOT_SUPPORTED
 *   POST /api/reconfigure         between such memory and none: NOT_SUPPORTED
 *   POST /api/unmount_local_disk  there is no disk tier: UNAVAILABLE_IN_CURRENT_MODE
 * </pre>
 */
final class SegmentEndpoints {
    /** Upstream's unit of lent memory: sizes are rounded up to it (spec mooncake-store 2.3). */
    static final long UNIT = 16 << 20;

    private static final int MAX_GRACE_SECONDS = 3600;

    private final SegmentHost host;
    private final BodyMemory memory;

    SegmentEndpoints(SegmentHost host, BodyMemory memory) {
        this.host = host;
        this.memory = memory;
    }

    void mount(RestExchange exchange) throws IOException {
        Optional<JsonNode> document = Documents.receive(exchange, memory);
        if (document.isEmpty()) {
            return;
        }
        JsonNode size = document.get().path("size");
        if (!size.isIntegralNumber()
                || size.asLong() < 1
                || size.asLong() > Long.MAX_VALUE - UNIT) {
            exchange.badRequest("\"size\" must be a number of bytes above 0");
            return;
        }
        long bytes = (size.asLong() + UNIT - 1) / UNIT * UNIT;
        switch (host.mount(bytes)) {
            case Outcome.Ok<List<String>>(List<String> ids) -> {
                ObjectNode answer = Bodies.success();
                ids.forEach(answer.putArray("segment_ids")::add);
                exchange.json(HttpStatus.OK, answer.put("allocated_size", bytes));
            }
            case Outcome.Failed<List<String>> failed -> exchange.failed(failed);
        }
    }

    void unmount(RestExchange exchange) throws IOException {
        Optional<JsonNode> document = Documents.receive(exchange, memory);
        if (document.isEmpty()) {
            return;
        }
        List<String> ids = ids(document.get().path("segment_ids"));
        Optional<Duration> grace = grace(document.get());
        if (ids.isEmpty() || grace.isEmpty()) {
            exchange.badRequest(
                    "\"segment_ids\" must be a text or a list of texts, \"grace_period_seconds\" a"
                            + " number from 0 to "
                            + MAX_GRACE_SECONDS);
            return;
        }
        unmount(exchange, ids, grace.get());
    }

    private void unmount(RestExchange exchange, List<String> ids, Duration grace)
            throws IOException {
        ArrayNode failures = Bodies.MAPPER.createArrayNode();
        Optional<Outcome.Failed<Done>> first = Optional.empty();
        for (String id : ids) {
            if (host.unmount(id, grace) instanceof Outcome.Failed<Done> failed) {
                failures.add(id);
                first = first.or(() -> Optional.of(failed));
            }
        }
        if (first.isEmpty()) {
            exchange.success();
        } else {
            ObjectNode answer = Bodies.failure(first.get());
            answer.set("failed_segment_ids", failures);
            exchange.json(HttpStatus.of(first.get().code()), answer);
        }
    }

    void unmountLocalDisk(RestExchange exchange) throws IOException {
        Optional<JsonNode> document = Documents.receive(exchange, memory);
        if (document.isEmpty()) {
            return;
        }
        if (grace(document.get()).isEmpty()) {
            exchange.badRequest(
                    "\"grace_period_seconds\" must be a number from 0 to " + MAX_GRACE_SECONDS);
        } else {
            exchange.failed(
                    HttpStatus.CONFLICT,
                    StoreCode.UNAVAILABLE_IN_CURRENT_MODE,
                    "this service has no disk tier");
        }
    }

    void mountShm(RestExchange exchange) throws IOException {
        exchange.failed(
                HttpStatus.NOT_IMPLEMENTED,
                StoreCode.NOT_SUPPORTED,
                "a file in /dev/shm belongs to another program, which may cut it off or write to it"
                        + " while objects lie there; POST /api/mount {\"size\": BYTES} lends memory"
                        + " of this service, 'cassia node' that of a process of its own");
    }

    void reconfigure(RestExchange exchange) throws IOException {
        exchange.failed(
                HttpStatus.NOT_IMPLEMENTED,
                StoreCode.NOT_SUPPORTED,
                "decode and prefill differ in whether a file's memory is lent, which this service"
                        + " does not do; POST /api/mount {\"size\": BYTES} begins to lend,"
                        + " POST /api/unmount {\"segment_ids\": [...]} ends it");
    }

    private static List<String> ids(JsonNode given) {
        List<String> ids = new ArrayList<>();
        if (given.isString()) {
            ids.add(given.stringValue());
        }
        for (JsonNode id : given) {
            if (!id.isString()) {
                return List.of();
            }
            ids.add(id.stringValue());
        }
        return ids;
    }

    private static Optional<Duration> grace(JsonNode document) {
        JsonNode seconds = document.path("grace_period_seconds");
        if (seconds.isMissingNode()) {
            return Optional.of(Duration.ZERO);
        }
        return seconds.isIntegralNumber()
                        && seconds.asLong() >= 0
                        && seconds.asLong() <= MAX_GRACE_SECONDS
                ? Optional.of(Duration.ofSeconds(seconds.asLong()))
                : Optional.empty();
    }
}
