package io.cassia.transfer.transport.tcp;

import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.memory.Rejection;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.transport.TransferMetrics;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * One peer's data connection: reads requests, answers them in order, forever (spec 7). Confined to
 * its thread, but for {@link #abort} and {@link #holds}.
 *
 * <p>Requests that have already arrived are answered together. Before the thread waits for bytes of
 * the peer, everything answered so far is sent: the peer may be waiting for it. A WRITE is carried
 * out only after earlier READs have been sent, so that they do not show its bytes.
 *
 * <p>A rejected request is answered and the connection closed without draining it (spec 7.4).
 */
final class ServerConnection implements Runnable {
    private static final System.Logger LOG = System.getLogger(ServerConnection.class.getName());

    private static final int INPUT_BYTES = 64 << 10;

    /** Room for a burst of headers. */
    private static final int HEADERS_BYTES = 4 << 10;

    /**
     * WRITEs of this size go straight to their memory. The bytes of smaller ones may arrive
     * together with the next headers: copying them costs less than a system call each.
     */
    private static final int BULK_BYTES = 16 << 10;

    private final SocketChannel channel;
    private final ServerContext context;
    private final TransferMetrics.Flows flows;
    private final Watchdog.Watch watch;
    private final Responses responses;
    private final ByteBuffer input =
            ByteBuffer.allocateDirect(INPUT_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private final ByteBuffer[] scatter = new ByteBuffer[2];
    private int readAheadBytes = HEADERS_BYTES;
    private volatile @Nullable Registration bulk;

    private long reads;
    private long readBytes;
    private long writes;
    private long writeBytes;

    ServerConnection(SocketChannel channel, ServerContext context, TransferMetrics.Flows flows) {
        this.channel = channel;
        this.context = context;
        this.flows = flows;
        this.watch = context.watchdog().watch(this::abort);
        this.responses = new Responses(channel);
    }

    @Override
    public void run() {
        String reason = "";
        try (channel;
                watch) {
            reason = serve();
        } catch (IOException e) {
            reason = watch.isExpired() ? "stalled" : "io";
            LOG.log(System.Logger.Level.DEBUG, "data-connection-lost reason={0}", reason, e);
        } catch (IllegalStateException | InternalError e) {
            // Registered memory was freed by its owner, or its file was cut: no byte of it goes
            // out.
            reason = "memory-gone";
            LOG.log(System.Logger.Level.WARNING, "registered-memory-gone", e);
        } finally {
            letGo();
            if (!reason.isEmpty()) {
                context.metrics().serverClosed(reason);
            }
        }
    }

    /**
     * Answers requests until the peer closes or must be closed; the reason, empty for the former.
     */
    private String serve() throws IOException {
        while (true) {
            if (input.remaining() < RequestLayout.LENGTH_BYTES) {
                flush();
                if (!fillHeader()) {
                    return input.hasRemaining() ? "truncated-header" : "";
                }
            }
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
            if (write) {
                if (!store(range, offset, size)) {
                    return "truncated-write";
                }
                if (RequestLayout.isAcknowledged(opcode)) {
                    responses.addStatus();
                }
            } else {
                answer(range, offset, size, RequestLayout.isAcknowledged(opcode));
            }
            if (responses.isFull()) {
                flush();
            }
        }
    }

    /** Waits for a whole header, without a deadline while none has begun; false at the end. */
    private boolean fillHeader() throws IOException {
        input.compact();
        input.limit(Math.min(INPUT_BYTES, Math.max(RequestLayout.LENGTH_BYTES, readAheadBytes)));
        while (input.position() < RequestLayout.LENGTH_BYTES) {
            if (input.position() == 0) {
                watch.disarm();
            } else {
                arm();
            }
            if (channel.read(input) < 0) {
                input.flip();
                return false;
            }
        }
        input.flip();
        return true;
    }

    /** READ: small answers wait for company, large ones go out piece by piece. */
    private void answer(Registration range, long offset, long size, boolean acknowledged)
            throws IOException {
        reads++;
        readBytes += size;
        readAheadBytes = HEADERS_BYTES;
        if (size <= Math.min(Responses.PIECE_BYTES, windowLeft(offset))) {
            responses.addHeld(range, offset, (int) size, acknowledged);
            return;
        }
        bulk = range;
        try {
            long end = offset + size;
            for (long at = offset; at < end; ) {
                long left = Math.min(end - at, windowLeft(at));
                int piece = (int) Math.min(left, Responses.PIECE_BYTES);
                responses.add(range, at, piece, acknowledged && at == offset);
                flush();
                at += piece;
            }
        } finally {
            bulk = null;
            range.release();
        }
    }

    /** WRITE: bytes that have arrived with the header, then straight from the socket. */
    private boolean store(Registration range, long offset, long size) throws IOException {
        bulk = range;
        try {
            if (responses.hasPayload() || input.remaining() < size) {
                flush();
            }
            readAheadBytes = size < BULK_BYTES ? INPUT_BYTES : RequestLayout.LENGTH_BYTES;
            long at = offset;
            long end = offset + size;
            while (at < end) {
                int length = (int) Math.min(end - at, windowLeft(at));
                int from = (int) (at % Registration.WINDOW_BYTES);
                ByteBuffer view = range.window(at).duplicate().limit(from + length).position(from);
                if (!fill(view, at + length == end)) {
                    return false;
                }
                at += length;
            }
            writes++;
            writeBytes += size;
            return true;
        } finally {
            bulk = null;
            range.release();
        }
    }

    private static long windowLeft(long offset) {
        return Registration.WINDOW_BYTES - offset % Registration.WINDOW_BYTES;
    }

    /**
     * Fills a view of registered memory; with its last bytes it takes what follows them, too.
     *
     * @param last whether another request follows
     */
    private boolean fill(ByteBuffer view, boolean last) throws IOException {
        if (input.hasRemaining()) {
            int there = Math.min(input.remaining(), view.remaining());
            int limit = input.limit();
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
        while (view.hasRemaining()) {
            arm();
            if (channel.read(scatter, 0, last ? 2 : 1) < 0) {
                input.flip();
                return false;
            }
        }
        input.flip();
        return true;
    }

    private void reject(Rejection reason, boolean write, byte opcode) throws IOException {
        context.metrics().rejected(reason);
        flush();
        if (RequestLayout.isAcknowledged(opcode)) {
            arm();
            int code =
                    reason == Rejection.READ_ONLY
                            ? StatusLayout.DENIED_CODE
                            : StatusLayout.REJECTED_CODE;
            ByteBuffer status = StatusLayout.buffer(code);
            while (status.hasRemaining()) {
                channel.write(status);
            }
        } else if (write) {
            // Version 1 has no answer: only a reset tells the peer that its bytes went nowhere, and
            // without this none is sent when they have been read ahead.
            resetOnClose();
        }
    }

    private void flush() throws IOException {
        if (!responses.isEmpty()) {
            arm();
            responses.flush();
        }
        count();
    }

    private void count() {
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

    private void arm() {
        watch.arm(context.clock().nanos() + context.stallNanos());
    }

    private void letGo() {
        responses.release();
        count();
    }

    /** Whether a request on a range is under way; for any thread, and may be outdated. */
    boolean holds(Registration range) {
        return bulk == range || responses.holds(range);
    }

    /** Ends the connection at once, from any thread. */
    void abort() {
        resetOnClose();
        close();
    }

    private void resetOnClose() {
        try {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException | UnsupportedOperationException e) {
            LOG.log(System.Logger.Level.TRACE, "data-connection-not-reset", e);
        }
    }

    /** Ends the connection, from any thread. */
    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "data-connection-close-failed", e);
        }
    }
}
