package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.Objects;

/**
 * A complete struct_pack body of one type (spec mooncake-store 11.2). Immutable; what is constant
 * of the type is computed once.
 *
 * <pre>
 * u32 head     first 4 bytes of MD5(literal) as a big-endian number, lowest bit cleared;
 *              lowest bit set: a meta byte follows
 * u8  meta     bits 0-1 compatible members (not supported), bit 2 literal + NUL follow,
 *              bits 3-4 bytes per count: 1, 2, 4, 8
 * literal NUL  if the meta byte says so
 * fields
 * </pre>
 *
 * Bodies are written with the literal, as upstream's builds do, or in the short form; both are
 * read.
 *
 * @param <T> the Java value
 * @param type the type of the value
 * @param hash the head without its lowest bit
 * @param prefix head, meta byte, literal, NUL for one-byte counts
 */
public record WireBody<T>(WireType<T> type, int hash, ByteString prefix) {
    private static final int META_LITERAL = 0x04;
    private static final int META_WIDTH_SHIFT = 3;
    private static final int META_WIDTH = 0x18;
    private static final int HEAD_BYTES = 4;

    public static <T> WireBody<T> of(WireType<T> type) {
        Objects.requireNonNull(type);
        byte[] literal = type.literal().array();
        int hash = literal.length == 0 ? 0 : TypeLiteral.md5(literal) & ~1;
        WireWriter writer = new WireWriter(HEAD_BYTES + literal.length + 2, Integer.MAX_VALUE);
        writer.i32(hash | 1);
        writer.i8(META_LITERAL);
        writer.raw(literal, 0, literal.length);
        writer.i8(0);
        return new WireBody<>(type, hash, ByteString.wrap(writer.array()));
    }

    /** Whether the method takes no arguments, so that the body is empty. */
    public boolean isEmpty() {
        return type instanceof NoArguments;
    }

    /** Appends the body in the form with the type literal. */
    public void write(WireWriter writer, T value) {
        write(writer, value, true);
    }

    /** Appends the body in the form without the type literal. */
    public void writeShort(WireWriter writer, T value) {
        write(writer, value, false);
    }

    private void write(WireWriter writer, T value, boolean withLiteral) {
        if (isEmpty()) {
            return;
        }
        int start = writer.position();
        FailureDetails details = writer.details();
        int mark = details == null ? 0 : details.mark();
        int widthCode = 0;
        while (true) {
            writer.begin(widthCode);
            writeHead(writer, widthCode, withLiteral);
            type.write(writer, value);
            int needed = writer.neededWidthCode();
            if (needed == widthCode) {
                return;
            }
            widthCode = needed;
            writer.truncate(start);
            if (details != null) {
                details.rewind(mark);
            }
        }
    }

    private void writeHead(WireWriter writer, int widthCode, boolean withLiteral) {
        if (withLiteral) {
            int at = writer.position();
            writer.raw(prefix.array(), 0, prefix.length());
            if (widthCode != 0) {
                writer.array()[at + HEAD_BYTES] =
                        (byte) (META_LITERAL | widthCode << META_WIDTH_SHIFT);
            }
        } else if (widthCode == 0) {
            writer.i32(hash);
        } else {
            writer.i32(hash | 1);
            writer.i8(widthCode << META_WIDTH_SHIFT);
        }
    }

    /**
     * Reads a body of any form. Bytes behind the value are left unread.
     *
     * @throws MalformedBodyException if the bytes are not a value of this type
     */
    public T read(WireReader reader) {
        if (isEmpty()) {
            return type.read(reader);
        }
        reader.widthCode(0);
        // The form that nearly every body has: compared as one piece.
        if (!reader.skipIfEqual(prefix.array())) {
            readHead(reader);
        }
        return type.read(reader);
    }

    private void readHead(WireReader reader) {
        int head = reader.i32();
        if ((head & ~1) != hash) {
            throw new MalformedBodyException(
                    "type hash %08x, wanted %08x".formatted(head & ~1, hash));
        }
        if ((head & 1) == 0) {
            return;
        }
        int meta = reader.u8();
        if ((meta & ~(META_LITERAL | META_WIDTH)) != 0) {
            throw new MalformedBodyException("meta byte %02x is not supported".formatted(meta));
        }
        if ((meta & META_LITERAL) != 0
                && !(reader.skipIfEqual(type.literal().array()) && reader.u8() == 0)) {
            throw new MalformedBodyException("another type literal than the type hash");
        }
        reader.widthCode((meta & META_WIDTH) >> META_WIDTH_SHIFT);
    }
}
