package io.cassia.transfer.transport.tcp;

import io.cassia.status.TransferCode;
import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.net.Wire;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transfer;
import io.cassia.transfer.transport.TransferMetrics;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Carries acknowledged requests over one lane, many of them under way at once: headers and WRITE
 * bodies are gathered into one call, status frames and READ bodies are scattered straight to where
 * they belong. Confined to the thread that has borrowed the lane.
 *
 * <pre>
 *   transfers   0 ........ next ............ sent ......... size
 *               ended      │ sent, waiting   │ not sent
 *                          └ in slot next % WINDOW of all rings below
 *
 *   headers     [24][24][24]...              in[2 * slot]      rest of the status frame
 *   statuses    [ 8][ 8][ 8]...              in[2 * slot + 1]  rest of the READ body
 * </pre>
 *
 * <h2>Why both sides cannot wait for each other</h2>
 *
 * A server answers requests in order and stops reading while it is blocked writing an answer. So a
 * client that writes without reading must be sure that what it writes is taken in even by a server
 * that has stopped reading, or that the server has no reason to stop:
 *
 * <ul>
 *   <li>READ headers: at most {@link #WINDOW} are unanswered, 1.5 KiB, which the sockets' buffers
 *       hold.
 *   <li>WRITE bodies: written only while no READ is unanswered. All that a server then has to write
 *       is status frames, at most {@link #WINDOW} of 8 bytes, which the buffers hold; so it goes on
 *       reading bodies.
 * </ul>
 *
 * <p>A rejected request is the last one a server reads: it closes. When writing fails, answers that
 * are still in the receive buffer are read first; they tell which request it was.
 */
final class Pipeline {
    static final int WINDOW = 64;

    /** Send more once so few are unanswered: sooner, and each call would send one header. */
    private static final int LOW_WATER = WINDOW / 2;

    /** Requests of one gathering call. */
    private static final int GATHER_COUNT = 32;

    /** Answers of one scattering call: it returns what is there, rarely more than this. */
    private static final int SCATTER_COUNT = 32;

    /** With so few answers to come, each not long, one stays awake for them. */
    private static final int FEW = 2;

    private static final long SMALL_BYTES = 256 << 10;

    private static final long SLICE_BYTES = Registration.WINDOW_BYTES;
    private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0);

    private final Lane lane;
    private final ByteBuffer headers =
            ByteBuffer.allocateDirect(WINDOW * RequestLayout.LENGTH_BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer statuses =
            ByteBuffer.allocateDirect(WINDOW * StatusLayout.LENGTH_BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer[] headerViews = new ByteBuffer[WINDOW];
    private final ByteBuffer[] in = new ByteBuffer[2 * WINDOW];
    private final ByteBuffer[] out = new ByteBuffer[2 * GATHER_COUNT];

    private int sent;
    private int unansweredReads;
    private int outCount;
    private boolean lastIsReadHeader;

    /** How much of a READ body of several slices has been received, for the head only. */
    private long headOffset;

    private long readRequests;
    private long readBytes;
    private long writeRequests;
    private long writeBytes;

    Pipeline(Lane lane) {
        this.lane = lane;
        for (int i = 0; i < WINDOW; i++) {
            headerViews[i] = headers.duplicate();
            in[2 * i] = statuses.duplicate();
            in[2 * i + 1] = NOTHING;
        }
    }

    /** Carries all of a run; what is thrown ended it early, and the run knows how far it came. */
    void carry(Run run) throws IOException {
        sent = run.next();
        unansweredReads = 0;
        headOffset = 0;
        try {
            while (!run.isDone()) {
                if (sent < run.size() && sent - run.next() <= LOW_WATER && maySend(run.get(sent))) {
                    send(run);
                } else {
                    receive(run);
                }
            }
        } finally {
            count();
            forget();
        }
    }

    private boolean maySend(Transfer transfer) {
        return !transfer.isWrite() || unansweredReads == 0;
    }

    /** Sends requests until the window or the gathering call is full. */
    private void send(Run run) throws IOException {
        outCount = 0;
        lastIsReadHeader = false;
        long bytes = 0;
        int first = sent;
        try {
            while (sent < run.size()
                    && sent - run.next() < WINDOW
                    && outCount + 2 <= out.length
                    && bytes < Wire.WRITE_BYTES
                    && maySend(run.get(sent))) {
                Transfer transfer = run.get(sent);
                prepare(transfer);
                bytes += RequestLayout.LENGTH_BYTES;
                if (transfer.isWrite()) {
                    bytes += addBody(run, transfer);
                }
            }
            flush(run);
            for (int i = first; i < sent; i++) {
                if (run.get(i).isWrite()) {
                    run.get(i).reached(run.get(i).lengthBytes());
                }
            }
        } catch (IOException e) {
            // The answers that have come in tell which request the peer refused, if it did.
            salvage(run, e);
        }
    }

    /** Sets up the slot of the next transfer; from now on it counts as sent. */
    private void prepare(Transfer transfer) {
        int slot = sent % WINDOW;
        int at = slot * RequestLayout.LENGTH_BYTES;
        boolean write = transfer.isWrite();
        RequestLayout.put(
                headers, at, transfer.lengthBytes(), transfer.remoteAddress(), write, true);
        if (!write && lastIsReadHeader && slot > 0) {
            // Headers of neighbouring slots are neighbours in memory, too.
            out[outCount - 1].limit(at + RequestLayout.LENGTH_BYTES);
        } else {
            out[outCount++] = headerViews[slot].limit(at + RequestLayout.LENGTH_BYTES).position(at);
        }
        lastIsReadHeader = !write;
        int statusAt = slot * StatusLayout.LENGTH_BYTES;
        in[2 * slot].limit(statusAt + StatusLayout.LENGTH_BYTES).position(statusAt);
        if (write) {
            in[2 * slot + 1] = NOTHING;
        } else {
            in[2 * slot + 1] = slice(transfer, 0);
            unansweredReads++;
        }
        transfer.sent();
        sent++;
    }

    private static ByteBuffer slice(Transfer transfer, long offset) {
        MemorySegment local = transfer.local();
        long length = Math.min(SLICE_BYTES, transfer.lengthBytes() - offset);
        return length == transfer.lengthBytes()
                ? local.asByteBuffer()
                : local.asSlice(offset, length).asByteBuffer();
    }

    /** Adds a small body to the gathering call; sends a large one at once. */
    private long addBody(Run run, Transfer transfer) throws IOException {
        long length = transfer.lengthBytes();
        if (length <= Wire.WRITE_BYTES) {
            out[outCount++] = slice(transfer, 0);
            return length;
        }
        long offset = 0;
        while (offset < length) {
            ByteBuffer slice = slice(transfer, offset);
            offset += slice.remaining();
            int end = slice.limit();
            while (slice.position() < end) {
                slice.limit(Math.min(end, slice.position() + Wire.WRITE_BYTES));
                out[outCount++] = slice;
                flush(run);
                transfer.reached(offset - end + slice.position());
            }
        }
        return length;
    }

    private void flush(Run run) throws IOException {
        int from = 0;
        while (from < outCount) {
            // The peer must take these bytes for the sake of the oldest transfer, which waits.
            lane.arm(run.head());
            lane.requireTime(run.head());
            lane.write(out, from, outCount - from);
            while (from < outCount && !out[from].hasRemaining()) {
                from++;
            }
        }
        outCount = 0;
        lastIsReadHeader = false;
    }

    private void salvage(Run run, IOException cause) throws IOException {
        try {
            while (run.next() < sent) {
                receive(run);
            }
        } catch (Lane.RejectedException | Lane.ProtocolException e) {
            throw e;
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
        throw cause;
    }

    /** Waits for answers and takes those that are there. */
    private void receive(Run run) throws IOException {
        int first = run.next() % WINDOW;
        int count = 0;
        for (int i = run.next(); i < sent && count < SCATTER_COUNT; i++) {
            if (first + count == WINDOW) {
                break;
            }
            count++;
            if (!run.get(i).isWrite() && run.get(i).lengthBytes() > SLICE_BYTES) {
                // More slices of this body follow before the next answer.
                break;
            }
        }
        lane.arm(run.head());
        if (sent - run.next() <= FEW && run.head().lengthBytes() <= SMALL_BYTES) {
            lane.stayAwake();
        } else {
            lane.stayAwakeForMore();
        }
        lane.read(in, 2 * first, 2 * count);
        advance(run);
    }

    private void advance(Run run) throws IOException {
        while (run.next() < sent) {
            int slot = run.next() % WINDOW;
            if (in[2 * slot].hasRemaining()) {
                return;
            }
            Transfer head = run.head();
            check(run, head, statuses.getLong(slot * StatusLayout.LENGTH_BYTES));
            if (!head.isWrite()) {
                head.reached(headOffset + in[2 * slot + 1].position());
            }
            if (in[2 * slot + 1].hasRemaining()) {
                return;
            }
            if (!head.isWrite()) {
                if (head.lengthBytes() > SLICE_BYTES && moreSlices(head, slot)) {
                    return;
                }
                unansweredReads--;
                readRequests++;
                readBytes += head.lengthBytes();
            } else {
                writeRequests++;
                writeBytes += head.lengthBytes();
            }
            in[2 * slot + 1] = NOTHING;
            run.completeHead();
        }
    }

    private boolean moreSlices(Transfer head, int slot) {
        headOffset += in[2 * slot + 1].limit();
        if (headOffset == head.lengthBytes()) {
            headOffset = 0;
            return false;
        }
        in[2 * slot + 1] = slice(head, headOffset);
        return true;
    }

    private void check(Run run, Transfer head, long frame) throws IOException {
        if (frame == StatusLayout.OK) {
            return;
        }
        if (!StatusLayout.hasMagic(frame)) {
            throw new Lane.ProtocolException(
                    "%s answered 0x%016x instead of a status; does it speak version 1?"
                            .formatted(lane.peer(), frame));
        }
        int number = StatusLayout.code(frame);
        TransferCode code =
                StatusLayout.isRefusal(number)
                        ? TransferCode.ERR_REJECT_HANDSHAKE
                        : TransferCode.ERR_ADDRESS_NOT_REGISTERED;
        String detail =
                "rejected by %s with status %d: %s".formatted(lane.peer(), number, why(number));
        if (!head.isWrite()) {
            unansweredReads--;
        }
        run.failHead(code, detail, false);
        throw new Lane.RejectedException(code, detail);
    }

    private static String why(int number) {
        return switch (number) {
            case StatusLayout.REJECTED_CODE -> "no registered buffer holds this range";
            case StatusLayout.DENIED_CODE -> "peers may not do this with the buffer";
            case StatusLayout.DRAINING_CODE -> "the buffer is being unregistered";
            case StatusLayout.LOST_CODE -> "the buffer's file was cut off by its owner";
            case StatusLayout.SECURE_CODE -> "it is in secure mode, and this engine is not";
            case StatusLayout.NETWORK_CODE -> "it serves no peers of this engine's network";
            default -> "a reason of its own";
        };
    }

    private void count() {
        TransferMetrics.Flows flows = lane.context().flows();
        if (readRequests > 0) {
            flows.read().add(readRequests, readBytes);
            readRequests = 0;
            readBytes = 0;
        }
        if (writeRequests > 0) {
            flows.write().add(writeRequests, writeBytes);
            writeRequests = 0;
            writeBytes = 0;
        }
    }

    /** Drops the views on local memory: an idle lane must not keep it alive. */
    private void forget() {
        for (int i = 0; i < WINDOW; i++) {
            in[2 * i + 1] = NOTHING;
        }
        java.util.Arrays.fill(out, NOTHING);
    }
}
