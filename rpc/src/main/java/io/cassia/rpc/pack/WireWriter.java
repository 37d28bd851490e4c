package io.cassia.rpc.pack;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.cassia.base.ByteString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Appends values to a buffer that grows up to a limit and is reused. Confined to one thread.
 *
 * <p>The width of counts belongs to the whole body and is not known before its end, so a body is
 * tried with the narrowest width; the first count that does not fit stops the attempt and {@link
 * WireBody} starts again with a wider one.
 */
public final class WireWriter {
    private static final VarHandle SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, LITTLE_ENDIAN);
    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, LITTLE_ENDIAN);
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, LITTLE_ENDIAN);

    private byte[] buffer;
    private int position;
    private int limitBytes;
    private int widthCode;
    private int neededWidthCode;
    private @Nullable FailureDetails details;

    /**
     * @param initialBytes capacity at first
     * @param limitBytes position that no write may pass; beyond it writes throw {@link
     *     BodyTooLargeException}
     */
    public WireWriter(int initialBytes, int limitBytes) {
        this.buffer = new byte[initialBytes];
        this.limitBytes = limitBytes;
    }

    /** Moves the position that no write may pass. */
    public void limit(int limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** The bytes written so far are {@code array()[0, position())}; any write may replace it. */
    public byte[] array() {
        return buffer;
    }

    public int position() {
        return position;
    }

    public int capacity() {
        return buffer.length;
    }

    /** Takes back what was written behind {@code position}. */
    public void truncate(int position) {
        this.position = position;
    }

    /** Forgets the content, and the buffer too if it has grown beyond {@code keepBytes}. */
    public void clear(int keepBytes) {
        position = 0;
        if (buffer.length > keepBytes) {
            buffer = new byte[keepBytes];
        }
    }

    /** Collects the details of failures that are written from now on; null stops it. */
    public void collect(@Nullable FailureDetails details) {
        this.details = details;
    }

    @Nullable FailureDetails details() {
        return details;
    }

    void begin(int widthCode) {
        this.widthCode = widthCode;
        this.neededWidthCode = widthCode;
    }

    int neededWidthCode() {
        return neededWidthCode;
    }

    /** May replace the buffer: its result is needed before {@code buffer} is looked at. */
    private int claim(int bytes) {
        int at = position;
        if (buffer.length - at < bytes) {
            grow(bytes);
        }
        position = at + bytes;
        return at;
    }

    private void grow(int bytes) {
        long wanted = (long) position + bytes;
        if (wanted > limitBytes) {
            throw new BodyTooLargeException(wanted, limitBytes);
        }
        long doubled = Math.max(wanted, 2L * buffer.length);
        buffer = Arrays.copyOf(buffer, (int) Math.min(doubled, limitBytes));
    }

    /** Passes over bytes whose content is undefined until it is set. */
    public int reserve(int bytes) {
        return claim(bytes);
    }

    public void i8(int value) {
        int at = claim(1);
        buffer[at] = (byte) value;
    }

    public void bool(boolean value) {
        int at = claim(1);
        buffer[at] = (byte) (value ? 1 : 0);
    }

    public void i16(int value) {
        int at = claim(2);
        SHORT.set(buffer, at, (short) value);
    }

    public void i32(int value) {
        int at = claim(4);
        INT.set(buffer, at, value);
    }

    public void i64(long value) {
        int at = claim(8);
        LONG.set(buffer, at, value);
    }

    /** Overwrites four bytes that were written or reserved before. */
    public void i32At(int at, int value) {
        INT.set(buffer, at, value);
    }

    public void f32(float value) {
        i32(Float.floatToRawIntBits(value));
    }

    public void f64(double value) {
        i64(Double.doubleToRawLongBits(value));
    }

    /** Bytes without a count. */
    public void raw(byte[] bytes, int offset, int length) {
        int at = claim(length);
        System.arraycopy(bytes, offset, buffer, at, length);
    }

    void zeros(int count) {
        int at = claim(count);
        Arrays.fill(buffer, at, at + count, (byte) 0);
    }

    public void bytes(ByteString value) {
        if (size(value.length())) {
            raw(value.array(), 0, value.length());
        }
    }

    public void string(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        if (size(bytes.length)) {
            raw(bytes, 0, bytes.length);
        }
    }

    /**
     * Writes a container's count. False when this attempt is void because the count needs a wider
     * form: the elements need not be written.
     */
    boolean size(int count) {
        int code = count < 256 ? 0 : count < 65_536 ? 1 : 2;
        if (code > neededWidthCode) {
            neededWidthCode = code;
        }
        if (neededWidthCode != widthCode) {
            return false;
        }
        switch (widthCode) {
            case 0 -> i8(count);
            case 1 -> i16(count);
            case 2 -> i32(count);
            default -> i64(count);
        }
        return true;
    }

    /** Notes why a failure that is being written happened, if anybody wants to know. */
    void failure(String detail) {
        if (details != null) {
            details.add(detail);
        }
    }
}
