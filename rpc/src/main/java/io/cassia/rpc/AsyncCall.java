package io.cassia.rpc;

import io.cassia.status.Outcome;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A call that completes a future. Ended by any thread, completed by the connection's background
 * thread, because the future's dependants are foreign code that may block.
 */
final class AsyncCall<R> extends ClientCall<R> {
    private final CompletableFuture<Outcome<R>> future = new CompletableFuture<>();
    private @Nullable BackgroundReader background;
    private @Nullable Outcome<R> outcome;

    AsyncCall(RpcMethod<?, R> method, long deadlineNanos) {
        super(method, deadlineNanos);
    }

    CompletableFuture<Outcome<R>> future() {
        return future;
    }

    @Override
    void sendingTo(ClientConnection connection) {
        super.sendingTo(connection);
        background = connection.background();
        background.begin();
    }

    @Override
    void notSent() {
        super.notSent();
        if (background != null) {
            background.cancel();
            background = null;
        }
    }

    @Override
    void end(Outcome<R> outcome, Attachment attachment, boolean known) {
        this.outcome = outcome;
        if (background == null) {
            complete();
        } else {
            background.ended(this);
        }
    }

    void complete() {
        boolean _ = future.complete(Objects.requireNonNull(outcome));
    }
}
