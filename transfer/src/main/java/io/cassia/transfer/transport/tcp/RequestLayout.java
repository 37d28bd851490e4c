package io.cassia.transfer.transport.tcp;

import java.nio.ByteBuffer;

/**
 * The request header (spec 7.2). Immutable.
 *
 * <pre>
 *    0        8         16   17        24
 *   +--------+---------+----+---------+
 *   |  size  | address | op | padding |   little-endian; size and address unsigned
 *   +--------+---------+----+---------+
 *                        │     └ anything: C++ peers send what was in memory
 *                        └ bit 7: a status frame is wanted (version 2)
 *                          bits 0-6: 1 is WRITE, anything else READ
 * </pre>
 */
final class RequestLayout {
    static final int SIZE_OFFSET = 0;
    static final int ADDRESS_OFFSET = SIZE_OFFSET + Long.BYTES;
    static final int OPCODE_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    static final int LENGTH_BYTES = OPCODE_OFFSET + Byte.BYTES + 7;

    static final int READ = 0;
    static final int WRITE = 1;
    static final int ACKNOWLEDGED = 0x80;

    private RequestLayout() {}

    /** Writes a header at an offset; the padding there must be zero already. */
    static void put(
            ByteBuffer into,
            int at,
            long sizeBytes,
            long address,
            boolean write,
            boolean acknowledged) {
        into.putLong(at + SIZE_OFFSET, sizeBytes);
        into.putLong(at + ADDRESS_OFFSET, address);
        int opcode = (write ? WRITE : READ) | (acknowledged ? ACKNOWLEDGED : 0);
        into.put(at + OPCODE_OFFSET, (byte) opcode);
    }

    static boolean isWrite(byte opcode) {
        return (opcode & ~ACKNOWLEDGED & 0xff) == WRITE;
    }

    static boolean isAcknowledged(byte opcode) {
        return (opcode & ACKNOWLEDGED) != 0;
    }
}
