package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/** A set in the order of the wire. Immutable. */
record SetType<E>(WireType<E> element, ByteString literal) implements WireType<Set<E>> {
    static <E> SetType<E> of(WireType<E> element) {
        ListType.requireBytes(element);
        return new SetType<>(element, TypeLiteral.of(TypeLiteral.SET, element.literal()));
    }

    @Override
    public int minBytes() {
        return 1;
    }

    @Override
    public void write(WireWriter writer, Set<E> value) {
        if (!writer.size(value.size())) {
            return;
        }
        for (E each : value) {
            element.write(writer, each);
        }
    }

    @Override
    public Set<E> read(WireReader reader) {
        int count = reader.count(element.minBytes());
        Set<E> set = LinkedHashSet.newLinkedHashSet(count);
        for (int i = 0; i < count; i++) {
            if (!set.add(element.read(reader))) {
                throw new MalformedBodyException("a set with the same element twice");
            }
        }
        return Collections.unmodifiableSet(set);
    }
}
