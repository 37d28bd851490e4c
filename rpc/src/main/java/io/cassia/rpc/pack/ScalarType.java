package io.cassia.rpc.pack;

import io.cassia.base.ByteString;

/** A number of fixed width. Immutable. */
record ScalarType<T>(ByteString literal, int minBytes, Reads<T> reads, Writes<T> writes)
        implements WireType<T> {
    static <T> ScalarType<T> of(int code, int sizeBytes, Reads<T> reads, Writes<T> writes) {
        return new ScalarType<>(TypeLiteral.of(code), sizeBytes, reads, writes);
    }

    @Override
    public void write(WireWriter writer, T value) {
        writes.write(writer, value);
    }

    @Override
    public T read(WireReader reader) {
        return reads.read(reader);
    }
}
