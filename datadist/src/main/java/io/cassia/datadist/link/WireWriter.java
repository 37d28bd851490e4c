package io.cassia.datadist.link;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.ByteString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Confined to one thread. Builds the body of a frame. */
public final class WireWriter {
    private byte[] bytes = new byte[128];
    private int used;

    @CanIgnoreReturnValue
    public WireWriter u8(int value) {
        ensure(1);
        bytes[used++] = (byte) value;
        return this;
    }

    @CanIgnoreReturnValue
    public WireWriter flag(boolean value) {
        return u8(value ? 1 : 0);
    }

    @CanIgnoreReturnValue
    public WireWriter i32(int value) {
        ensure(4);
        for (int shift = 24; shift >= 0; shift -= 8) {
            bytes[used++] = (byte) (value >>> shift);
        }
        return this;
    }

    @CanIgnoreReturnValue
    public WireWriter i64(long value) {
        return i32((int) (value >>> 32)).i32((int) value);
    }

    /** Seven bits per byte, low ones first; small numbers are short. */
    @CanIgnoreReturnValue
    public WireWriter varint(long value) {
        ensure(10);
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[used++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[used++] = (byte) rest;
        return this;
    }

    /** A varint that is short for small negative numbers too. */
    @CanIgnoreReturnValue
    public WireWriter signed(long value) {
        return varint((value << 1) ^ (value >> 63));
    }

    @CanIgnoreReturnValue
    public WireWriter bytes(ByteString value) {
        varint(value.length());
        ensure(value.length());
        System.arraycopy(value.array(), 0, bytes, used, value.length());
        used += value.length();
        return this;
    }

    @CanIgnoreReturnValue
    public WireWriter text(String value) {
        return bytes(ByteString.wrap(value.getBytes(StandardCharsets.UTF_8)));
    }

    /** Bytes written so far. */
    public int size() {
        return used;
    }

    public ByteString toBody() {
        return ByteString.wrap(Arrays.copyOf(bytes, used));
    }

    private void ensure(int more) {
        if (bytes.length - used < more) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, used + more));
        }
    }
}
