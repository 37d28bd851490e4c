package io.cassia.gateways.rest;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Memory that this process lends to the pool (spec mooncake-store 12.3). Thread-safe.
 *
 * <pre>
 *   POST /api/mount               {"size"}                               memory of this process
 *   POST /api/mount_shm           {"name", "size", "offset"}             a file of another program
 *   POST /api/reconfigure         {"mode": "decode", "path", "size", "offset"}   lends such a file
 *                                 {"mode": "prefill"}                            takes it back
 *   POST /api/unmount             {"segment_ids", "grace_period_seconds"}
 *   POST /api/unmount_shm         the same
 *   POST /api/unmount_local_disk  there is no disk tier: UNAVAILABLE_IN_CURRENT_MODE
 * </pre>
 *
 * Members {@code protocol} and {@code location} are taken and ignored: memory is reached over TCP.
 */
final class SegmentEndpoints {
    /** Upstream's unit of lent memory: sizes are rounded up to it (spec mooncake-store 2.3). */
    static final long UNIT = 16 << 20;

    private static final int MAX_GRACE_SECONDS = 3600;

    private final SegmentHost host;
    private final LendableFiles files;
    private final BodyMemory memory;
    private final DecodeMemory decodeMemory;

    SegmentEndpoints(SegmentHost host, LendableFiles files, BodyMemory memory) {
        this.host = host;
        this.files = files;
        this.memory = memory;
        this.decodeMemory = new DecodeMemory(host);
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
                ObjectNode answer = withIds(Bodies.success(), ids);
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
        Optional<JsonNode> document = Documents.receive(exchange, memory);
        if (document.isEmpty()) {
            return;
        }
        Outcome<List<String>> mounted =
                text(document.get(), "name")
                        .then(files::named)
                        .then(file -> part(document.get(), file))
                        .then(host::mount);
        switch (mounted) {
            case Outcome.Ok<List<String>>(List<String> ids) ->
                    exchange.json(HttpStatus.OK, withIds(Bodies.success(), ids));
            case Outcome.Failed<List<String>> failed -> exchange.failed(failed);
        }
    }

    void reconfigure(RestExchange exchange) throws IOException {
        Optional<JsonNode> document = Documents.receive(exchange, memory);
        if (document.isEmpty()) {
            return;
        }
        switch (text(document.get(), "mode").then(mode -> change(mode, document.get()))) {
            case Outcome.Failed<Changed> failed -> exchange.failed(failed);
            case Outcome.Ok<Changed>(Changed(String mode, DecodeMemory.Change change))
                    when change.failure().isEmpty() ->
                    exchange.json(
                            HttpStatus.OK,
                            withIds(Bodies.success().put("mode", mode), change.segments()));
            case Outcome.Ok<Changed>(Changed(String mode, DecodeMemory.Change change)) -> {
                Outcome.Failed<?> why = change.failure().get();
                ObjectNode answer = withIds(Bodies.failure(why), change.segments());
                change.stuck().forEach(answer.putArray("failed_segment_ids")::add);
                exchange.json(HttpStatus.of(why.code()), answer);
            }
        }
    }

    private record Changed(String mode, DecodeMemory.Change change) {}

    private Outcome<Changed> change(String mode, JsonNode document) {
        Outcome<DecodeMemory.Change> change =
                switch (mode) {
                    case "decode" ->
                            text(document, "path")
                                    .then(files::at)
                                    .then(file -> part(document, file))
                                    .map(decodeMemory::decode);
                    case "prefill" -> Outcome.ok(decodeMemory.prefill());
                    default -> Documents.invalid("\"mode\" must be \"decode\" or \"prefill\"");
                };
        return change.map(done -> new Changed(mode, done));
    }

    private static ObjectNode withIds(ObjectNode answer, List<String> ids) {
        ids.forEach(answer.putArray("segment_ids")::add);
        return answer;
    }

    private static Outcome<String> text(JsonNode document, String name) {
        JsonNode text = document.path(name);
        return text.isString() && !text.stringValue().isEmpty()
                ? Outcome.ok(text.stringValue())
                : Documents.invalid("\"" + name + "\" must be a text that is not empty");
    }

    private static Outcome<FilePart> part(JsonNode document, Path file) {
        JsonNode size = document.path("size");
        JsonNode offset = document.path("offset");
        boolean good =
                size.isIntegralNumber()
                        && size.canConvertToLong()
                        && size.asLong() > 0
                        && (offset.isMissingNode()
                                || (offset.isIntegralNumber()
                                        && offset.canConvertToLong()
                                        && offset.asLong() >= 0));
        return good
                ? Outcome.ok(new FilePart(file, offset.asLong(0), size.asLong()))
                : Documents.invalid(
                        "\"size\" must be a number of bytes above 0, \"offset\" one from 0");
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
