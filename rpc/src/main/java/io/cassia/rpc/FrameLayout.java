package io.cassia.rpc;

import io.cassia.rpc.pack.WireWriter;

/**
 * Headers of coro_rpc frames, little-endian without padding (spec mooncake-store 11.2). Immutable.
 *
 * <pre>
 * request, 20 bytes                      response, 16 bytes
 *  0 u8  magic 0x15                       0 u8  magic 0x15
 *  1 u8  version 0                        1 u8  version 0
 *  2 u8  serialize type 0 (struct_pack)   2 u8  error, 0 for none
 *  3 u8  message type                     3 u8  message type
 *  4 u32 sequence number                  4 u32 sequence number
 *  8 u32 function id                      8 u32 body bytes
 * 12 u32 body bytes                      12 u32 attachment bytes
 * 16 u32 attachment bytes
 * </pre>
 *
 * The body follows, then the attachment. With an error the body is the message as a string.
 */
final class FrameLayout {
    static final int REQUEST_BYTES = 20;
    static final int RESPONSE_BYTES = 16;

    static final int MAGIC = 0x15;
    static final int VERSION = 1;
    static final int SERIALIZE_TYPE = 2;
    static final int SEQUENCE = 4;
    static final int FUNCTION = 8;
    static final int REQUEST_BODY = 12;
    static final int REQUEST_ATTACHMENT = 16;
    static final int ERROR = 2;
    static final int RESPONSE_BODY = 8;
    static final int RESPONSE_ATTACHMENT = 12;

    private FrameLayout() {}

    static void writeRequest(WireWriter writer, int sequence, int function) {
        writer.i32(MAGIC);
        writer.i32(sequence);
        writer.i32(function);
        writer.i64(0);
    }

    static void writeResponse(WireWriter writer, int error, int sequence) {
        writer.i32(MAGIC | error << 16);
        writer.i32(sequence);
        writer.i64(0);
    }
}
