package io.cassia.rpc;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.rpc.ServerMetrics.Rejected;
import io.cassia.rpc.pack.BodyTooLargeException;
import io.cassia.rpc.pack.FailureDetails;
import io.cassia.rpc.pack.WireBody;
import io.cassia.rpc.pack.WireType;
import io.cassia.rpc.pack.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the answers of a batch into one buffer and writes it. Confined to the connection's
 * thread, except {@link #isStalled}.
 *
 * <p>The buffer holds one batch only: a peer that does not read blocks the write, and with it the
 * reading of further requests, so that nothing piles up.
 */
final class ResponseWriter {
    private static final System.Logger LOG = System.getLogger(ResponseWriter.class.getName());

    private static final WireBody<String> MESSAGE = WireBody.of(WireType.STRING);
    private static final int MAX_DETAIL_BYTES = 64 << 10;
    private static final int INITIAL_BYTES = 512;

    /** One write offers at most this much, because the JDK copies it off-heap first. */
    private static final int MAX_WRITE_BYTES = 256 << 10;

    private static final long IDLE = Long.MIN_VALUE;

    private final SocketChannel channel;
    private final ServerLimits limits;
    private final ServerMetrics metrics;
    private final Clock clock;
    private final int steadyBytes;
    private final long stallNanos;
    private final WireWriter out = new WireWriter(INITIAL_BYTES, INITIAL_BYTES);
    private @Nullable FailureDetails details;

    /** When the write in progress began, or {@link #IDLE}. */
    private volatile long writingSince = IDLE;

    ResponseWriter(
            SocketChannel channel,
            ServerLimits limits,
            ServerMetrics metrics,
            Clock clock,
            int steadyBytes) {
        this.channel = channel;
        this.limits = limits;
        this.metrics = metrics;
        this.clock = clock;
        this.steadyBytes = steadyBytes;
        this.stallNanos = limits.writeStall().toNanos();
    }

    /** Encodes one answer; writes first if the buffer has become long. */
    void append(PendingCall call) throws IOException {
        if (out.position() >= MAX_WRITE_BYTES) {
            flush();
        }
        RpcError error = call.error();
        if (error != null) {
            appendError(call.sequence(), error, call.errorText());
            return;
        }
        int start = out.position();
        try {
            appendResult(call, start);
        } catch (BodyTooLargeException e) {
            metrics.rejected(Rejected.RESULT_TOO_LARGE);
            String text = "the result is longer than %d bytes".formatted(limits.maxBodyBytes());
            replace(start, call, RpcError.MESSAGE_TOO_LARGE, text);
        } catch (RuntimeException e) {
            metrics.rejected(Rejected.HANDLER_EXCEPTION);
            LOG.log(
                    System.Logger.Level.ERROR,
                    "rpc result cannot be encoded method=" + call.methodName(),
                    e);
            replace(start, call, RpcError.THROW_EXCEPTION, call.methodName() + " failed: " + e);
        }
    }

    private void replace(int start, PendingCall call, RpcError error, String text) {
        out.collect(null);
        out.truncate(start);
        appendError(call.sequence(), error, text);
    }

    private void appendResult(PendingCall call, int start) {
        out.limit(start + FrameLayout.RESPONSE_BYTES + limits.maxBodyBytes());
        FrameLayout.writeResponse(out, 0, call.sequence());
        int body = out.position();
        Attachment attachment = call.responseAttachment();
        if (call.wantsDetails()) {
            FailureDetails collected = collect();
            call.registration().encode(out, call.result());
            out.collect(null);
            if (!collected.isEmpty()) {
                attachment =
                        attachment.with(Attachment.DETAILS, ByteString.wrap(collected.toBytes()));
            }
        } else {
            call.registration().encode(out, call.result());
        }
        int end = out.position();
        if (end - body > limits.maxBodyBytes()) {
            throw new BodyTooLargeException(end - body, limits.maxBodyBytes());
        }
        out.i32At(start + FrameLayout.RESPONSE_BODY, end - body);
        if (!attachment.isEmpty()) {
            out.limit(end + limits.maxAttachmentBytes());
            attachment.write(out);
            out.i32At(start + FrameLayout.RESPONSE_ATTACHMENT, out.position() - end);
        }
    }

    private FailureDetails collect() {
        if (details == null) {
            details = FailureDetails.limitedTo(MAX_DETAIL_BYTES);
        }
        details.clear();
        out.collect(details);
        return details;
    }

    private void appendError(int sequence, RpcError error, String text) {
        int start = out.position();
        out.limit(Integer.MAX_VALUE);
        FrameLayout.writeResponse(out, error.number(), sequence);
        int body = out.position();
        MESSAGE.write(out, text);
        out.i32At(start + FrameLayout.RESPONSE_BODY, out.position() - body);
    }

    /** Writes what was encoded; blocks while the peer does not take it. */
    void flush() throws IOException {
        int length = out.position();
        if (length == 0) {
            return;
        }
        ByteBuffer buffer = ByteBuffer.wrap(out.array());
        int done = 0;
        while (done < length) {
            buffer.limit(Math.min(length, done + MAX_WRITE_BYTES));
            expectProgress();
            done += channel.write(buffer);
        }
        writingSince = IDLE;
        metrics.sent(length);
        out.clear(steadyBytes);
    }

    /** Starts the time within which the connection must get on. */
    void expectProgress() {
        writingSince = clock.nanos();
    }

    boolean isStalled(long nowNanos) {
        long since = writingSince;
        return since != IDLE && nowNanos - since > stallNanos;
    }
}
