package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import io.cassia.status.Done;

/** The empty body of a method without arguments; no part of other types. Immutable. */
record NoArguments() implements WireType<Done> {
    @Override
    public ByteString literal() {
        return ByteString.EMPTY;
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
