package io.cassia.rpc;

import io.cassia.status.Outcome;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One request of a pipeline. Ended by any thread, then read by the pipeline's thread. */
final class PipelineCall<R> extends ClientCall<R> {
    private final Waiter waiter;
    private @Nullable Outcome<R> outcome;
    private volatile boolean done;

    PipelineCall(RpcMethod<?, R> method, long deadlineNanos, Waiter waiter) {
        super(method, deadlineNanos);
        this.waiter = waiter;
    }

    @Override
    void end(Outcome<R> outcome, Attachment attachment, boolean known) {
        this.outcome = outcome;
        done = true;
        waiter.done();
    }

    boolean isDone() {
        return done;
    }

    /** After the call is done. */
    Outcome<R> outcome() {
        return Objects.requireNonNull(outcome);
    }
}
