package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Immutable. Bytes of a control frame, big-endian.
 *
 * <pre>
 *   0         4     5     6       8            16            20
 *   +---------+-----+-----+-------+------------+-------------+------ ...
 *   | magic   | ver | type| flags | request id | body length | body
 *   | u32     | u8  | u8  | u16   | u64        | u32         |
 *   +---------+-----+-----+-------+------------+-------------+------ ...
 *   flags: bit 0 = answer
 * </pre>
 */
final class FrameLayout {
    static final int MAGIC = 0x43444401;

    /** First byte of every connection in plain text; TLS begins with another one. */
    static final int FIRST_BYTE = MAGIC >>> 24;

    static final int VERSION = 1;
    static final int HEADER_BYTES = 20;

    /** Longest body of a linked peer. */
    static final int MAX_BODY_BYTES = 1 << 20;

    /** Longest body before the peer has shown who it is. */
    static final int MAX_HANDSHAKE_BODY_BYTES = 4096;

    private static final int ANSWER = 1;
    private static final int TLS_ALERT = 0x15;
    private static final int TLS_HANDSHAKE = 0x16;

    private FrameLayout() {}

    /** Thrown for bytes that are not a frame. */
    static final class MalformedFrame extends IOException {
        private static final long serialVersionUID = 1L;

        MalformedFrame(String message) {
            super(message);
        }
    }

    static byte[] encode(Frame frame) {
        int length = frame.body().length();
        if (length > MAX_BODY_BYTES) {
            throw new IllegalArgumentException(frame.type() + " of " + length + " bytes");
        }
        return ByteBuffer.allocate(HEADER_BYTES + length)
                .putInt(MAGIC)
                .put((byte) VERSION)
                .put((byte) frame.type().number())
                .putShort((short) (frame.answer() ? ANSWER : 0))
                .putLong(frame.requestId())
                .putInt(length)
                .put(frame.body().array())
                .array();
    }

    /** The next frame; EOFException at the end of the stream. */
    static Frame read(DataInputStream in, int maxBodyBytes) throws IOException {
        int magic = in.readInt();
        if (magic != MAGIC) {
            int first = magic >>> 24;
            throw new MalformedFrame(
                    first == TLS_ALERT || first == TLS_HANDSHAKE
                            ? "the peer speaks TLS, this side does not"
                            : "not a control frame: begins with 0x%08X".formatted(magic));
        }
        int version = in.readUnsignedByte();
        int typeNumber = in.readUnsignedByte();
        int flags = in.readUnsignedShort();
        long requestId = in.readLong();
        int length = in.readInt();
        if (version != VERSION) {
            throw new MalformedFrame(
                    "the peer speaks version %d of the control protocol, this side %d"
                            .formatted(version, VERSION));
        }
        if (length < 0 || length > maxBodyBytes) {
            throw new MalformedFrame(
                    "a frame body of %s bytes exceeds %d"
                            .formatted(Integer.toUnsignedString(length), maxBodyBytes));
        }
        FrameType type = FrameType.find(typeNumber);
        if (type == null) {
            throw new MalformedFrame("frame type " + typeNumber + " is unknown");
        }
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("the stream ended inside a frame");
        }
        return new Frame(type, requestId, (flags & ANSWER) != 0, ByteString.wrap(body));
    }
}
