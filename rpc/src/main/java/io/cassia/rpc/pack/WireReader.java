package io.cassia.rpc.pack;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.ByteString;
import io.cassia.status.Code;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads values from a range of bytes. Confined to one thread; reusable by {@link #reset}. Every
 * read checks the range first and throws {@link MalformedBodyException} instead of leaving it; no
 * count is believed before the bytes for it are there.
 */
public final class WireReader {
    private static final VarHandle SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, LITTLE_ENDIAN);
    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, LITTLE_ENDIAN);
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, LITTLE_ENDIAN);
    private static final byte[] NOTHING = new byte[0];

    /**
     * Elements of all containers of a message: short ones become many times as long on the heap.
     */
    public static final int MOST_ELEMENTS = 1 << 21;

    private byte[] buffer = NOTHING;
    private int position;
    private int limit;
    private int widthCode;
    private int elements;

    private @Nullable FailureDetails details;
    private String origin = "the peer";
    private @Nullable Code knownCode;
    private String knownDetail = "";

    /** Starts over on {@code buffer[offset, offset + length)}, which must not change meanwhile. */
    @CanIgnoreReturnValue
    public WireReader reset(byte[] buffer, int offset, int length) {
        this.buffer = buffer;
        this.position = offset;
        this.limit = offset + length;
        this.widthCode = 0;
        this.elements = 0;
        this.details = null;
        this.knownCode = null;
        return this;
    }

    /**
     * Says who sends the failures that are read, for their details.
     *
     * @param origin qualified name of the method that answers
     * @param details the sender's own words, or null when it gave none
     */
    @CanIgnoreReturnValue
    public WireReader from(String origin, @Nullable FailureDetails details) {
        this.origin = origin;
        this.details = details;
        return this;
    }

    public int position() {
        return position;
    }

    public int remaining() {
        return limit - position;
    }

    void widthCode(int code) {
        widthCode = code;
    }

    private int take(int bytes) {
        int at = position;
        if (limit - at < bytes) {
            throw new MalformedBodyException(
                    "truncated: " + bytes + " bytes wanted, " + (limit - at) + " left");
        }
        position = at + bytes;
        return at;
    }

    public byte i8() {
        return buffer[take(1)];
    }

    public int u8() {
        return buffer[take(1)] & 0xff;
    }

    /** True for any byte but 0, as upstream reads it. */
    public boolean bool() {
        return buffer[take(1)] != 0;
    }

    public short i16() {
        return (short) SHORT.get(buffer, take(2));
    }

    public int u16() {
        return i16() & 0xffff;
    }

    /** Four bytes; for u32 read the result as unsigned. */
    public int i32() {
        return (int) INT.get(buffer, take(4));
    }

    /** Eight bytes; for u64 read the result as unsigned. */
    public long i64() {
        return (long) LONG.get(buffer, take(8));
    }

    public float f32() {
        return Float.intBitsToFloat(i32());
    }

    public double f64() {
        return Double.longBitsToDouble(i64());
    }

    void skip(int bytes) {
        int _ = take(bytes);
    }

    /** A string as it stands, which may hold any bytes. */
    public ByteString bytes() {
        int length = size(1);
        if (length == 0) {
            return ByteString.EMPTY;
        }
        byte[] copy = new byte[length];
        System.arraycopy(buffer, take(length), copy, 0, length);
        return ByteString.wrap(copy);
    }

    /** A string that must be UTF-8. */
    public String string() {
        int length = size(1);
        if (length == 0) {
            return "";
        }
        int at = take(length);
        String text = new String(buffer, at, length, StandardCharsets.UTF_8);
        if (text.indexOf('\ufffd') >= 0) {
            requireUtf8(at, length);
        }
        return text;
    }

    /** A string for people: invalid UTF-8 becomes U+FFFD. */
    public String text() {
        int length = size(1);
        return length == 0 ? "" : new String(buffer, take(length), length, StandardCharsets.UTF_8);
    }

    private void requireUtf8(int at, int length) {
        try {
            var _ = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(buffer, at, length));
        } catch (CharacterCodingException e) {
            throw new MalformedBodyException("a string of " + length + " bytes is not UTF-8");
        }
    }

    /** A container's count, which is at most what the remaining bytes can hold. */
    int size(int minElementBytes) {
        long count =
                switch (widthCode) {
                    case 0 -> u8();
                    case 1 -> u16();
                    case 2 -> i32() & 0xffff_ffffL;
                    default -> i64();
                };
        if (count < 0 || count > (limit - position) / minElementBytes) {
            throw new MalformedBodyException(
                    "truncated: a count of "
                            + Long.toUnsignedString(count)
                            + " with "
                            + (limit - position)
                            + " bytes left");
        }
        return (int) count;
    }

    /** The count of a container's elements. */
    int count(int minElementBytes) {
        int count = size(minElementBytes);
        if (count > MOST_ELEMENTS - elements) {
            throw new MalformedBodyException(
                    "more than " + MOST_ELEMENTS + " elements in one message");
        }
        elements += count;
        return count;
    }

    /** Whether the next bytes are these; passes over them if so. */
    boolean skipIfEqual(byte[] expected) {
        int length = expected.length;
        if (limit - position < length) {
            return false;
        }
        if (Arrays.mismatch(buffer, position, position + length, expected, 0, length) >= 0) {
            return false;
        }
        position += length;
        return true;
    }

    /** What to say about a failure that was just read. */
    String detailOf(Code code) {
        if (details != null) {
            String given = details.next();
            if (!given.isEmpty()) {
                return given;
            }
        }
        if (!code.equals(knownCode)) {
            knownCode = code;
            String shortOrigin = origin.substring(origin.lastIndexOf(':') + 1);
            knownDetail = shortOrigin + " answered " + code.label();
        }
        return knownDetail;
    }
}
