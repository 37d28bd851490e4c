package io.cassia.rpc.pack;

import io.cassia.base.ByteString;

/** A struct stored as raw memory. Immutable. */
record AggregateType<T>(
        Reads<T> reads, Writes<T> writes, ByteString literal, int minBytes, AggregateLayout layout)
        implements WireType<T> {
    @Override
    public void write(WireWriter writer, T value) {
        writes.write(writer, value);
    }

    @Override
    public T read(WireReader reader) {
        return reads.read(reader);
    }
}
