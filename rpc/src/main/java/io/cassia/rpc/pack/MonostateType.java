package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import io.cassia.status.Done;

/** The type without a value: no bytes. Immutable. */
record MonostateType() implements WireType<Done> {
    private static final ByteString LITERAL = TypeLiteral.of(TypeLiteral.MONOSTATE);

    @Override
    public ByteString literal() {
        return LITERAL;
    }

    @Override
    public int minBytes() {
        return 0;
    }

    @Override
    public void write(WireWriter writer, Done value) {}

    @Override
    public Done read(WireReader reader) {
        return Done.DONE;
    }
}
