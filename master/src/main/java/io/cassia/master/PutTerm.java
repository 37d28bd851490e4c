package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.rpc.Attachment;
import io.cassia.rpc.RpcHandler;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.function.Function;

/**
 * Immutable. Tells a writer that asks how long the space that it gets is its own, by {@link
 * Attachment#TERM}.
 */
final class PutTerm {
    private final ByteString millis;

    PutTerm(Duration term) {
        byte[] bytes = new byte[Long.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(term.toMillis());
        this.millis = ByteString.wrap(bytes);
    }

    /** A Start that tells it. */
    <A, R> RpcHandler<A, R> told(Function<A, R> start) {
        return (arguments, context) -> {
            if (context.request().find(Attachment.TERM).isPresent()) {
                context.respond(Attachment.TERM, millis);
            }
            return start.apply(arguments);
        };
    }
}
