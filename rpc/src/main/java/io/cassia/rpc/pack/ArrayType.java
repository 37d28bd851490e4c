package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.List;

/** An array of fixed length. Immutable. */
record ArrayType<E>(WireType<E> element, int length, ByteString literal)
        implements WireType<List<E>> {
    static <E> ArrayType<E> of(WireType<E> element, int length) {
        ListType.requireBytes(element);
        ByteString literal =
                TypeLiteral.of(TypeLiteral.ARRAY, element.literal(), TypeLiteral.size(length));
        return new ArrayType<>(element, length, literal);
    }

    @Override
    public int minBytes() {
        return Math.multiplyExact(length, element.minBytes());
    }

    @Override
    public void write(WireWriter writer, List<E> value) {
        if (value.size() != length) {
            throw new IllegalArgumentException(
                    value.size() + " elements for an array of " + length);
        }
        for (E each : value) {
            element.write(writer, each);
        }
    }

    @Override
    public List<E> read(WireReader reader) {
        if (reader.remaining() < minBytes()) {
            throw new MalformedBodyException("truncated: an array of " + length + " elements");
        }
        return ListType.readElements(element, reader, length);
    }
}
