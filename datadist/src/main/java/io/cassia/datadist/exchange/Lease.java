package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.Pin;
import io.cassia.datadist.cache.TensorSelection;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.Outcome;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Leave of a peer to read memory of this side for a time. Guarded.
 *
 * <pre>
 *   OPEN ── DONE of the reader ──────────────► ended, memory let go
 *    │ ──── time is over ────────────────────► ended, memory let go; a later DONE is refused
 *    └──── given up by this side (a push) ───► revoked: a later DONE is refused, memory stays held
 *                                              until then or until the time is over
 * </pre>
 *
 * <p>The time is that which the reader has for its call, and a little more. So a reader that ends
 * in its own time has read what it was granted, and one that does not is told so, or knows by its
 * own clock.
 */
final class Lease {
    private final long id;
    private final Link link;
    private final OpKind kind;
    private final Pin pin;
    private final TensorSelection tensors;
    private final boolean consumes;
    private final long deadlineNanos;
    private final AtomicBoolean revoked = new AtomicBoolean();
    private final CompletableFuture<Outcome<DoneMessage>> end = new CompletableFuture<>();

    Lease(
            long id,
            Link link,
            OpKind kind,
            Pin pin,
            TensorSelection tensors,
            boolean consumes,
            long deadlineNanos) {
        this.id = id;
        this.link = link;
        this.kind = kind;
        this.pin = pin;
        this.tensors = tensors;
        this.consumes = consumes;
        this.deadlineNanos = deadlineNanos;
    }

    long id() {
        return id;
    }

    Link link() {
        return link;
    }

    OpKind kind() {
        return kind;
    }

    Pin pin() {
        return pin;
    }

    TensorSelection tensors() {
        return tensors;
    }

    boolean consumes() {
        return consumes;
    }

    boolean isOver(long nowNanos) {
        return nowNanos - deadlineNanos > 0;
    }

    /** This side waits no longer; false when the reader has ended before. */
    boolean revoke() {
        return revoked.compareAndSet(false, true);
    }

    /** The reader's word for the end of a push; a failure when the link ended first. */
    CompletableFuture<Outcome<DoneMessage>> end() {
        return end;
    }

    /** Lets the memory go, and the link where it was counted as serving. */
    void letGo() {
        pin.close();
        if (kind == OpKind.PULL) {
            link.endServing(OpKind.PULL);
        }
    }
}
