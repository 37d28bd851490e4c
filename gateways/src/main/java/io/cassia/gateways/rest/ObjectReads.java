package io.cassia.gateways.rest;

import io.cassia.base.ByteString;
import io.cassia.gateways.rest.BodyMemory.Body;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.ObjectInfo;
import io.cassia.store.RangeRead;
import io.cassia.store.ReadSession;
import io.cassia.store.StoreClient;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * Answers with values. Immutable.
 *
 * <p>Bytes are read and proved and their lease is given back before the first of them goes to the
 * client: a slow one holds memory of this service, but no lease. An object that is too large for
 * that passes in pieces, each read under a lease of its own and only from the version that the
 * answer began with; when that has gone in between, the connection breaks off before the announced
 * length.
 */
final class ObjectReads {
    /** Up to here a failure of any byte is a clean answer. */
    static final long WHOLE_BYTES = 64L << 20;

    static final long PIECE_BYTES = 16L << 20;

    /** An object that was replaced between being asked for and being read is asked for again. */
    private static final int ATTEMPTS = 3;

    private final StoreClient client;
    private final BodyMemory memory;

    ObjectReads(StoreClient client, BodyMemory memory) {
        this.client = client;
        this.memory = memory;
    }

    /** What of an object is to be sent. Immutable. */
    private record Wanted(ByteString key, ObjectInfo info, ByteRange range) {
        boolean isSameVersion(ObjectInfo now) {
            return now.version() == info.version() && now.sizeBytes() == info.sizeBytes();
        }
    }

    void get(RestExchange exchange, ByteString key) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            switch (client.info(key)) {
                case Outcome.Failed<ObjectInfo> failed -> {
                    miss(exchange, failed);
                    return;
                }
                case Outcome.Ok<ObjectInfo>(ObjectInfo info) -> {
                    if (get(exchange, key, info)) {
                        return;
                    }
                }
            }
        }
        exchange.failed(
                HttpStatus.UNAVAILABLE,
                StoreCode.OBJECT_REPLICA_BUSY,
                "the object is replaced again and again; ask once more");
    }

    /** An object that is being written is a miss as one that is not there, as upstream has it. */
    private static void miss(RestExchange exchange, Outcome.Failed<?> failed) throws IOException {
        int status =
                failed.code() == StoreCode.REPLICA_IS_NOT_READY
                        ? HttpStatus.NOT_FOUND
                        : HttpStatus.of(failed.code());
        exchange.failed(status, failed.code(), failed.detail());
    }

    /** False when that version has gone and nothing was answered yet. */
    private boolean get(RestExchange exchange, ByteString key, ObjectInfo info) throws IOException {
        long size = info.sizeBytes();
        String tag = tag(info);
        if (exchange.header("If-None-Match").filter(tag::equals).isPresent()) {
            exchange.responseHeader("ETag", tag);
            exchange.notModified();
            return true;
        }
        Optional<ByteRange> range = ByteRange.of(exchange.header("Range"), size);
        if (range.isEmpty()) {
            exchange.responseHeader("Content-Range", "bytes */" + size);
            exchange.failed(
                    HttpStatus.RANGE_NOT_SATISFIABLE,
                    StoreCode.INVALID_PARAMS,
                    "the range lies outside of the object's " + size + " bytes");
            return true;
        }
        Wanted wanted = new Wanted(key, info, range.get());
        if (exchange.isHead() || size == 0) {
            begin(exchange, wanted);
            return true;
        }
        long length = wanted.range().length();
        boolean whole = length <= Math.min(WHOLE_BYTES, memory.capacityBytes());
        long window = whole ? length : Math.min(PIECE_BYTES, memory.capacityBytes());
        return switch (memory.take(window)) {
            case Outcome.Failed<Body> failed -> {
                exchange.failed(failed);
                yield true;
            }
            case Outcome.Ok<Body>(Body body) -> {
                try (body) {
                    yield send(exchange, wanted, body.memory());
                }
            }
        };
    }

    private boolean send(RestExchange exchange, Wanted wanted, MemorySegment window)
            throws IOException {
        long length = wanted.range().length();
        for (long at = 0; at < length; at += window.byteSize()) {
            MemorySegment piece = window.asSlice(0, Math.min(window.byteSize(), length - at));
            Outcome<Done> read = read(wanted, wanted.range().offset() + at, piece);
            if (read instanceof Outcome.Failed<Done> failed) {
                if (at > 0) {
                    exchange.breakOff(failed);
                    return true;
                }
                if (failed.code() == StoreCode.OBJECT_REPLICA_BUSY) {
                    return false;
                }
                miss(exchange, failed);
                return true;
            }
            if (at == 0) {
                begin(exchange, wanted);
            }
            exchange.write(piece);
        }
        return true;
    }

    /** OBJECT_REPLICA_BUSY when that version has gone. */
    private Outcome<Done> read(Wanted wanted, long offset, MemorySegment into) {
        return client.openRead(List.of(wanted.key()))
                .then(
                        session -> {
                            try (session) {
                                return session.object(wanted.key())
                                        .then(now -> read(session, wanted, now, offset, into));
                            }
                        });
    }

    private static Outcome<Done> read(
            ReadSession session, Wanted wanted, ObjectInfo now, long offset, MemorySegment into) {
        if (!wanted.isSameVersion(now)) {
            return Outcome.failed(
                    StoreCode.OBJECT_REPLICA_BUSY, "the object was replaced while it was read");
        }
        return session.read(List.of(new RangeRead(wanted.key(), offset, into)))
                .getFirst()
                .map(_ -> Done.DONE);
    }

    /** A master that keeps no versions gives none to tell. */
    private static String tag(ObjectInfo info) {
        return info.version() == 0 ? "" : "\"" + info.version() + "\"";
    }

    private static void begin(RestExchange exchange, Wanted wanted) throws IOException {
        long size = wanted.info().sizeBytes();
        ByteRange range = wanted.range();
        exchange.responseHeader("Accept-Ranges", "bytes");
        if (wanted.info().version() != 0) {
            exchange.responseHeader("ETag", tag(wanted.info()));
        }
        if (range.isAll(size)) {
            exchange.begin(HttpStatus.OK, size);
        } else {
            exchange.responseHeader("Content-Range", range.contentRange(size));
            exchange.begin(HttpStatus.PARTIAL, range.length());
        }
    }
}
