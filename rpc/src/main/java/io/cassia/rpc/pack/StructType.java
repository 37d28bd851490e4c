package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.List;

/** Members one after the other. Immutable. */
record StructType<T>(
        Reads<T> reads,
        Writes<T> writes,
        List<WireType<?>> members,
        ByteString literal,
        int minBytes)
        implements WireType<T> {
    static <T> StructType<T> of(Reads<T> reads, Writes<T> writes, List<WireType<?>> members) {
        int minBytes = 0;
        for (WireType<?> member : members) {
            minBytes = Math.addExact(minBytes, member.minBytes());
        }
        ByteString literal = TypeLiteral.enclosed(TypeLiteral.STRUCT, members);
        return new StructType<>(reads, writes, members, literal, minBytes);
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
