package io.cassia.rpc;

import io.cassia.status.Outcome;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A call between its request and its end. The fields are written by the calling thread before the
 * call becomes visible to others; {@link #end} is called exactly once, by whoever took the call out
 * of the {@link CallTable} or failed to put it there.
 */
abstract sealed class ClientCall<R> permits BlockingCall, AsyncCall, PipelineCall, SilentCall {
    private final RpcMethod<?, R> method;
    private final long deadlineNanos;
    private @Nullable ClientConnection connection;
    private int sequence;
    private long endOffset;

    ClientCall(RpcMethod<?, R> method, long deadlineNanos) {
        this.method = method;
        this.deadlineNanos = deadlineNanos;
    }

    RpcMethod<?, R> method() {
        return method;
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /** About to be sent here. */
    void sendingTo(ClientConnection connection) {
        this.connection = connection;
    }

    /** Was not sent after all. */
    void notSent() {
        this.connection = null;
    }

    /** Where it was sent. */
    ClientConnection connection() {
        return Objects.requireNonNull(connection);
    }

    int sequence() {
        return sequence;
    }

    /** Position behind the request's last byte in the connection's output. */
    long endOffset() {
        return endOffset;
    }

    void queued(int sequence, long endOffset) {
        this.sequence = sequence;
        this.endOffset = endOffset;
    }

    /**
     * The call is over.
     *
     * @param outcome the decoded result or why there is none
     * @param attachment what came with the result
     * @param known false when the server does not know the method
     */
    abstract void end(Outcome<R> outcome, Attachment attachment, boolean known);
}
