package io.cassia.master.http;

import com.sun.net.httpserver.HttpExchange;
import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Immutable. The endpoints and their bodies (spec mooncake-store 12.1). */
final class AdminEndpoints {
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String PROMETHEUS = "text/plain; version=0.0.4";
    private static final String JSON = "application/json";

    private static final JsonMapper MAPPER = new JsonMapper();

    private final AdminQueries queries;
    private final Supplier<String> metricsText;

    AdminEndpoints(AdminQueries queries, Supplier<String> metricsText) {
        this.queries = queries;
        this.metricsText = metricsText;
    }

    void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String raw = exchange.getRequestURI().getRawQuery();
        QueryString query = new QueryString(raw == null ? "" : raw);
        String method = path.equals("/api/v1/remove_all") ? "POST" : "GET";
        if (!exchange.getRequestMethod().equals(method)) {
            send(exchange, 405, TEXT, "use " + method + "\n");
            return;
        }
        switch (path) {
            case "/health" -> send(exchange, 200, JSON, health());
            case "/metrics" -> send(exchange, 200, PROMETHEUS, metricsText.get());
            case "/role" -> send(exchange, 200, TEXT, "leader");
            case "/ha_status" -> send(exchange, 200, TEXT, "serving");
            case "/leader" -> send(exchange, 200, JSON, object().put("present", false).toString());
            case "/get_all_keys" -> sendKeys(exchange);
            case "/get_all_segments" -> send(exchange, 200, TEXT, segmentNames());
            case "/get_segments_detail" -> send(exchange, 200, JSON, segmentsDetail());
            case "/query_segment" -> querySegment(exchange, query);
            case "/query_key" -> queryKey(exchange, query);
            case "/batch_query_keys" -> batchQueryKeys(exchange, query);
            case "/api/v1/segments/status" -> segmentStatus(exchange, query);
            case "/api/v1/remove_all" -> removeAll(exchange, query);
            default -> send(exchange, 404, TEXT, "no such endpoint: " + path + "\n");
        }
    }

    private static String health() {
        return object().put("status", "ok")
                .put("role", "leader")
                .put("ha_state", "serving")
                .put("service_ready", true)
                .toString();
    }

    /** One readable key per line, written while it is read. */
    private void sendKeys(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", TEXT);
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream body = exchange.getResponseBody()) {
            queries.forEachKey(
                    part -> {
                        for (KeyInfo info : part) {
                            if (info.readable()) {
                                writeLine(body, info.key());
                            }
                        }
                        return true;
                    });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static void writeLine(OutputStream body, ByteString line) {
        try {
            body.write(line.array());
            body.write('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String segmentNames() {
        Set<String> names = new LinkedHashSet<>();
        for (SegmentStats segment : queries.stats().segments()) {
            if (segment.status() == SegmentStatus.OK.number()) {
                names.add(segment.name());
            }
        }
        StringBuilder text = new StringBuilder();
        names.forEach(name -> text.append(name).append('\n'));
        return text.toString();
    }

    private String segmentsDetail() {
        List<SegmentStats> segments = queries.stats().segments();
        ObjectNode detail = object().put("total_segments", segments.size());
        ArrayNode list = detail.putArray("segments");
        for (SegmentStats segment : segments) {
            double percent = 100.0 * segment.usedBytes() / segment.capacityBytes();
            list.addObject()
                    .put("segment_name", segment.name())
                    .put("segment_id", segment.id().toString())
                    .put("client_id", segment.client().toString())
                    .put("size_bytes", segment.capacityBytes())
                    .put("size_human", human(segment.capacityBytes()))
                    .put("te_endpoint", segment.endpoint())
                    .put("status", statusName(segment.status()))
                    .put("allocator_used_bytes", segment.usedBytes())
                    .put("allocator_capacity_bytes", segment.capacityBytes())
                    .put("allocator_usage_percent", percent);
        }
        return detail.toString();
    }

    private static String human(long bytes) {
        return String.format(Locale.ROOT, "%.2f GiB", bytes / (double) (1L << 30));
    }

    private static String statusName(int number) {
        return SegmentStatus.find(number).map(Enum::name).orElse("UNKNOWN");
    }

    private void querySegment(HttpExchange exchange, QueryString query) throws IOException {
        String name = query.find("segment").map(ByteString::text).orElse("");
        switch (queries.segmentsNamed(name)) {
            case Outcome.Failed<List<SegmentStats>> failed ->
                    send(exchange, 500, TEXT, failed.detail() + "\n");
            case Outcome.Ok<List<SegmentStats>>(List<SegmentStats> segments) -> {
                long used = segments.stream().mapToLong(SegmentStats::usedBytes).sum();
                long capacity = segments.stream().mapToLong(SegmentStats::capacityBytes).sum();
                send(
                        exchange,
                        200,
                        TEXT,
                        name + "\nUsed(bytes): " + used + "\nCapacity(bytes) : " + capacity + "\n");
            }
        }
    }

    private void queryKey(HttpExchange exchange, QueryString query) throws IOException {
        ByteString key = query.find("key").orElse(ByteString.EMPTY);
        switch (queries.get(key)) {
            case Outcome.Failed<ReplicaList> failed ->
                    send(exchange, 404, JSON, failure(failed.code(), failed.detail()));
            case Outcome.Ok<ReplicaList>(ReplicaList found) -> {
                ObjectNode body = object().put("success", true);
                addMemory(body.putArray("data"), found.replicas());
                send(exchange, 200, JSON, body.toString());
            }
        }
    }

    private void batchQueryKeys(HttpExchange exchange, QueryString query) throws IOException {
        List<ByteString> keys = query.list("keys");
        if (keys.isEmpty()) {
            ObjectNode body =
                    object().put("success", false).put("error", "the parameter keys is empty");
            send(exchange, 400, JSON, body.toString());
            return;
        }
        ObjectNode body = object().put("success", true);
        ObjectNode data = body.putObject("data");
        for (ByteString key : keys) {
            ObjectNode one = data.putObject(key.text());
            switch (queries.find(key)) {
                case Outcome.Failed<List<ReplicaDescriptor>> failed ->
                        one.put("ok", false).put("error", failed.code().name());
                case Outcome.Ok<List<ReplicaDescriptor>>(List<ReplicaDescriptor> replicas) -> {
                    one.put("ok", true);
                    addMemory(one.putArray("values"), replicas);
                }
            }
        }
        send(exchange, 200, JSON, body.toString());
    }

    private static void addMemory(ArrayNode list, List<ReplicaDescriptor> replicas) {
        for (ReplicaDescriptor replica : replicas) {
            if (replica.placement() instanceof Placement.Memory(BufferDescriptor buffer)) {
                list.addObject()
                        .put("size_", buffer.size())
                        .put("buffer_address_", buffer.address())
                        .put("protocol_", buffer.protocol())
                        .put("transport_endpoint_", buffer.transportEndpoint());
            }
        }
    }

    private void segmentStatus(HttpExchange exchange, QueryString query) throws IOException {
        Optional<String> name = query.find("segment").map(ByteString::text);
        if (name.isEmpty() || name.get().isEmpty()) {
            String body = failure(StoreCode.INVALID_PARAMS, "the parameter segment is missing");
            send(exchange, 400, JSON, body);
            return;
        }
        switch (queries.segmentStatus(name.get())) {
            case Outcome.Failed<SegmentStatus> failed ->
                    send(
                            exchange,
                            httpStatus(failed.code()),
                            JSON,
                            failure(failed.code(), failed.detail()));
            case Outcome.Ok<SegmentStatus>(SegmentStatus status) ->
                    send(
                            exchange,
                            200,
                            JSON,
                            object().put("success", true)
                                    .put("segment", name.get())
                                    .put("status", status.number())
                                    .put("status_name", status.name())
                                    .toString());
        }
    }

    private void removeAll(HttpExchange exchange, QueryString query) throws IOException {
        String force = query.find("force").map(ByteString::text).orElse("");
        Optional<ByteString> tenant = query.find("tenant_id").filter(id -> !id.isEmpty());
        switch (queries.removeAll(tenant, force.equals("true") || force.equals("1"))) {
            case Outcome.Failed<Long> failed ->
                    send(
                            exchange,
                            httpStatus(failed.code()),
                            JSON,
                            failure(failed.code(), failed.detail()));
            case Outcome.Ok<Long>(Long count) ->
                    send(
                            exchange,
                            200,
                            JSON,
                            object().put("success", true).put("removed_count", count).toString());
        }
    }

    private static String failure(Code code, String detail) {
        return object().put("success", false)
                .put("error_code", code.number())
                .put("error_message", code.name() + ": " + detail)
                .toString();
    }

    private static int httpStatus(Code code) {
        return switch (code) {
            case StoreCode.INVALID_PARAMS -> 400;
            case StoreCode.SEGMENT_NOT_FOUND, StoreCode.OBJECT_NOT_FOUND -> 404;
            case StoreCode.UNAVAILABLE_IN_CURRENT_MODE, StoreCode.UNAVAILABLE_IN_CURRENT_STATUS ->
                    409;
            default -> 500;
        };
    }

    private static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    private static void send(HttpExchange exchange, int status, String type, String body)
            throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        if (bytes.length > 0) {
            exchange.getResponseBody().write(bytes);
        }
    }
}
