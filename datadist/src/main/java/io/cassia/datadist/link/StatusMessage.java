package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;

/** Immutable. An outcome on the wire: the code as u32, and the detail. */
public final class StatusMessage {
    private static final int MAX_DETAIL_CHARS = 1000;

    private StatusMessage() {}

    public static ByteString encode(Outcome<?> outcome) {
        return write(new WireWriter(), outcome).toBody();
    }

    /** Appends an outcome to a message. */
    public static WireWriter write(WireWriter out, Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Ok<?> ok -> out.i32(0).text("");
            case Outcome.Failed<?>(Code code, String detail) ->
                    out.i32(code.number())
                            .text(
                                    detail.length() <= MAX_DETAIL_CHARS
                                            ? detail
                                            : detail.substring(0, MAX_DETAIL_CHARS));
        };
    }

    public static Outcome<Done> decode(ByteString body) {
        return read(new WireReader(body));
    }

    /** The outcome that a request was answered with. */
    static Outcome<Done> answer(Frame frame) {
        if (frame.type() != FrameType.STATUS) {
            throw new WireReader.Malformed(frame.type() + " in the place of STATUS");
        }
        return decode(frame.body());
    }

    /** Takes an outcome from a message; a number that is not known stays one. */
    public static Outcome<Done> read(WireReader in) {
        Code code = LlmStatus.fromInt(in.i32());
        String detail = in.text();
        return code.isOk() ? Outcome.done() : Outcome.failed(code, detail);
    }
}
