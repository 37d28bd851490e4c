package io.cassia.rpc.pack;

import io.cassia.base.ByteString;

/** A string as text. Immutable. */
record StringType(boolean strict) implements WireType<String> {
    @Override
    public ByteString literal() {
        return BytesType.LITERAL;
    }

    @Override
    public int minBytes() {
        return 1;
    }

    @Override
    public void write(WireWriter writer, String value) {
        writer.string(value);
    }

    @Override
    public String read(WireReader reader) {
        return strict ? reader.string() : reader.text();
    }
}
