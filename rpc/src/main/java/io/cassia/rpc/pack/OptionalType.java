package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import java.util.Optional;

/** A flag and perhaps a value. Immutable. */
record OptionalType<T>(WireType<T> value, ByteString literal) implements WireType<Optional<T>> {
    static <T> OptionalType<T> of(WireType<T> value) {
        return new OptionalType<>(value, TypeLiteral.of(TypeLiteral.OPTIONAL, value.literal()));
    }

    @Override
    public int minBytes() {
        return 1;
    }

    @Override
    public void write(WireWriter writer, Optional<T> optional) {
        writer.bool(optional.isPresent());
        if (optional.isPresent()) {
            value.write(writer, optional.get());
        }
    }

    @Override
    public Optional<T> read(WireReader reader) {
        return reader.bool() ? Optional.of(value.read(reader)) : Optional.empty();
    }
}
