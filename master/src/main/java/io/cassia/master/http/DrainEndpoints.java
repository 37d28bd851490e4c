package io.cassia.master.http;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMessages.DrainJob;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Immutable. Jobs that empty segments (spec mooncake-store 8.3, 12.1). */
final class DrainEndpoints {
    private static final String PATH = "/api/v1/drain_jobs";
    private static final long STANDARD_CONCURRENCY = 4;
    private static final List<String> STATUS_NAMES =
            List.of("CREATED", "PLANNING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELED");

    private final AdminQueries queries;

    DrainEndpoints(AdminQueries queries) {
        this.queries = queries;
    }

    void register(Endpoints endpoints) {
        endpoints
                .post(PATH, this::create)
                .get(PATH + "/query", this::query)
                .post(PATH + "/cancel", this::cancel);
    }

    private Reply create(Request request) {
        return Reply.of(
                request.json().then(DrainEndpoints::wanted).then(queries::createDrainJob),
                id ->
                        Reply.json(
                                Reply.success()
                                        .put("job_id", id.toString())
                                        .put("status", "CREATED")
                                        .put("error_code", 0)
                                        .put("error_message", "")));
    }

    private static Outcome<CreateDrainJob> wanted(JsonNode body) {
        return Request.texts(body, "segments")
                .then(
                        segments ->
                                Request.texts(body, "target_segments")
                                        .then(targets -> wanted(body, segments, targets)));
    }

    private static Outcome<CreateDrainJob> wanted(
            JsonNode body, List<String> segments, List<String> targets) {
        return Request.number(body, "max_concurrency")
                .map(
                        most ->
                                new CreateDrainJob(
                                        segments, targets, most.orElse(STANDARD_CONCURRENCY)));
    }

    private Reply query(Request request) {
        return Reply.of(id(request).then(queries::queryDrainJob), job -> Reply.json(describe(job)));
    }

    private static ObjectNode describe(DrainJob job) {
        ObjectNode body =
                Reply.success()
                        .put("job_id", job.id().toString())
                        .put("type", 0)
                        .put("type_name", "DRAIN")
                        .put("status", job.status())
                        .put("status_name", statusName(job.status()))
                        .put("created_at_ms_epoch", job.createdAtMs())
                        .put("last_updated_at_ms_epoch", job.updatedAtMs());
        job.segments().forEach(body.putArray("segments")::add);
        job.targets().forEach(body.putArray("target_segments")::add);
        return body.put("max_concurrency", job.maxConcurrency())
                .put("succeeded_units", job.succeededUnits())
                .put("failed_units", job.failedUnits())
                .put("blocked_units", job.blockedUnits())
                .put("active_units", job.activeUnits())
                .put("migrated_bytes", job.migratedBytes())
                .put("message", job.message());
    }

    private static String statusName(int number) {
        return number >= 0 && number < STATUS_NAMES.size() ? STATUS_NAMES.get(number) : "UNKNOWN";
    }

    private Reply cancel(Request request) {
        return switch (id(request)) {
            case Outcome.Failed<Uuid> failed -> Reply.failure(failed);
            case Outcome.Ok<Uuid>(Uuid id) ->
                    Reply.of(
                            queries.cancelDrainJob(id),
                            _ ->
                                    Reply.json(
                                            Reply.success()
                                                    .put("job_id", id.toString())
                                                    .put("status", "CANCELED")));
        };
    }

    private static Outcome<Uuid> id(Request request) {
        return request.require("job_id").then(DrainEndpoints::parse);
    }

    /** Upstream's text form: two numbers in decimal. */
    private static Outcome<Uuid> parse(ByteString text) {
        String[] parts = text.text().split("-", -1);
        try {
            if (parts.length == 2) {
                return Outcome.ok(
                        new Uuid(
                                Long.parseUnsignedLong(parts[0]),
                                Long.parseUnsignedLong(parts[1])));
            }
        } catch (NumberFormatException e) {
            // Told below, like any other form that it does not have.
        }
        return Request.invalid("job_id=" + text.text() + " is not two numbers with a dash between");
    }
}
