package io.cassia.datadist.link;

import io.cassia.status.Done;
import io.cassia.status.Outcome;

/** Takes what peers ask for on links, beyond the life of the link itself. */
public interface LinkRequests {
    /** A link has become active; nothing has come over it yet. */
    void onOpen(Link link);

    /**
     * Waits until what {@link #onOpen} has begun is done: a link that was dialled is only a success
     * when transfers can use it. {@code LLM_TIMEOUT}, or {@code LLM_LINK_FAILED} when it never
     * will.
     */
    Outcome<Done> awaitReady(Link link, long deadlineNanos);

    /** A request of a peer; on the link's reader thread, so it must not wait for the peer. */
    void onRequest(Link link, Frame request);

    /** A link has ended: nothing more comes over it. */
    void onEnd(Link link);
}
