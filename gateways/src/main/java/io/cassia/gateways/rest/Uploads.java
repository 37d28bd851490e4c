package io.cassia.gateways.rest;

import io.cassia.base.ByteString;
import io.cassia.gateways.rest.BodyMemory.Body;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import io.cassia.store.WriteSession;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Takes values. Immutable.
 *
 * <p>Space in the store is asked for when the whole value has arrived: a client that breaks off has
 * left nothing behind. A value that is too large for that must tell its length; it goes to the
 * store piece by piece, and is taken back when it does not come to its end.
 */
final class Uploads {
    private final StoreClient client;
    private final BodyMemory memory;

    Uploads(StoreClient client, BodyMemory memory) {
        this.client = client;
        this.memory = memory;
    }

    /** The body as it is. */
    void body(RestExchange exchange, ByteString key, PutOptions base) throws IOException {
        switch (UploadOptions.of(exchange, base)) {
            case Outcome.Failed<PutOptions> failed -> exchange.failed(failed);
            case Outcome.Ok<PutOptions>(PutOptions options) -> {
                long most = Math.min(ObjectReads.WHOLE_BYTES, memory.capacityBytes());
                Optional<Long> length = exchange.contentLength();
                if (length.isPresent() && length.get() > most) {
                    pieces(exchange, key, length.get(), options);
                } else {
                    whole(exchange, key, options);
                }
            }
        }
    }

    private void whole(RestExchange exchange, ByteString key, PutOptions options)
            throws IOException {
        Optional<Received> received = Received.of(exchange, memory, Long.MAX_VALUE);
        if (received.isEmpty()) {
            return;
        }
        try (Received body = received.get()) {
            tell(exchange, client.putParts(key, body.parts(), options), body.bytes());
        }
    }

    private void pieces(RestExchange exchange, ByteString key, long length, PutOptions options)
            throws IOException {
        Outcome<Body> taken =
                memory.take(Math.min(ObjectReads.PIECE_BYTES, memory.capacityBytes()));
        if (taken instanceof Outcome.Failed<Body> failed) {
            exchange.failed(failed);
            return;
        }
        try (Body window = taken.orThrow()) {
            switch (client.openWrite(key, length, options)) {
                case Outcome.Failed<WriteSession> failed -> tell(exchange, failed.as(), length);
                case Outcome.Ok<WriteSession>(WriteSession session) -> {
                    try (session) {
                        Outcome<Done> written = write(exchange, session, length, window.memory());
                        tell(
                                exchange,
                                written.then(_ -> session.commit()).map(_ -> Done.DONE),
                                length);
                    }
                }
            }
        }
    }

    private static Outcome<Done> write(
            RestExchange exchange, WriteSession session, long length, MemorySegment window)
            throws IOException {
        for (long at = 0; at < length; at += window.byteSize()) {
            MemorySegment piece = window.asSlice(0, Math.min(window.byteSize(), length - at));
            // A body that ends too early is an IOException of the server's stream.
            long got = exchange.receive(piece);
            Outcome<Done> written = session.write(at, piece.asSlice(0, got));
            if (!written.isOk()) {
                return written;
            }
        }
        return Outcome.done();
    }

    private static void tell(RestExchange exchange, Outcome<Done> put, long bytes)
            throws IOException {
        switch (put) {
            case Outcome.Ok<Done> ok ->
                    exchange.json(HttpStatus.OK, Bodies.success().put("bytes", bytes));
            case Outcome.Failed<Done> failed when isUnmet(exchange, failed) ->
                    exchange.failed(HttpStatus.PRECONDITION_FAILED, failed.code(), failed.detail());
            case Outcome.Failed<Done> failed -> exchange.failed(failed);
        }
    }

    private static boolean isUnmet(RestExchange exchange, Outcome.Failed<Done> failed) {
        return UploadOptions.isConditional(exchange)
                && (failed.code() == StoreCode.INVALID_VERSION
                        || failed.code() == StoreCode.OBJECT_NOT_FOUND
                        || failed.code() == StoreCode.OBJECT_ALREADY_EXISTS);
    }

    /** {@code {"key", "value"}}; an existing key is a success that says so. */
    void text(RestExchange exchange) throws IOException {
        Optional<JsonNode> document = Documents.receive(exchange, memory);
        if (document.isEmpty()) {
            return;
        }
        switch (textPut(document.get())) {
            case Outcome.Ok<TextPut>(TextPut put) -> text(exchange, put);
            case Outcome.Failed<TextPut> failed -> exchange.failed(failed);
        }
    }

    private void text(RestExchange exchange, TextPut put) throws IOException {
        switch (putBytes(put.key(), put.value())) {
            case Outcome.Ok<Done> ok -> exchange.success();
            case Outcome.Failed<Done> failed
                    when failed.code() == StoreCode.OBJECT_ALREADY_EXISTS ->
                    exchange.json(HttpStatus.OK, Bodies.success().put("existed", true));
            case Outcome.Failed<Done> failed -> exchange.failed(failed);
        }
    }

    private Outcome<Done> putBytes(ByteString key, MemorySegment value) {
        return Documents.room(memory, value.byteSize())
                .then(
                        body -> {
                            try (body) {
                                MemorySegment into = body.memory().copyFrom(value);
                                return client.put(key, into, PutOptions.DEFAULT);
                            }
                        });
    }

    /** A document of upstream's put. Immutable. */
    private record TextPut(ByteString key, MemorySegment value) {}

    private static Outcome<TextPut> textPut(JsonNode document) {
        JsonNode key = document.path("key");
        JsonNode value = document.path("value");
        if (!key.isString() || !value.isString()) {
            return Documents.invalid("the body must be {\"key\": text, \"value\": text}");
        }
        MemorySegment bytes =
                MemorySegment.ofArray(value.stringValue().getBytes(StandardCharsets.UTF_8));
        return KeyPath.check(ByteString.of(key.stringValue()))
                .map(checked -> new TextPut(checked, bytes));
    }
}
