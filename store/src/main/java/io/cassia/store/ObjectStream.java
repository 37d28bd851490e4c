package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.status.CassiaException;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.Function;

/**
 * An object of any size, read through a buffer. Confined to its reader.
 *
 * <p>The lease is renewed as it runs out. When the object was replaced meanwhile, the next read
 * fails with INVALID_READ: a stream is of one version from its first byte to its last. Failures are
 * {@link IOException}s whose cause is a {@link CassiaException}.
 */
public final class ObjectStream extends InputStream {
    private final ByteString key;
    private final Function<ByteString, Outcome<ReadSession>> sessions;
    private final Staging.Block block;
    private final ObjectInfo object;
    private ReadSession session;
    private long nextBytes;
    private MemorySegment window = MemorySegment.NULL;
    private long atWindow;
    private boolean closed;

    private ObjectStream(
            ByteString key,
            Function<ByteString, Outcome<ReadSession>> sessions,
            ReadSession session,
            ObjectInfo object,
            Staging.Block block) {
        this.key = key;
        this.sessions = sessions;
        this.session = session;
        this.object = object;
        this.block = block;
    }

    static Outcome<ObjectStream> open(
            ByteString key,
            Function<ByteString, Outcome<ReadSession>> sessions,
            Staging staging,
            long windowBytes) {
        return sessions.apply(key)
                .then(session -> open(key, sessions, session, staging, windowBytes));
    }

    private static Outcome<ObjectStream> open(
            ByteString key,
            Function<ByteString, Outcome<ReadSession>> sessions,
            ReadSession session,
            Staging staging,
            long windowBytes) {
        Outcome<ObjectStream> opened =
                session.object(key)
                        .then(
                                object ->
                                        staging.take(Math.clamp(object.sizeBytes(), 1, windowBytes))
                                                .map(
                                                        block ->
                                                                new ObjectStream(
                                                                        key, sessions, session,
                                                                        object, block)));
        if (opened instanceof Outcome.Failed<ObjectStream> failed) {
            session.close();
            return failed.in("stream of " + Keys.show(key));
        }
        return opened;
    }

    /** Size and version of what is being read. */
    public ObjectInfo object() {
        return object;
    }

    @Override
    public int read() throws IOException {
        if (!fill()) {
            return -1;
        }
        return window.get(ValueLayout.JAVA_BYTE, atWindow++) & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!fill()) {
            return -1;
        }
        int count = (int) Math.min(length, window.byteSize() - atWindow);
        MemorySegment.copy(window, ValueLayout.JAVA_BYTE, atWindow, into, offset, count);
        atWindow += count;
        return count;
    }

    @Override
    public int available() {
        return (int) Math.min(Integer.MAX_VALUE, window.byteSize() - atWindow);
    }

    /** Whether there is a byte in the window; reads the next one when it is used up. */
    private boolean fill() throws IOException {
        if (closed) {
            throw new IOException("the stream is closed");
        }
        if (atWindow < window.byteSize()) {
            return true;
        }
        long left = object.sizeBytes() - nextBytes;
        if (left == 0) {
            return false;
        }
        MemorySegment into = block.memory().asSlice(0, Math.min(left, block.memory().byteSize()));
        Outcome<Long> read = read(into);
        if (read instanceof Outcome.Failed<Long>(var code, String detail)
                && code == StoreCode.LEASE_EXPIRED) {
            read = renew().then(_ -> read(into));
        }
        if (read instanceof Outcome.Failed<Long>(var code, String detail)) {
            throw new IOException(detail, new CassiaException(code, detail));
        }
        nextBytes += into.byteSize();
        window = into;
        atWindow = 0;
        return true;
    }

    private Outcome<Long> read(MemorySegment into) {
        return session.read(List.of(new RangeRead(key, nextBytes, into))).getFirst();
    }

    private Outcome<ReadSession> renew() {
        session.close();
        return sessions.apply(key)
                .then(
                        renewed -> {
                            session = renewed;
                            return renewed.object(key)
                                    .then(
                                            now ->
                                                    now.version() == object.version()
                                                                    && now.sizeBytes()
                                                                            == object.sizeBytes()
                                                            ? Outcome.ok(renewed)
                                                            : Outcome.failed(
                                                                    StoreCode.INVALID_READ,
                                                                    replaced()));
                        });
    }

    private String replaced() {
        return "stream of %s: it was replaced when %d of %d bytes had been read"
                .formatted(Keys.show(key), nextBytes, object.sizeBytes());
    }

    /** Gives the lease and the buffer back. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            session.close();
            block.close();
        }
    }
}
