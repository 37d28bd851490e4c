package io.cassia.gateways.rest;

import io.cassia.base.ByteString;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** The JSON documents that requests consist of. Immutable. */
final class Documents {
    /** Upstream's limit of a body (spec mooncake-store 12.3). */
    static final long MAX_BYTES = 100_000_000;

    /** Keys of one batch. */
    static final int MAX_KEYS = 10_000;

    /** Up to here the values of a document may wait for room on the heap. */
    private static final long SMALL_BYTES = 1 << 20;

    private Documents() {}

    /**
     * Room for the values of a document. Those of a large one do not wait for it: they lie on the
     * heap already, and so would those of all that wait.
     */
    static Outcome<BodyMemory.Body> room(BodyMemory memory, long bytes) {
        return bytes <= SMALL_BYTES ? memory.take(bytes) : memory.takeMore(bytes);
    }

    /** The request's document; empty when there is none and the client has been told. */
    static Optional<JsonNode> receive(RestExchange exchange, BodyMemory memory) throws IOException {
        Optional<Received> received = Received.of(exchange, memory, MAX_BYTES);
        if (received.isEmpty()) {
            return Optional.empty();
        }
        Outcome<JsonNode> document;
        try (Received body = received.get()) {
            document = read(body);
        }
        return switch (document) {
            case Outcome.Ok<JsonNode>(JsonNode json) -> Optional.of(json);
            case Outcome.Failed<JsonNode> failed -> {
                exchange.failed(failed);
                yield Optional.empty();
            }
        };
    }

    /** INVALID_PARAMS when it is not one JSON object. */
    private static Outcome<JsonNode> read(Received body) {
        byte[] text = new byte[Math.toIntExact(body.bytes())];
        int at = 0;
        for (MemorySegment part : body.parts()) {
            int length = (int) part.byteSize();
            MemorySegment.copy(part, ValueLayout.JAVA_BYTE, 0, text, at, length);
            at += length;
        }
        try {
            JsonNode document = Bodies.MAPPER.readTree(text);
            return document != null && document.isObject()
                    ? Outcome.ok(document)
                    : invalid("the body is not a JSON object");
        } catch (JacksonException e) {
            return invalid("the body is not JSON: " + e.getOriginalMessage());
        }
    }

    /** Member {@code keys}: a list of texts. */
    static Outcome<List<ByteString>> keys(JsonNode document) {
        JsonNode list = document.path("keys");
        if (!list.isArray() || list.size() > MAX_KEYS) {
            return invalid("\"keys\" must be a list of at most " + MAX_KEYS + " texts");
        }
        List<ByteString> keys = new ArrayList<>(list.size());
        for (JsonNode item : list) {
            if (!item.isString()) {
                return invalid("\"keys\" has an item that is no text: " + item);
            }
            switch (KeyPath.check(ByteString.of(item.stringValue()))) {
                case Outcome.Ok<ByteString>(ByteString key) -> keys.add(key);
                case Outcome.Failed<ByteString> failed -> {
                    return failed.as();
                }
            }
        }
        return Outcome.ok(keys);
    }

    static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(StoreCode.INVALID_PARAMS, detail);
    }
}
