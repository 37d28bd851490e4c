package io.cassia.transfer.net.tls;

import java.nio.ByteBuffer;

/**
 * The start of a TLS connection, as far as it tells it from a plain one. Immutable.
 *
 * <pre>
 *   0      1  2      3  4     5
 *   +------+---------+--------+------+
 *   | 0x16 | 03 .. | length | 0x01 |     handshake record, its length, ClientHello
 *   +------+---------+--------+------+
 * </pre>
 *
 * Both plain ports begin with a little-endian length of 8 bytes. Read so, these bytes are a length
 * of more than a terabyte, which no handshake and no request has.
 */
final class HelloLayout {
    static final int MIN_BYTES = 6;

    private HelloLayout() {}

    static boolean isHello(ByteBuffer start) {
        return start.get(0) == 0x16 && start.get(1) == 0x03 && start.get(5) == 0x01;
    }
}
