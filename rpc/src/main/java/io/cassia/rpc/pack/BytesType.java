package io.cassia.rpc.pack;

import io.cassia.base.ByteString;

/** A string as bytes. Immutable. */
record BytesType() implements WireType<ByteString> {
    static final ByteString LITERAL =
            TypeLiteral.of(TypeLiteral.STRING, TypeLiteral.of(TypeLiteral.CHAR));

    @Override
    public ByteString literal() {
        return LITERAL;
    }

    @Override
    public int minBytes() {
        return 1;
    }

    @Override
    public void write(WireWriter writer, ByteString value) {
        writer.bytes(value);
    }

    @Override
    public ByteString read(WireReader reader) {
        return reader.bytes();
    }
}
