package io.cassia.rpc.pack;

import io.cassia.base.ByteString;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Family;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;

/** A value or the number of a store code. Immutable. */
record ExpectedType<T>(WireType<T> value, ByteString literal, int minBytes)
        implements WireType<Outcome<T>> {
    static <T> ExpectedType<T> of(WireType<T> value) {
        ByteString literal =
                TypeLiteral.of(
                        TypeLiteral.EXPECTED, value.literal(), TypeLiteral.of(TypeLiteral.I32));
        return new ExpectedType<>(value, literal, 1 + Math.min(value.minBytes(), 4));
    }

    @Override
    public void write(WireWriter writer, Outcome<T> outcome) {
        switch (outcome) {
            case Outcome.Ok<T>(T ok) -> {
                writer.i8(1);
                value.write(writer, ok);
            }
            case Outcome.Failed<T>(Code code, String detail) -> {
                if (code.family() != Family.STORE) {
                    throw new IllegalArgumentException(
                            "only store codes cross this wire, not " + code.label());
                }
                writer.i8(0);
                writer.i32(code.number());
                writer.failure(detail);
            }
        }
    }

    @Override
    public Outcome<T> read(WireReader reader) {
        if (reader.bool()) {
            T ok = value.read(reader);
            return ok == Done.DONE ? done() : Outcome.ok(ok);
        }
        Code code = StoreCode.fromInt(reader.i32());
        String detail = reader.detailOf(code);
        if (code.isOk()) {
            return Outcome.failed(
                    StoreCode.INTERNAL_ERROR, detail + ": a failure without a number");
        }
        return Outcome.failed(code, detail);
    }

    @SuppressWarnings("unchecked") // Called only when T is Done.
    private Outcome<T> done() {
        return (Outcome<T>) Outcome.done();
    }
}
