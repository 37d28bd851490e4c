package io.cassia.transfer.transport.tcp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The status frame of version 2 (spec 7.4). Immutable.
 *
 * <pre>
 *    0      4      8
 *   +------+------+
 *   | code | MCTV |    little-endian; code 0 is success
 *   +------+------+
 * </pre>
 */
final class StatusLayout {
    static final int LENGTH_BYTES = Long.BYTES;

    static final int OK_CODE = 0;
    static final int REJECTED_CODE = 1;

    // C++ peers take every number but 0 as a failure, and log it (spec 7.4).

    /** The range exists, but peers may not do this with it. */
    static final int DENIED_CODE = 2;

    /** The range is being unregistered: it was right a moment ago and is not any more. */
    static final int DRAINING_CODE = 3;

    /** The engine is in secure mode and serves no plain peer, whatever it asks for. */
    static final int SECURE_CODE = 4;

    private static final long MAGIC = 0x4D435456L;

    /** The whole frame of success as a number. */
    static final long OK = frame(OK_CODE);

    private StatusLayout() {}

    static long frame(int code) {
        return MAGIC << 32 | Integer.toUnsignedLong(code);
    }

    static boolean hasMagic(long frame) {
        return frame >>> 32 == MAGIC;
    }

    static int code(long frame) {
        return (int) frame;
    }

    /** A frame ready to be sent, in memory of its own. */
    static ByteBuffer buffer(int code) {
        return ByteBuffer.allocateDirect(LENGTH_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(frame(code))
                .flip();
    }
}
