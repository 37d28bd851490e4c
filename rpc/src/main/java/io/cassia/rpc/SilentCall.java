package io.cassia.rpc;

import io.cassia.status.Outcome;

/**
 * A call whose answer nobody needs. Ended by any thread; why it failed is counted by its
 * connection.
 */
final class SilentCall<R> extends ClientCall<R> {
    SilentCall(RpcMethod<?, R> method, long deadlineNanos) {
        super(method, deadlineNanos);
    }

    @Override
    void end(Outcome<R> outcome, Attachment attachment, boolean known) {
        // Nobody waits.
    }
}
