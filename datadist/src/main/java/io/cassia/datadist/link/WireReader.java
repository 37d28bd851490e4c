package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Confined to one thread. Reads the body of a frame; every length is checked against what is there.
 */
public final class WireReader {
    /** The body does not hold what its type promises. Immutable. */
    public static final class Malformed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public Malformed(String message) {
            super(message);
        }
    }

    private final byte[] bytes;
    private int at;

    public WireReader(ByteString body) {
        bytes = body.array();
    }

    public int u8() {
        require(1);
        return bytes[at++] & 0xFF;
    }

    public boolean flag() {
        return u8() != 0;
    }

    public int i32() {
        require(4);
        int value = 0;
        for (int i = 0; i < 4; i++) {
            value = (value << 8) | (bytes[at++] & 0xFF);
        }
        return value;
    }

    public long i64() {
        long high = i32();
        return (high << 32) | (i32() & 0xFFFF_FFFFL);
    }

    public long varint() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int next = u8();
            value |= (long) (next & 0x7F) << shift;
            if (next < 0x80) {
                return value;
            }
        }
        throw new Malformed("a number has more than 64 bits");
    }

    public long signed() {
        long value = varint();
        return (value >>> 1) ^ -(value & 1);
    }

    /** A count of items of at least so many bytes each, which must be there. */
    public int count(int minItemBytes) {
        long count = varint();
        if (count < 0 || count > (bytes.length - at) / Math.max(1, minItemBytes)) {
            throw new Malformed("a list claims " + Long.toUnsignedString(count) + " items");
        }
        return (int) count;
    }

    public ByteString bytes() {
        int length = count(1);
        ByteString value = ByteString.wrap(Arrays.copyOfRange(bytes, at, at + length));
        at += length;
        return value;
    }

    public String text() {
        return new String(bytes().array(), StandardCharsets.UTF_8);
    }

    private void require(int more) {
        if (bytes.length - at < more) {
            throw new Malformed("the message ends at byte " + bytes.length);
        }
    }
}
