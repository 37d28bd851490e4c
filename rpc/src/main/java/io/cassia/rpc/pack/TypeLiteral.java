package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;

/** Codes and grammar of type literals (spec mooncake-store 11.2). Immutable. */
final class TypeLiteral {
    static final int I32 = 1;
    static final int U32 = 2;
    static final int I64 = 3;
    static final int U64 = 4;
    static final int I8 = 5;
    static final int U8 = 6;
    static final int I16 = 7;
    static final int U16 = 8;
    static final int BOOL = 11;
    static final int CHAR = 12;
    static final int F32 = 17;
    static final int F64 = 18;
    static final int STRING = 128;
    static final int ARRAY = 129;
    static final int MAP = 130;
    static final int SET = 131;
    static final int CONTAINER = 132;
    static final int OPTIONAL = 133;
    static final int VARIANT = 134;
    static final int EXPECTED = 135;
    static final int MONOSTATE = 250;
    static final int STRUCT = 253;
    static final int END = 255;

    private static final int SIZE_BASE = 127;

    private TypeLiteral() {}

    /** A code followed by the literals of the parts. */
    static ByteString of(int code, ByteString... parts) {
        int length = 1;
        for (ByteString part : parts) {
            length += part.length();
        }
        byte[] bytes = new byte[length];
        bytes[0] = (byte) code;
        int position = 1;
        for (ByteString part : parts) {
            System.arraycopy(part.array(), 0, bytes, position, part.length());
            position += part.length();
        }
        return ByteString.wrap(bytes);
    }

    /** A code, the literals of the members, what else stands behind them, and the end mark. */
    static ByteString enclosed(int code, List<? extends WireType<?>> members, ByteString... tail) {
        ByteString[] parts = new ByteString[members.size() + tail.length + 1];
        int next = 0;
        for (WireType<?> member : members) {
            parts[next++] = member.literal();
        }
        for (ByteString part : tail) {
            parts[next++] = part;
        }
        parts[next] = of(END);
        return of(code, parts);
    }

    /** A number as base-127 digits, lowest first: each digit + 1, the last one + 129. */
    static ByteString size(long number) {
        byte[] digits = new byte[10];
        int count = 0;
        long rest = number;
        while (rest >= SIZE_BASE) {
            digits[count++] = (byte) (rest % SIZE_BASE + 1);
            rest /= SIZE_BASE;
        }
        digits[count++] = (byte) (rest + 129);
        byte[] exact = new byte[count];
        System.arraycopy(digits, 0, exact, 0, count);
        return ByteString.wrap(exact);
    }

    /** The first four bytes of the MD5 of these bytes, as a big-endian number. */
    static int md5(byte[] bytes) {
        try {
            byte[] digest = MessageDigest.getInstance("MD5").digest(bytes);
            return (digest[0] & 0xff) << 24
                    | (digest[1] & 0xff) << 16
                    | (digest[2] & 0xff) << 8
                    | (digest[3] & 0xff);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JDK has no MD5", e);
        }
    }
}
