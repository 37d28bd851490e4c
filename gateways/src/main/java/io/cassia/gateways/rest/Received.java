package io.cassia.gateways.rest;

import io.cassia.gateways.rest.BodyMemory.Body;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The whole body of a request, in one piece when its length was told, else in pieces that grow.
 * Confined to its request.
 */
final class Received implements AutoCloseable {
    private static final long FIRST_PIECE = 1 << 20;
    private static final long LARGEST_PIECE = 64 << 20;

    private final List<Body> bodies = new ArrayList<>();
    private final List<MemorySegment> parts = new ArrayList<>();
    private long bytes;

    private Received() {}

    /** The bytes in order; one part for an empty body. */
    List<MemorySegment> parts() {
        return parts;
    }

    long bytes() {
        return bytes;
    }

    /**
     * Reads the body. Empty when it was refused and the client has been told: 413 for one above the
     * limit, 503 when other requests have the memory.
     */
    static Optional<Received> of(RestExchange exchange, BodyMemory memory, long limit)
            throws IOException {
        long most = Math.min(limit, memory.capacityBytes());
        Optional<Long> length = exchange.contentLength();
        if (length.isPresent() && length.get() > most) {
            return tooLarge(exchange, length.get() + " bytes", most);
        }
        Received received = new Received();
        boolean complete = false;
        try {
            complete =
                    length.isPresent()
                            ? received.readAll(exchange, memory, length.get())
                            : received.readChunks(exchange, memory, most);
            return complete ? Optional.of(received) : Optional.empty();
        } finally {
            if (!complete) {
                received.close();
            }
        }
    }

    private static Optional<Received> tooLarge(RestExchange exchange, String size, long most)
            throws IOException {
        exchange.failed(
                HttpStatus.TOO_LARGE,
                StoreCode.BUFFER_OVERFLOW,
                "the body has %s, at most %d bytes are taken".formatted(size, most));
        return Optional.empty();
    }

    private boolean readAll(RestExchange exchange, BodyMemory memory, long length)
            throws IOException {
        if (!add(exchange, memory.take(length))) {
            return false;
        }
        // A body that ends too early is an IOException of the server's stream.
        return readInto(exchange, bodies.getFirst()) == length;
    }

    private boolean readChunks(RestExchange exchange, BodyMemory memory, long most)
            throws IOException {
        long piece = Math.min(FIRST_PIECE, most);
        Outcome<Body> taken = memory.take(piece);
        while (add(exchange, taken)) {
            if (readInto(exchange, bodies.getLast()) < piece) {
                return true;
            }
            if (bytes == most) {
                return exchange.bodyEnds()
                        || tooLarge(exchange, "more than " + most + " bytes", most).isPresent();
            }
            piece = Math.min(most - bytes, Math.min(LARGEST_PIECE, bytes));
            taken = memory.takeMore(piece);
        }
        return false;
    }

    private boolean add(RestExchange exchange, Outcome<Body> taken) throws IOException {
        return switch (taken) {
            case Outcome.Ok<Body>(Body body) -> bodies.add(body);
            case Outcome.Failed<Body> failed -> {
                exchange.failed(failed);
                yield false;
            }
        };
    }

    private long readInto(RestExchange exchange, Body body) throws IOException {
        long got = exchange.receive(body.memory());
        bytes += got;
        if (got > 0 || parts.isEmpty()) {
            parts.add(body.memory().asSlice(0, got));
        }
        return got;
    }

    @Override
    public void close() {
        bodies.forEach(Body::close);
    }
}
