package io.cassia.master.http;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.Decision;
import io.cassia.rpc.cassia.CassiaMessages.Explain;
import io.cassia.rpc.cassia.CassiaMessages.Explanation;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
import io.cassia.rpc.cassia.CassiaMessages.PrefixHit;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.status.Outcome;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Immutable. What is asked about keys (spec mooncake-store 12.1). */
final class KeyEndpoints {
    /** Keys of one request at most. */
    static final int MOST_KEYS = 100_000;

    private final AdminQueries queries;

    KeyEndpoints(AdminQueries queries) {
        this.queries = queries;
    }

    void register(Endpoints endpoints) {
        endpoints
                .get("/get_all_keys", _ -> allKeys())
                .get("/query_key", this::queryKey)
                .get("/batch_query_keys", this::batchQueryKeys)
                .get("/explain", this::explain)
                .post("/api/v1/longest_prefix", this::longestPrefix)
                .post("/api/v1/remove_all", this::removeAll);
    }

    /** One readable key per line, written while it is read. */
    private Reply allKeys() {
        return new Reply.Streamed(200, "text/plain; charset=utf-8", this::writeKeys);
    }

    private void writeKeys(OutputStream body) throws IOException {
        try {
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

    /** Upstream answers 404 for whatever is wrong with the key. */
    private Reply queryKey(Request request) {
        ByteString key = request.query().find("key").orElse(ByteString.EMPTY);
        return switch (queries.get(key)) {
            case Outcome.Failed<ReplicaList> failed ->
                    Reply.failure(404, failed.code(), "key " + key + ": " + failed.detail());
            case Outcome.Ok<ReplicaList>(ReplicaList found) -> {
                ObjectNode body = Reply.success();
                addMemory(body.putArray("data"), found.replicas());
                yield Reply.json(body);
            }
        };
    }

    private Reply batchQueryKeys(Request request) {
        List<ByteString> keys = request.query().list("keys");
        if (keys.isEmpty() || keys.size() > MOST_KEYS) {
            String why =
                    keys.isEmpty()
                            ? "the parameter keys is empty"
                            : keys.size() + " keys; at most " + MOST_KEYS;
            return Reply.json(400, Reply.object().put("success", false).put("error", why));
        }
        ObjectNode body = Reply.success();
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
        return Reply.json(body);
    }

    static void addMemory(ArrayNode list, List<ReplicaDescriptor> replicas) {
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

    private Reply removeAll(Request request) {
        Optional<ByteString> tenant = request.query().find("tenant_id").filter(id -> !id.isEmpty());
        return Reply.of(
                queries.removeAll(tenant, request.flag("force")),
                count -> Reply.json(Reply.success().put("removed_count", count)));
    }

    /** What the master knows of a key, and why it is missing if it is. */
    private Reply explain(Request request) {
        return switch (request.require("key")) {
            case Outcome.Failed<ByteString> failed -> Reply.failure(failed);
            case Outcome.Ok<ByteString>(ByteString key) ->
                    Reply.of(
                            queries.explain(new Explain(key, request.tenant())),
                            found -> Reply.json(describe(key, found)));
        };
    }

    private static ObjectNode describe(ByteString key, Explanation found) {
        ObjectNode body =
                Reply.success()
                        .put("key", key.text())
                        .put("state", found.state())
                        .put("readable", found.readable());
        ArrayNode decisions = body.putArray("decisions");
        for (Decision decision : found.decisions()) {
            decisions
                    .addObject()
                    .put("what", decision.what())
                    .put("ago_ms", decision.agoMs())
                    .put("size", decision.size())
                    .put("detail", decision.detail());
        }
        return body;
    }

    /** How many leading keys are readable, in one round trip; those are leased. */
    private Reply longestPrefix(Request request) {
        return Reply.of(
                request.json()
                        .then(body -> wanted(body, request.tenant()))
                        .then(queries::longestPrefix),
                hit -> Reply.json(describe(hit)));
    }

    private static Outcome<LongestPrefix> wanted(JsonNode body, ByteString tenant) {
        return Request.texts(body, "keys").then(keys -> wanted(body, tenant, keys));
    }

    private static Outcome<LongestPrefix> wanted(
            JsonNode body, ByteString tenant, List<String> keys) {
        if (keys.isEmpty()) {
            return Request.invalid("keys is missing or empty");
        }
        return Request.number(body, "lease_ttl_ms")
                .then(
                        ttl ->
                                ttl.orElse(0) < 0
                                        ? Request.invalid("lease_ttl_ms is below 0")
                                        : Outcome.ok(
                                                new LongestPrefix(
                                                        keys.stream().map(ByteString::of).toList(),
                                                        tenant,
                                                        ttl.orElse(0),
                                                        false,
                                                        body.path("with_replicas")
                                                                .asBoolean(false))));
    }

    private static ObjectNode describe(PrefixHit hit) {
        ObjectNode body =
                Reply.success().put("count", hit.count()).put("lease_ttl_ms", hit.leaseTtlMs());
        if (!hit.objects().isEmpty()) {
            ArrayNode objects = body.putArray("objects");
            for (Outcome<ReplicaList> object : hit.objects()) {
                addMemory(objects.addArray(), object.orThrow().replicas());
            }
        }
        return body;
    }
}
