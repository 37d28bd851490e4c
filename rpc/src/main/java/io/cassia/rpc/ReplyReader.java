package io.cassia.rpc;

import io.cassia.base.ByteString;
import io.cassia.rpc.ClientMetrics.Event;
import io.cassia.rpc.pack.FailureDetails;
import io.cassia.rpc.pack.MalformedBodyException;
import io.cassia.rpc.pack.WireBody;
import io.cassia.rpc.pack.WireReader;
import io.cassia.rpc.pack.WireType;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Takes replies apart and ends their calls. Confined to the thread whose turn it is to read. */
final class ReplyReader {
    private static final WireBody<String> MESSAGE = WireBody.of(WireType.TEXT);
    private static final WireBody<Map.Entry<Integer, String>> EXTENDED_MESSAGE =
            WireBody.of(WireType.pair(WireType.U16, WireType.TEXT));
    private static final int EXTENDED = 255;

    private final String peer;
    private final CallTable calls;
    private final int maxBytes;
    private final ClientMetrics metrics;
    private final WireReader reader = new WireReader();

    ReplyReader(String peer, CallTable calls, int maxBytes, ClientMetrics metrics) {
        this.peer = peer;
        this.calls = calls;
        this.maxBytes = maxBytes;
        this.metrics = metrics;
    }

    /** Handles all complete replies; what is wrong with the stream, or null. */
    @Nullable String handle(InputBuffer input) {
        while (input.available() >= FrameLayout.RESPONSE_BYTES) {
            byte[] bytes = input.array();
            int at = input.start();
            if (bytes[at] != FrameLayout.MAGIC || bytes[at + FrameLayout.VERSION] != 0) {
                return "malformed response: starts with %02x%02x"
                        .formatted(bytes[at], bytes[at + FrameLayout.VERSION]);
            }
            int body = LittleEndian.i32(bytes, at + FrameLayout.RESPONSE_BODY);
            int attachment = LittleEndian.i32(bytes, at + FrameLayout.RESPONSE_ATTACHMENT);
            if (Integer.compareUnsigned(body, maxBytes) > 0
                    || Integer.compareUnsigned(attachment, maxBytes) > 0) {
                return "a response of %s + %s bytes; the client takes %d"
                        .formatted(
                                Integer.toUnsignedString(body),
                                Integer.toUnsignedString(attachment),
                                maxBytes);
            }
            long frame = (long) FrameLayout.RESPONSE_BYTES + body + attachment;
            if (input.available() < frame) {
                return null;
            }
            String malformed = end(bytes, at, body, attachment);
            input.consume((int) frame);
            if (malformed != null) {
                return malformed;
            }
        }
        return null;
    }

    private @Nullable String end(byte[] bytes, int at, int body, int attachment) {
        ClientCall<?> call = calls.take(LittleEndian.i32(bytes, at + FrameLayout.SEQUENCE));
        if (call == null) {
            metrics.count(Event.LATE_REPLY);
            return null;
        }
        int error = bytes[at + FrameLayout.ERROR] & 0xff;
        int bodyAt = at + FrameLayout.RESPONSE_BYTES;
        if (error != 0) {
            endWithError(call, error, bytes, bodyAt, body);
            return null;
        }
        return endWithResult(call, bytes, bodyAt, body, attachment);
    }

    private <R> @Nullable String endWithResult(
            ClientCall<R> call, byte[] bytes, int bodyAt, int body, int attachmentLength) {
        Attachment attachment = attachment(bytes, bodyAt + body, attachmentLength);
        Optional<ByteString> details = attachment.find(Attachment.DETAILS);
        reader.reset(bytes, bodyAt, body)
                .from(
                        call.method().name(),
                        details.map(section -> FailureDetails.parse(section.array())).orElse(null));
        Outcome<R> outcome = Outcome.failed(StoreCode.RPC_FAIL, peer + ": the response is lost");
        try {
            outcome = Outcome.ok(call.method().result().read(reader));
            return null;
        } catch (MalformedBodyException | IllegalArgumentException e) {
            // The latter is a message's own opinion of its fields.
            String cause =
                    "malformed response to " + call.method().shortName() + ": " + e.getMessage();
            outcome = Outcome.failed(StoreCode.RPC_FAIL, peer + ": " + cause);
            return cause;
        } finally {
            // Whatever happened: nobody else can end this call any more.
            call.end(outcome, attachment, true);
        }
    }

    private Attachment attachment(byte[] bytes, int at, int length) {
        if (length == 0) {
            return Attachment.NONE;
        }
        Optional<Attachment> parsed = Attachment.parse(bytes, at, length);
        if (parsed.isEmpty()) {
            metrics.count(Event.BAD_ATTACHMENT);
        }
        return parsed.orElse(Attachment.NONE);
    }

    private <R> void endWithError(
            ClientCall<R> call, int error, byte[] bytes, int bodyAt, int body) {
        metrics.count(Event.ERROR_REPLY);
        String detail =
                "%s refused by %s: %s (rpc error %d)"
                        .formatted(
                                call.method().shortName(),
                                peer,
                                message(error, bytes, bodyAt, body),
                                error);
        StoreCode code =
                error == RpcError.TIMED_OUT.number() ? StoreCode.RPC_TIMEOUT : StoreCode.RPC_FAIL;
        boolean known = error != RpcError.NOT_REGISTERED.number();
        call.end(Outcome.failed(code, detail), Attachment.NONE, known);
    }

    private String message(int error, byte[] bytes, int bodyAt, int body) {
        reader.reset(bytes, bodyAt, body);
        try {
            if (error != EXTENDED) {
                return MESSAGE.read(reader);
            }
            Map.Entry<Integer, String> extended = EXTENDED_MESSAGE.read(reader);
            return extended.getValue() + ", code " + extended.getKey();
        } catch (MalformedBodyException e) {
            return RpcError.find(error).map(RpcError::text).orElse("an unknown error")
                    + " without a readable message";
        }
    }
}
