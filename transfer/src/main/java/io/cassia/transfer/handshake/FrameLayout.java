package io.cassia.transfer.handshake;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A frame of the handshake port (spec 6.2). Immutable.
 *
 * <pre>
 *    0        8      9                 8 + length
 *   +--------+------+------------------+
 *   | length | type | JSON, newline    |     length counts type and JSON; little-endian
 *   +--------+------+------------------+
 *
 *   typeless, before April 2025: the payload starts with '{' and is JSON of type 0
 * </pre>
 */
final class FrameLayout {
    static final int LENGTH_BYTES = Long.BYTES;

    static final byte CONNECTION = 0;
    static final byte METADATA = 1;
    static final byte NOTIFY = 2;
    static final byte PROBE = 3;

    private FrameLayout() {}

    /** Whether the first payload byte is a type and not the start of a JSON text. */
    static boolean isType(byte first) {
        return first >= CONNECTION && first <= PROBE;
    }

    /** A frame with a type; the newline of the JSON text is added. */
    static byte[] typed(byte type, String json) {
        byte[] text = json.getBytes(StandardCharsets.UTF_8);
        byte[] frame = new byte[LENGTH_BYTES + 1 + text.length + 1];
        frame[LENGTH_BYTES] = type;
        return completed(frame, text);
    }

    /** A frame of the old protocol. */
    static byte[] typeless(String json) {
        byte[] text = json.getBytes(StandardCharsets.UTF_8);
        return completed(new byte[LENGTH_BYTES + text.length + 1], text);
    }

    private static byte[] completed(byte[] frame, byte[] text) {
        ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).putLong(frame.length - LENGTH_BYTES);
        System.arraycopy(text, 0, frame, frame.length - 1 - text.length, text.length);
        frame[frame.length - 1] = '\n';
        return frame;
    }

    /** The length field, unsigned: a negative value is a huge one. */
    static long length(byte[] field) {
        return ByteBuffer.wrap(field).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
    }
}
