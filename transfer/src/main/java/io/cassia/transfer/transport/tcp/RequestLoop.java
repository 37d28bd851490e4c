package io.cassia.transfer.transport.tcp;

import io.cassia.base.Spin;
import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.memory.Rejection;
import io.cassia.transfer.net.Wire;
import io.cassia.transfer.transport.TransferMetrics;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Reads the requests of one connection and answers them in order, forever (spec 7). Confined to the
 * connection's thread.
 *
 * <p>Requests that have already arrived are answered together. Before the thread waits for bytes of
 * the peer, everything answered so far is sent: the peer may be waiting for it. A WRITE is carried
 * out only after earlier READs have been sent, so that they do not show its bytes.
 *
 * <p>A rejected request is answered and the connection closed without draining it (spec 7.4).
 */
final class RequestLoop {
    /** Room for a burst of headers: all that most connections ever need. */
    private static final int HEADERS_BYTES = 4 << 10;

    /** Room for a burst of small WRITEs. */
    private static final int BODIES_BYTES = 64 << 10;

    /**
     * WRITEs of this size go straight to their memory. The bytes of smaller ones may arrive
     * together with the next headers: copying them costs less than a system call each.
     */
    private static final int BULK_BYTES = 16 << 10;

    /** Lent memory is touched by the kernel alone: its bytes pass through a buffer of this size. */
    private static final int LENT_BYTES = 256 << 10;

    private final ServerConnection connection;
    private final Wire wire;
    private final ServerContext context;
    private final Responses responses;
    private final Spin spin;
    private final Spin bulkSpin;
    private final Arena arena;
    private final ByteBuffer[] scatter = new ByteBuffer[2];
    private ByteBuffer input;
    private int readAheadBytes = HEADERS_BYTES;
    private @Nullable MemorySegment lent;

    private long reads;
    private long readBytes;
    private long writes;
    private long writeBytes;

    RequestLoop(
            ServerConnection connection, ServerContext context, Responses responses, Arena arena) {
        this.connection = connection;
        this.wire = connection.wire();
        this.context = context;
        this.responses = responses;
        this.spin = new Spin(context.clock());
        this.bulkSpin = new Spin(context.clock());
        this.arena = arena;
        this.input = allocate(HEADERS_BYTES).limit(0);
    }

