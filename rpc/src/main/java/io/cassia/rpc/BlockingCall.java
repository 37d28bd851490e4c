package io.cassia.rpc;

import io.cassia.status.Outcome;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A call whose thread waits for it. Written by the thread that ends it, then read by the owner. */
final class BlockingCall<R> extends ClientCall<R> {
    private final Waiter waiter = new Waiter(Thread.currentThread());
    private @Nullable Outcome<R> outcome;
    private Attachment attachment = Attachment.NONE;
    private boolean known = true;

    BlockingCall(RpcMethod<?, R> method, long deadlineNanos) {
        super(method, deadlineNanos);
    }

    Waiter waiter() {
        return waiter;
    }

    @Override
    void end(Outcome<R> outcome, Attachment attachment, boolean known) {
        this.outcome = outcome;
        this.attachment = attachment;
        this.known = known;
        waiter.done();
    }

    /** After the waiter is done. */
    Outcome<R> outcome() {
        return Objects.requireNonNull(outcome);
    }

    Attachment attachment() {
        return attachment;
    }

    boolean known() {
        return known;
    }
}
