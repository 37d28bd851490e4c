package io.cassia.gateways.rest;

import io.cassia.base.ByteString;
import io.cassia.gateways.rest.BodyMemory.Body;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.ObjectInfo;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Many objects at a time, in documents: one result per key, in order, and a failed key does not
 * disturb the others. Immutable.
 *
 * <pre>
 *   POST /api/batch_put     {"objects": [{"key", "value" | "base64"}]}
 *   POST /api/batch_get     {"keys"}             each {"key", "size", "base64"} or {"key", "failure"}
 *   POST /api/batch_exist   {"keys"}             each {"key", "exists"}
 *   POST /api/batch_remove  {"keys", "force"}
 *   POST /api/longest_prefix {"keys"}            {"length": how many leading keys are readable}
 * </pre>
 */
final class BatchEndpoints {
    private final StoreClient client;
    private final BodyMemory memory;

    BatchEndpoints(StoreClient client, BodyMemory memory) {
        this.client = client;
        this.memory = memory;
    }

    private interface DocumentWork {
        void run(JsonNode document) throws IOException;
    }

    private interface KeysWork {
        void run(List<ByteString> keys) throws IOException;
    }

    private void withDocument(RestExchange exchange, DocumentWork work) throws IOException {
        Optional<JsonNode> document = Documents.receive(exchange, memory);
        if (document.isPresent()) {
            work.run(document.get());
        }
    }

    private void withKeys(RestExchange exchange, JsonNode document, KeysWork work)
            throws IOException {
        switch (Documents.keys(document)) {
            case Outcome.Ok<List<ByteString>>(List<ByteString> keys) -> work.run(keys);
            case Outcome.Failed<List<ByteString>> failed -> exchange.failed(failed);
        }
    }

    private static void answer(RestExchange exchange, ArrayNode results) throws IOException {
        ObjectNode document = Bodies.object();
        document.set("results", results);
        exchange.json(HttpStatus.OK, document);
    }

    private static ObjectNode add(ArrayNode results, ByteString key) {
        return results.addObject().put("key", key.text());
    }

    private static void addDone(ArrayNode results, ByteString key, Outcome<Done> outcome) {
        ObjectNode result = add(results, key);
        switch (outcome) {
            case Outcome.Ok<Done> ok -> result.put("status", "success");
            case Outcome.Failed<Done> failed -> result.set("failure", Bodies.failure(failed));
        }
    }

    void exist(RestExchange exchange) throws IOException {
        withDocument(
                exchange, document -> withKeys(exchange, document, keys -> exist(exchange, keys)));
    }

    private void exist(RestExchange exchange, List<ByteString> keys) throws IOException {
        ArrayNode results = Bodies.MAPPER.createArrayNode();
        List<Outcome<Boolean>> found = client.existsBatch(keys);
        for (int i = 0; i < keys.size(); i++) {
            ObjectNode result = add(results, keys.get(i));
            switch (found.get(i)) {
                case Outcome.Ok<Boolean>(Boolean exists) -> result.put("exists", exists);
                case Outcome.Failed<Boolean> failed ->
                        result.set("failure", Bodies.failure(failed));
            }
        }
        answer(exchange, results);
    }

    void longestPrefix(RestExchange exchange) throws IOException {
        withDocument(
                exchange,
                document ->
                        withKeys(
                                exchange,
                                document,
                                keys -> {
                                    switch (client.longestPrefix(keys)) {
                                        case Outcome.Ok<Integer>(Integer length) ->
                                                exchange.json(
                                                        HttpStatus.OK,
                                                        Bodies.object().put("length", length));
                                        case Outcome.Failed<Integer> failed ->
                                                exchange.failed(failed);
                                    }
                                }));
    }

    void remove(RestExchange exchange) throws IOException {
        withDocument(
                exchange,
                document -> {
                    boolean force = document.path("force").asBoolean(false);
                    withKeys(exchange, document, keys -> remove(exchange, keys, force));
                });
    }

    private void remove(RestExchange exchange, List<ByteString> keys, boolean force)
            throws IOException {
        ArrayNode results = Bodies.MAPPER.createArrayNode();
        List<Outcome<Done>> removed = client.removeBatch(keys, force);
        for (int i = 0; i < keys.size(); i++) {
            addDone(results, keys.get(i), removed.get(i));
        }
        answer(exchange, results);
    }

    /** One value of a put on its way. Immutable. */
    private record Value(ByteString key, MemorySegment bytes) {}

    void put(RestExchange exchange) throws IOException {
        withDocument(
                exchange,
                document -> {
                    switch (values(document)) {
                        case Outcome.Ok<List<Value>>(List<Value> values) -> put(exchange, values);
                        case Outcome.Failed<List<Value>> failed -> exchange.failed(failed);
                    }
                });
    }

    private static Outcome<List<Value>> values(JsonNode document) {
        JsonNode objects = document.path("objects");
        if (!objects.isArray() || objects.size() > Documents.MAX_KEYS) {
            return Documents.invalid(
                    "\"objects\" must be a list of at most " + Documents.MAX_KEYS + " objects");
        }
        List<Value> values = new ArrayList<>(objects.size());
        for (JsonNode object : objects) {
            switch (value(object)) {
                case Outcome.Ok<Value>(Value value) -> values.add(value);
                case Outcome.Failed<Value> failed -> {
                    return failed.as();
                }
            }
        }
        return Outcome.ok(values);
    }

