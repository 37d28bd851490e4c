package io.cassia.gateways.rest;

import io.cassia.base.ByteString;
import io.cassia.gateways.rest.BodyMemory.Body;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.StoreClient;
import java.io.IOException;
import java.util.Optional;

/**
 * Answers with values. Immutable. Bytes are read, checked and their lease is given back before the
 * first of them goes to the client: a slow one holds memory of this service, but no lease.
 */
final class ObjectReads {
    /** An object that grew between asking for its size and reading it is asked for again. */
    private static final int ATTEMPTS = 3;

    private final StoreClient client;
    private final BodyMemory memory;

    ObjectReads(StoreClient client, BodyMemory memory) {
        this.client = client;
        this.memory = memory;
    }

    void get(RestExchange exchange, ByteString key) throws IOException {
        for (int attempt = 1; ; attempt++) {
            switch (client.size(key)) {
                case Outcome.Failed<Long> failed -> {
                    miss(exchange, failed);
                    return;
                }
                case Outcome.Ok<Long>(Long size) -> {
                    if (get(exchange, key, size, attempt == ATTEMPTS)) {
                        return;
                    }
                }
            }
        }
    }

    /** An object that is being written is a miss as one that is not there, as upstream has it. */
    private static void miss(RestExchange exchange, Outcome.Failed<?> failed) throws IOException {
        int status =
                failed.code() == StoreCode.REPLICA_IS_NOT_READY
                        ? HttpStatus.NOT_FOUND
                        : HttpStatus.of(failed.code());
        exchange.failed(status, failed.code(), failed.detail());
    }

    /** False when the object has another size by now and the caller shall ask again. */
    private boolean get(RestExchange exchange, ByteString key, long size, boolean last)
            throws IOException {
        Optional<ByteRange> range = ByteRange.of(exchange.header("Range"), size);
        if (range.isEmpty()) {
            exchange.responseHeader("Content-Range", "bytes */" + size);
            exchange.failed(
                    HttpStatus.RANGE_NOT_SATISFIABLE,
                    StoreCode.INVALID_PARAMS,
                    "the range lies outside of the object's " + size + " bytes");
            return true;
        }
        if (exchange.isHead() || size == 0) {
            begin(exchange, range.get(), size);
            return true;
        }
        if (size > memory.capacityBytes()) {
            exchange.failed(
                    HttpStatus.TOO_LARGE,
                    StoreCode.BUFFER_OVERFLOW,
                    "the object has %d bytes, the buffers of this service %d"
                            .formatted(size, memory.capacityBytes()));
            return true;
        }
        return switch (memory.take(size)) {
            case Outcome.Failed<Body> failed -> {
                exchange.failed(failed);
                yield true;
            }
            case Outcome.Ok<Body>(Body body) -> {
                try (body) {
                    yield send(exchange, key, range.get(), body, last);
                }
            }
        };
    }

    private boolean send(
            RestExchange exchange, ByteString key, ByteRange range, Body body, boolean last)
            throws IOException {
        long size = body.memory().byteSize();
        switch (client.get(key, body.memory())) {
            case Outcome.Ok<Long>(Long read) when read == size -> {
                begin(exchange, range, size);
                exchange.write(body.memory().asSlice(range.offset(), range.length()));
            }
            case Outcome.Ok<Long>(Long read) when !last -> {
                return false;
            }
            case Outcome.Ok<Long>(Long read) ->
                    exchange.failed(
                            HttpStatus.CONFLICT,
                            StoreCode.OBJECT_REPLICA_BUSY,
                            "the object changes its size again and again; ask once more");
            case Outcome.Failed<Long> failed when
                    failed.code() == StoreCode.INVALID_PARAMS && !last -> {
                return false;
            }
            case Outcome.Failed<Long> failed -> miss(exchange, failed);
        }
        return true;
    }

    private static void begin(RestExchange exchange, ByteRange range, long size)
            throws IOException {
        exchange.responseHeader("Accept-Ranges", "bytes");
        if (range.isAll(size)) {
            exchange.begin(HttpStatus.OK, size);
        } else {
            exchange.responseHeader("Content-Range", range.contentRange(size));
            exchange.begin(HttpStatus.PARTIAL, range.length());
        }
    }
}
