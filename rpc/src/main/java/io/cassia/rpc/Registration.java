package io.cassia.rpc;

import io.cassia.rpc.pack.WireReader;
import io.cassia.rpc.pack.WireWriter;
import io.micrometer.core.instrument.Counter;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A method with its handler. Immutable. Erases the types: arguments and results pass as {@code
 * Object} between calls on the same registration only.
 *
 * @param contextual whether the handler gets a context, which then must be there
 * @param requests counts calls of the handler
 */
record Registration<A, R>(
        RpcMethod<A, R> method, Call<A, R> call, boolean contextual, Counter requests) {
    /** A handler of either kind. */
    @FunctionalInterface
    interface Call<A, R> {
        R handle(A arguments, @Nullable RpcContext context);
    }

    static <A, R> Registration<A, R> plain(
            RpcMethod<A, R> method, Function<? super A, ? extends R> handler, Counter requests) {
        return new Registration<>(
                method, (arguments, _) -> handler.apply(arguments), false, requests);
    }

    static <A, R> Registration<A, R> contextual(
            RpcMethod<A, R> method, RpcHandler<? super A, ? extends R> handler, Counter requests) {
        return new Registration<>(
                method,
                (arguments, context) -> handler.handle(arguments, Objects.requireNonNull(context)),
                true,
                requests);
    }

    Object decode(WireReader reader) {
        return Objects.requireNonNull(method.arguments().read(reader));
    }

    @SuppressWarnings("unchecked") // The arguments came from decode.
    Object handle(Object arguments, @Nullable RpcContext context) {
        return Objects.requireNonNull(call.handle((A) arguments, context), "a handler's result");
    }

    @SuppressWarnings("unchecked") // The result came from handle.
    void encode(WireWriter writer, Object result) {
        method.result().write(writer, (R) result);
    }
}