    private static Outcome<Value> value(JsonNode object) {
        JsonNode key = object.path("key");
        JsonNode text = object.path("value");
        JsonNode base64 = object.path("base64");
        if (!key.isString() || text.isString() == base64.isString()) {
            return Documents.invalid(
                    "each object must be {\"key\": text, \"value\": text} or {\"key\": text,"
                            + " \"base64\": text}");
        }
        try {
            byte[] bytes =
                    text.isString()
                            ? text.stringValue().getBytes(StandardCharsets.UTF_8)
                            : Base64.getDecoder().decode(base64.stringValue());
            return KeyPath.check(ByteString.of(key.stringValue()))
                    .map(checked -> new Value(checked, MemorySegment.ofArray(bytes)));
        } catch (IllegalArgumentException e) {
            return Documents.invalid("\"base64\" of " + key + ": " + e.getMessage());
        }
    }

    private void put(RestExchange exchange, List<Value> values) throws IOException {
        long total = values.stream().mapToLong(value -> value.bytes().byteSize()).sum();
        Outcome<Body> taken = Documents.room(memory, total);
        if (taken instanceof Outcome.Failed<Body> failed) {
            exchange.failed(failed);
            return;
        }
        ArrayNode results = Bodies.MAPPER.createArrayNode();
        try (Body body = taken.orThrow()) {
            List<ByteString> keys = new ArrayList<>(values.size());
            List<MemorySegment> parts = new ArrayList<>(values.size());
            long at = 0;
            for (Value value : values) {
                long length = value.bytes().byteSize();
                MemorySegment.copy(value.bytes(), 0, body.memory(), at, length);
                keys.add(value.key());
                parts.add(body.memory().asSlice(at, length));
                at += length;
            }
            List<Outcome<Done>> stored = client.putBatch(keys, parts, PutOptions.DEFAULT);
            for (int i = 0; i < keys.size(); i++) {
                addDone(results, keys.get(i), stored.get(i));
            }
        }
        answer(exchange, results);
    }

    void get(RestExchange exchange) throws IOException {
        withDocument(
                exchange, document -> withKeys(exchange, document, keys -> get(exchange, keys)));
    }

    /** Sizes first, then all values that fit in one read; the others say that they did not fit. */
    private void get(RestExchange exchange, List<ByteString> keys) throws IOException {
        List<Outcome<Long>> sizes = new ArrayList<>(keys.size());
        long total = 0;
        for (Outcome<ObjectInfo> info : client.infoBatch(keys)) {
            Outcome<Long> size = info.map(ObjectInfo::sizeBytes);
            if (size instanceof Outcome.Ok<Long>(Long bytes)) {
                size = total + bytes <= Documents.MAX_BYTES ? size : tooMuch(bytes);
                total += size.isOk() ? bytes : 0;
            }
            sizes.add(size);
        }
        Outcome<Body> taken = memory.take(total);
        if (taken instanceof Outcome.Failed<Body> failed) {
            exchange.failed(failed);
            return;
        }
        ArrayNode results = Bodies.MAPPER.createArrayNode();
        try (Body body = taken.orThrow()) {
            read(keys, sizes, body.memory(), results);
            // The text of the answer lies on the heap for as long as the client takes it.
            answer(exchange, results);
        }
    }

    private static Outcome<Long> tooMuch(long bytes) {
        return Outcome.failed(
                StoreCode.BUFFER_OVERFLOW,
                "%d bytes do not fit into one answer of at most %d beside the others; get it alone"
                        .formatted(bytes, Documents.MAX_BYTES));
    }

    private void read(
            List<ByteString> keys,
            List<Outcome<Long>> sizes,
            MemorySegment into,
            ArrayNode results) {
        List<ByteString> wanted = new ArrayList<>();
        List<MemorySegment> parts = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < keys.size(); i++) {
            if (sizes.get(i) instanceof Outcome.Ok<Long>(Long bytes)) {
                wanted.add(keys.get(i));
                parts.add(into.asSlice(at, bytes));
                at += bytes;
            }
        }
        List<Outcome<Long>> read = client.getBatch(wanted, parts);
        int next = 0;
        for (int i = 0; i < keys.size(); i++) {
            ObjectNode result = add(results, keys.get(i));
            Outcome<Long> outcome = sizes.get(i).isOk() ? read.get(next) : sizes.get(i);
            switch (outcome) {
                case Outcome.Ok<Long>(Long bytes) -> addValue(result, parts.get(next), bytes);
                case Outcome.Failed<Long> failed -> result.set("failure", Bodies.failure(failed));
            }
            next += sizes.get(i).isOk() ? 1 : 0;
        }
    }

    private static void addValue(ObjectNode result, MemorySegment part, long bytes) {
        byte[] value = part.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        result.put("size", bytes).put("base64", Base64.getEncoder().encodeToString(value));
    }
}
