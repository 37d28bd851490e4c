package io.cassia.gateways.rest;

import io.cassia.base.ByteString;
import io.cassia.gateways.rest.BodyMemory.Body;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Takes values. Immutable. Space in the store is asked for when the whole value has arrived: a
 * client that breaks off has left nothing behind.
 */
final class Uploads {
    private final StoreClient client;
    private final BodyMemory memory;

    Uploads(StoreClient client, BodyMemory memory) {
        this.client = client;
        this.memory = memory;
    }

    /** The body as it is. */
    void body(RestExchange exchange, ByteString key, PutOptions options) throws IOException {
        Optional<Received> received = Received.of(exchange, memory, Long.MAX_VALUE);
        if (received.isEmpty()) {
            return;
        }
        try (Received body = received.get()) {
            switch (put(key, body, options)) {
                case Outcome.Ok<Done> ok ->
                        exchange.json(HttpStatus.OK, Bodies.success().put("bytes", body.bytes()));
                case Outcome.Failed<Done> failed -> exchange.failed(failed);
            }
        }
    }

    private Outcome<Done> put(ByteString key, Received body, PutOptions options) {
        if (body.parts().size() == 1) {
            return client.put(key, body.parts().getFirst(), options);
        }
        return memory.takeMore(body.bytes())
                .then(
                        whole -> {
                            try (whole) {
                                long at = 0;
                                for (MemorySegment part : body.parts()) {
                                    MemorySegment.copy(
                                            part, 0, whole.memory(), at, part.byteSize());
                                    at += part.byteSize();
                                }
                                return client.put(key, whole.memory(), options);
                            }
                        });
    }

    /** {@code {"key", "value"}}; an existing key is a success that says so. */
    void text(RestExchange exchange) throws IOException {
        Optional<Received> received = Received.of(exchange, memory, Documents.MAX_BYTES);
        if (received.isEmpty()) {
            return;
        }
        try (Received body = received.get()) {
            switch (Documents.read(body).then(Uploads::textPut)) {
                case Outcome.Ok<TextPut>(TextPut put) -> text(exchange, put);
                case Outcome.Failed<TextPut> failed -> exchange.failed(failed);
            }
        }
    }

    private void text(RestExchange exchange, TextPut put) throws IOException {
        switch (putBytes(put.key(), put.value())) {
            case Outcome.Ok<Done> ok -> exchange.success();
            case Outcome.Failed<Done> failed when
                    failed.code() == StoreCode.OBJECT_ALREADY_EXISTS ->
                    exchange.json(HttpStatus.OK, Bodies.success().put("existed", true));
            case Outcome.Failed<Done> failed -> exchange.failed(failed);
        }
    }

    private Outcome<Done> putBytes(ByteString key, byte[] value) {
        return memory.takeMore(value.length)
                .then(
                        (Body body) -> {
                            try (body) {
                                MemorySegment into = body.memory();
                                MemorySegment.copy(
                                        value, 0, into, ValueLayout.JAVA_BYTE, 0, value.length);
                                return client.put(key, into, PutOptions.DEFAULT);
                            }
                        });
    }

    /** A document of upstream's put. Immutable. */
    private record TextPut(ByteString key, byte[] value) {}

    private static Outcome<TextPut> textPut(JsonNode document) {
        JsonNode key = document.path("key");
        JsonNode value = document.path("value");
        if (!key.isString() || !value.isString()) {
            return Documents.invalid("the body must be {\"key\": text, \"value\": text}");
        }
        byte[] bytes = value.stringValue().getBytes(StandardCharsets.UTF_8);
        return KeyPath.check(ByteString.of(key.stringValue()))
                .map(checked -> new TextPut(checked, bytes));
    }
}
