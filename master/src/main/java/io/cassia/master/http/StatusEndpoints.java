package io.cassia.master.http;

import io.cassia.rpc.cassia.CassiaMessages.Stats;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/** Immutable. What the master is and whether it is well (spec mooncake-store 12.1). */
final class StatusEndpoints {
    private static final String PROMETHEUS = "text/plain; version=0.0.4";

    private final AdminQueries queries;
    private final Supplier<String> metricsText;

    StatusEndpoints(AdminQueries queries, Supplier<String> metricsText) {
        this.queries = queries;
        this.metricsText = metricsText;
    }

    void register(Endpoints endpoints) {
        endpoints
                .get("/health", _ -> Reply.json(health()))
                .get("/health/live", _ -> alive(queries.isAlive()))
                .get("/livez", _ -> alive(queries.isAlive()))
                .get("/health/ready", _ -> ready(queries.isReady()))
                .get("/readyz", _ -> ready(queries.isReady()))
                .get("/role", _ -> Reply.text("leader"))
                .get("/ha_status", _ -> Reply.text("serving"))
                .get("/leader", _ -> Reply.json(Reply.object().put("present", false)))
                .get("/metrics", _ -> new Reply.Whole(200, PROMETHEUS, metricsText.get()))
                .get("/metrics/summary", _ -> Reply.text(summary()))
                .get("/kv_events/status", _ -> events());
    }

    private static ObjectNode health() {
        return Reply.object()
                .put("status", "ok")
                .put("role", "leader")
                .put("ha_state", "serving")
                .put("service_ready", true);
    }

    /** Whether it must be restarted: its timer, and with it its lock, has not come round lately. */
    private static Reply alive(boolean alive) {
        ObjectNode body = Reply.object().put("status", alive ? "ok" : "stuck");
        return Reply.json(alive ? 200 : 503, body);
    }

    /** Whether requests should be sent to it. */
    private static Reply ready(boolean ready) {
        ObjectNode body = Reply.object().put("status", ready ? "ok" : "not ready");
        return Reply.json(ready ? 200 : 503, body);
    }

    private String summary() {
        return "role=leader, state=serving, service_ready=%b, master={%s}, ha={}\n"
                .formatted(queries.isReady(), queries.summary());
    }

    /** The pool in one line. */
    static String pool(Stats stats) {
        double used =
                stats.capacityBytes() == 0 ? 0 : 100.0 * stats.usedBytes() / stats.capacityBytes();
        return ("capacity_bytes=%d allocated_bytes=%d used_percent=%.1f keys=%d clients=%d"
                        + " segments=%d leased_bytes=%d pinned_bytes=%d evicted_keys=%d"
                        + " evicted_bytes=%d put_start_failures=%d")
                .formatted(
                        stats.capacityBytes(),
                        stats.usedBytes(),
                        used,
                        stats.objects(),
                        stats.clients(),
                        stats.segments().size(),
                        stats.leasedBytes(),
                        stats.pinnedBytes(),
                        stats.evictedObjects(),
                        stats.evictedBytes(),
                        stats.putStartFailures());
    }

    private Reply events() {
        AdminQueries.EventCounts counts = queries.events();
        ObjectNode body =
                Reply.object()
                        .put("enabled", counts.enabled())
                        .put("published_batches", counts.publishedBatches())
                        .put("published_events", counts.publishedEvents())
                        .put("dropped_events", counts.droppedEvents())
                        .put("skipped_unparsed_keys", counts.skippedKeys());
        return Reply.json(counts.enabled() ? 200 : 503, body);
    }
}