    private ByteBuffer allocate(int bytes) {
        return arena.allocate(bytes).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Answers requests until the peer closes or must be closed; the reason, empty for the former.
     */
    String serve() throws IOException {
        try {
            while (input.remaining() >= RequestLayout.LENGTH_BYTES || nextHeader()) {
                String end = answerNext();
                if (!end.isEmpty()) {
                    return end;
                }
                if (responses.isFull()) {
                    flush();
                }
            }
            return input.hasRemaining() ? "truncated-header" : "";
        } finally {
            count();
        }
    }

    /** Waits for a whole header, without a deadline while none has begun; false at the end. */
    private boolean nextHeader() throws IOException {
        flush();
        input.compact();
        input.limit(Math.max(RequestLayout.LENGTH_BYTES, readAheadBytes));
        while (input.position() < RequestLayout.LENGTH_BYTES) {
            if (input.position() == 0) {
                connection.disarm();
                wire.stayAwake(spin);
            } else {
                connection.arm();
            }
            if (wire.read(input) < 0) {
                input.flip();
                return false;
            }
        }
        input.flip();
        return true;
    }

    /** Answers one request; why the connection must end, empty when it goes on. */
    private String answerNext() throws IOException {
        int at = input.position();
        long size = input.getLong(at + RequestLayout.SIZE_OFFSET);
        long address = input.getLong(at + RequestLayout.ADDRESS_OFFSET);
        byte opcode = input.get(at + RequestLayout.OPCODE_OFFSET);
        input.position(at + RequestLayout.LENGTH_BYTES);
        boolean write = RequestLayout.isWrite(opcode);
        Registration range = context.buffers().hold(address, size, write);
        if (range == null) {
            reject(context.buffers().why(address, size, write), write, opcode);
            return "rejected";
        }
        long offset = address - range.address();
        if (range.isLent()) {
            return answerLent(range, offset, size, opcode);
        }
        if (!write) {
            read(range, offset, size, RequestLayout.isAcknowledged(opcode));
            return "";
        }
        if (!store(range, offset, size)) {
            return "truncated-write";
        }
        if (RequestLayout.isAcknowledged(opcode)) {
            responses.addStatus();
        }
        return "";
    }

    /** The same for memory in another program's file, which may be cut off meanwhile. */
    private String answerLent(Registration range, long offset, long size, byte opcode)
            throws IOException {
        boolean write = RequestLayout.isWrite(opcode);
        connection.uses(range);
        try {
            flush();
            String end =
                    write
                            ? storeLent(range, offset, size, opcode)
                            : readLent(range, offset, size, opcode);
            if (end.isEmpty() && write && RequestLayout.isAcknowledged(opcode)) {
                responses.addStatus();
            }
            return end;
        } finally {
            connection.uses(null);
            range.release();
        }
    }

    private MemorySegment lentBuffer() {
        MemorySegment known = lent;
        if (known == null) {
            known = arena.allocate(StatusLayout.LENGTH_BYTES + LENT_BYTES, Long.BYTES);
            lent = known;
        }
        return known;
    }

    private String readLent(Registration range, long offset, long size, byte opcode)
            throws IOException {
        readAheadBytes = HEADERS_BYTES;
        MemorySegment buffer = lentBuffer();
        for (long at = 0; at < size; ) {
            int piece = (int) Math.min(LENT_BYTES, size - at);
            int from = StatusLayout.LENGTH_BYTES;
            if (!range.copyLent(false, offset + at, buffer.asSlice(from, piece))) {
                if (at == 0) {
                    reject(Rejection.LOST, false, opcode);
                } else {
                    // An answer that has begun can only be broken off.
                    context.metrics().rejected(Rejection.LOST);
                }
                return "rejected";
            }
            ByteBuffer out = buffer.asByteBuffer().limit(from + piece);
            if (at == 0 && RequestLayout.isAcknowledged(opcode)) {
                out.put(StatusLayout.ok()).rewind();
            } else {
                out.position(from);
            }
            connection.arm();
            wire.write(out);
            at += piece;
        }
        reads++;
        readBytes += size;
        return "";
    }

    private String storeLent(Registration range, long offset, long size, byte opcode)
            throws IOException {
        readAhead(size);
        MemorySegment buffer = lentBuffer();
        for (long at = 0; at < size; ) {
            int piece = (int) Math.min(LENT_BYTES, size - at);
            if (!fill(buffer.asByteBuffer().limit(piece), at + piece == size)) {
                return "truncated-write";
            }
            if (!range.copyLent(true, offset + at, buffer.asSlice(0, piece))) {
                reject(Rejection.LOST, true, opcode);
                return "rejected";
            }
            at += piece;
        }
        writes++;
        writeBytes += size;
        return "";
    }

    /** READ: small answers wait for company, large ones go out piece by piece. */
    private void read(Registration range, long offset, long size, boolean acknowledged)
            throws IOException {
        reads++;
        readBytes += size;
        readAheadBytes = HEADERS_BYTES;
        if (size <= Math.min(Wire.WRITE_BYTES, windowLeft(offset))) {
            responses.addHeld(range, offset, (int) size, acknowledged);
            return;
        }
        connection.uses(range);
        try {
            long end = offset + size;
            for (long at = offset; at < end; ) {
                long left = Math.min(end - at, windowLeft(at));
                int piece = (int) Math.min(left, Wire.WRITE_BYTES);
                responses.add(range, at, piece, acknowledged && at == offset);
                flush();
                at += piece;
            }
        } finally {
            connection.uses(null);
            range.release();
        }
    }

    /** WRITE: bytes that have arrived with the header, then straight from the socket. */
    private boolean store(Registration range, long offset, long size) throws IOException {
        connection.uses(range);
        try {
            if (responses.hasPayload() || input.remaining() < size) {
                flush();
            }
            readAhead(size);
            long end = offset + size;
            for (long at = offset; at < end; ) {
                int length = (int) Math.min(end - at, windowLeft(at));
                int from = (int) (at % Registration.WINDOW_BYTES);
                ByteBuffer view = range.window(at).duplicate().limit(from + length).position(from);
                at += length;
                if (!fill(view, at == end)) {
                    return false;
                }
            }
            writes++;
            writeBytes += size;
            return true;
        } finally {
            connection.uses(null);
            range.release();
        }
    }

    private static long windowLeft(long offset) {
        return Registration.WINDOW_BYTES - offset % Registration.WINDOW_BYTES;
    }

    /** More of what came: bodies of small WRITEs with their headers, large ones apart. */
    private void readAhead(long size) {
        if (size >= BULK_BYTES) {
            readAheadBytes = RequestLayout.LENGTH_BYTES;
            return;
        }
        readAheadBytes = BODIES_BYTES;
        if (input.capacity() < BODIES_BYTES) {
            input = allocate(BODIES_BYTES).put(input).flip();
        }
    }

    /**
     * Fills a view of registered memory; with its last bytes it takes what follows them, too.
     *
     * @param last whether another request follows
     */
    private boolean fill(ByteBuffer view, boolean last) throws IOException {
        if (input.hasRemaining()) {
            int limit = input.limit();
            int there = Math.min(input.remaining(), view.remaining());
            view.put(input.limit(input.position() + there));
            input.limit(limit);
        }
        if (!view.hasRemaining()) {
            return true;
        }
        // All that had arrived is in the view, so the input is empty.
        input.clear().limit(last ? readAheadBytes : 0);
        scatter[0] = view;
        scatter[1] = input;
        boolean open = true;
        while (open && view.hasRemaining()) {
            connection.arm();
            if (view.remaining() >= BULK_BYTES) {
                wire.stayAwakeForMore(bulkSpin);
            }
            open = wire.read(scatter, 0, last ? 2 : 1) >= 0;
        }
        input.flip();
        return open;
    }

    private void reject(Rejection reason, boolean write, byte opcode) throws IOException {
        context.metrics().rejected(reason);
        flush();
        if (RequestLayout.isAcknowledged(opcode)) {
            connection.arm();
            wire.write(
                    switch (reason) {
                        case READ_ONLY -> StatusLayout.denied();
                        case DRAINING -> StatusLayout.draining();
                        case LOST -> StatusLayout.lost();
                        // What peers may not see shall look as if it were not there.
                        case ZERO_SIZE, WRAPS_AROUND, NOT_REGISTERED, CROSSES_END, NOT_ACCESSIBLE ->
                                StatusLayout.rejected();
                    });
        } else if (write) {
            // Version 1 has no answer: only a reset tells the peer that its bytes went nowhere, and
            // by itself none is sent when they have been read ahead.
            connection.abort();
        }
    }

    private void flush() throws IOException {
        if (!responses.isEmpty()) {
            connection.arm();
            responses.flush();
        }
        count();
    }

    private void count() {
        TransferMetrics.Flows flows = connection.flows();
        if (reads > 0) {
            flows.read().add(reads, readBytes);
            reads = 0;
            readBytes = 0;
        }
        if (writes > 0) {
            flows.write().add(writes, writeBytes);
            writes = 0;
            writeBytes = 0;
        }
    }
}
