package io.cassia.base;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * An immutable string of bytes with a cached hash: object keys and tenants, which may hold any
 * bytes. Compares as unsigned bytes. Immutable.
 */
public final class ByteString implements Comparable<ByteString> {
    public static final ByteString EMPTY = new ByteString(new byte[0]);

    private final byte[] bytes;
    private final int hash;

    private ByteString(byte[] bytes) {
        this.bytes = bytes;
        this.hash = Arrays.hashCode(bytes);
    }

    /** Takes ownership: the caller must not change the array afterwards. */
    public static ByteString wrap(byte[] bytes) {
        return bytes.length == 0 && EMPTY != null ? EMPTY : new ByteString(bytes);
    }

    /** The UTF-8 bytes of a text. */
    public static ByteString of(String text) {
        return wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    public int length() {
        return bytes.length;
    }

    public boolean isEmpty() {
        return bytes.length == 0;
    }

    public byte at(int index) {
        return bytes[index];
    }

    /** The backing array, not a copy: for codecs, which must not change it. */
    public byte[] array() {
        return bytes;
    }

    /** The bytes as UTF-8 text; invalid sequences become U+FFFD. */
    public String text() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public int compareTo(ByteString other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || (other instanceof ByteString that
                        && hash == that.hash
                        && Arrays.equals(bytes, that.bytes));
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public String toString() {
        return text();
    }
}
