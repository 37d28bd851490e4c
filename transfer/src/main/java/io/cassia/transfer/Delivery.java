package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * What becomes of a message that follows a batch. Guarded: decided once, by the thread that sends
 * it.
 */
public final class Delivery {
    private final SegmentHandle target;
    private final Notification notification;
    private final CompletableFuture<Outcome<Done>> decided = new CompletableFuture<>();

    Delivery(SegmentHandle target, Notification notification) {
        this.target = target;
        this.notification = notification;
    }

    /** To whom. */
    public SegmentHandle target() {
        return target;
    }

    /** What. */
    public Notification notification() {
        return notification;
    }

    /**
     * Nothing while the batch runs. Success: the peer has queued it. A failure with the code of a
     * task: the batch did not complete, and the message was not sent. Any other failure: sending
     * failed; it is not tried again, since it may have arrived.
     */
    public Optional<Outcome<Done>> outcome() {
        return Optional.ofNullable(decided.getNow(null));
    }

    /** The same for those who do not poll; completed on a thread of its own. */
    public CompletionStage<Outcome<Done>> completion() {
        return decided.minimalCompletionStage();
    }

    void decide(Outcome<Done> outcome) {
        boolean _ = decided.complete(outcome);
    }
}
