package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** A vector. Immutable. */
record ListType<E>(WireType<E> element, ByteString literal) implements WireType<List<E>> {
    static <E> ListType<E> of(WireType<E> element) {
        requireBytes(element);
        return new ListType<>(element, TypeLiteral.of(TypeLiteral.CONTAINER, element.literal()));
    }

    /** An element of no bytes would let a count of any size pass for real. */
    static void requireBytes(WireType<?> element) {
        if (element.minBytes() == 0) {
            throw new IllegalArgumentException("a container of elements without bytes");
        }
    }

    @Override
    public int minBytes() {
        return 1;
    }

    @Override
    public void write(WireWriter writer, List<E> value) {
        int size = value.size();
        if (!writer.size(size)) {
            return;
        }
        for (int i = 0; i < size; i++) {
            element.write(writer, value.get(i));
        }
    }

    @Override
    public List<E> read(WireReader reader) {
        return readElements(element, reader, reader.count(element.minBytes()));
    }

    @SuppressWarnings("unchecked") // The array holds only what element.read returned.
    static <E> List<E> readElements(WireType<E> element, WireReader reader, int count) {
        if (count == 0) {
            return List.of();
        }
        if (count == 1) {
            return List.of(element.read(reader));
        }
        E[] elements = (E[]) new Object[count];
        for (int i = 0; i < count; i++) {
            elements[i] = element.read(reader);
        }
        return Collections.unmodifiableList(Arrays.asList(elements));
    }
}
