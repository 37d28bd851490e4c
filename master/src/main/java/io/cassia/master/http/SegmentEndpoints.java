package io.cassia.master.http;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Immutable. What is asked about segments (spec mooncake-store 12.1). */
final class SegmentEndpoints {
    private final AdminQueries queries;

    SegmentEndpoints(AdminQueries queries) {
        this.queries = queries;
    }

    void register(Endpoints endpoints) {
        endpoints
                .get("/get_all_segments", _ -> Reply.text(names()))
                .get("/get_segments_detail", _ -> Reply.json(details()))
                .get("/query_segment", this::query)
                .get("/api/v1/segments/status", this::status);
    }

    private String names() {
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

    private ObjectNode details() {
        Map<Uuid, Segment> described = new HashMap<>();
        queries.segments().forEach(segment -> described.put(segment.id(), segment));
        // One that came or went between the two questions is left out.
        List<SegmentStats> segments =
                queries.stats().segments().stream()
                        .filter(segment -> described.containsKey(segment.id()))
                        .toList();
        ObjectNode detail = Reply.object().put("total_segments", segments.size());
        ArrayNode list = detail.putArray("segments");
        for (SegmentStats segment : segments) {
            Segment own = Objects.requireNonNull(described.get(segment.id()));
            double percent = 100.0 * segment.usedBytes() / segment.capacityBytes();
            list.addObject()
                    .put("segment_name", segment.name())
                    .put("segment_id", segment.id().toString())
                    .put("client_id", segment.client().toString())
                    .put("base_address", "0x" + Long.toHexString(own.base()))
                    .put("size_bytes", segment.capacityBytes())
                    .put("size_human", human(segment.capacityBytes()))
                    .put("te_endpoint", segment.endpoint())
                    .put("protocol", own.protocol())
                    .put("status", statusName(segment.status()))
                    .put("allocator_used_bytes", segment.usedBytes())
                    .put("allocator_capacity_bytes", segment.capacityBytes())
                    .put("allocator_usage_percent", percent);
        }
        return detail;
    }

    private static String human(long bytes) {
        return String.format(Locale.ROOT, "%.2f GiB", bytes / (double) (1L << 30));
    }

    private static String statusName(int number) {
        return SegmentStatus.find(number).map(Enum::name).orElse("UNKNOWN");
    }

    private Reply query(Request request) {
        String name = request.query().find("segment").map(ByteString::text).orElse("");
        return switch (queries.segmentsNamed(name)) {
            case Outcome.Failed<List<SegmentStats>> failed ->
                    Reply.failure(500, failed.code(), failed.detail());
            case Outcome.Ok<List<SegmentStats>>(List<SegmentStats> segments) -> {
                long used = segments.stream().mapToLong(SegmentStats::usedBytes).sum();
                long capacity = segments.stream().mapToLong(SegmentStats::capacityBytes).sum();
                yield Reply.text(
                        name + "\nUsed(bytes): " + used + "\nCapacity(bytes) : " + capacity + "\n");
            }
        };
    }

    private Reply status(Request request) {
        return switch (request.require("segment")) {
            case Outcome.Failed<ByteString> failed -> Reply.failure(failed);
            case Outcome.Ok<ByteString>(ByteString name) ->
                    Reply.of(
                            queries.segmentStatus(name.text()),
                            status ->
                                    Reply.json(
                                            Reply.success()
                                                    .put("segment", name.text())
                                                    .put("status", status.number())
                                                    .put("status_name", status.name())));
        };
    }
}
