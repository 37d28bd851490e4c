package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.List;
import java.util.function.ToIntFunction;

/** One of several types, told apart by an index byte. Immutable. */
record VariantType<T>(
        ToIntFunction<? super T> index,
        List<? extends WireType<? extends T>> alternatives,
        ByteString literal,
        int minBytes)
        implements WireType<T> {
    static <T> VariantType<T> of(
            ToIntFunction<? super T> index, List<? extends WireType<? extends T>> alternatives) {
        List<? extends WireType<? extends T>> fixed = List.copyOf(alternatives);
        int shortest = Integer.MAX_VALUE;
        for (WireType<?> alternative : fixed) {
            shortest = Math.min(shortest, alternative.minBytes());
        }
        ByteString literal = TypeLiteral.enclosed(TypeLiteral.VARIANT, fixed);
        return new VariantType<>(index, fixed, literal, 1 + shortest);
    }

    @Override
    @SuppressWarnings("unchecked") // index says which alternative the value is.
    public void write(WireWriter writer, T value) {
        int which = index.applyAsInt(value);
        writer.i8(which);
        ((WireType<T>) alternatives.get(which)).write(writer, value);
    }

    @Override
    public T read(WireReader reader) {
        int which = reader.u8();
        if (which >= alternatives.size()) {
            throw new MalformedBodyException(
                    "alternative " + which + " of a variant of " + alternatives.size());
        }
        return alternatives.get(which).read(reader);
    }
}
