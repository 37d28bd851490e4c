package io.cassia.transfer.transport.tcp;

import io.cassia.transfer.net.tls.Gate;
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

    /** The engine does not serve peers of that network. */
    static final int NETWORK_CODE = 5;

    /** The range is in a file that another program has cut off. */
    static final int LOST_CODE = 6;

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

    private static final ByteBuffer OK_FRAME = allocate(OK_CODE);
    private static final ByteBuffer REJECTED_FRAME = allocate(REJECTED_CODE);
    private static final ByteBuffer DENIED_FRAME = allocate(DENIED_CODE);
    private static final ByteBuffer DRAINING_FRAME = allocate(DRAINING_CODE);
    private static final ByteBuffer SECURE_FRAME = allocate(SECURE_CODE);
    private static final ByteBuffer NETWORK_FRAME = allocate(NETWORK_CODE);
    private static final ByteBuffer LOST_FRAME = allocate(LOST_CODE);

    private static ByteBuffer allocate(int code) {
        return ByteBuffer.allocateDirect(LENGTH_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(frame(code))
                .flip();
    }

    /** A view on a frame of success, ready to be sent. */
    static ByteBuffer ok() {
        return OK_FRAME.duplicate();
    }

    /** A view on a frame of rejection, ready to be sent. */
    static ByteBuffer rejected() {
        return REJECTED_FRAME.duplicate();
    }

    /** A view on a frame of denial, ready to be sent. */
    static ByteBuffer denied() {
        return DENIED_FRAME.duplicate();
    }

    /** A view on a frame that tells of a range being unregistered, ready to be sent. */
    static ByteBuffer draining() {
        return DRAINING_FRAME.duplicate();
    }

    /** A view on a frame that tells of memory that is not there any more, ready to be sent. */
    static ByteBuffer lost() {
        return LOST_FRAME.duplicate();
    }

    /** A view on a frame that tells a peer to go, ready to be sent. */
    static ByteBuffer refusal(Gate.Refusal why) {
        return switch (why) {
            case PLAIN -> SECURE_FRAME.duplicate();
            case NETWORK -> NETWORK_FRAME.duplicate();
        };
    }

    /** Whether a status says that the peer serves this engine with nothing. */
    static boolean isRefusal(int code) {
        return code == SECURE_CODE || code == NETWORK_CODE;
    }
}
