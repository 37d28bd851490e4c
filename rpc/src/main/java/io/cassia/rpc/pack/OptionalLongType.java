package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.OptionalLong;

/** An optional u64 without boxing. Immutable. */
record OptionalLongType() implements WireType<OptionalLong> {
    private static final ByteString LITERAL =
            TypeLiteral.of(TypeLiteral.OPTIONAL, TypeLiteral.of(TypeLiteral.U64));

    @Override
    public ByteString literal() {
        return LITERAL;
    }

    @Override
    public int minBytes() {
        return 1;
    }

    @Override
    public void write(WireWriter writer, OptionalLong value) {
        writer.bool(value.isPresent());
        if (value.isPresent()) {
            writer.i64(value.getAsLong());
        }
    }

    @Override
    public OptionalLong read(WireReader reader) {
        return reader.bool() ? OptionalLong.of(reader.i64()) : OptionalLong.empty();
    }
}
