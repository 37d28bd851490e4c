package io.cassia.datadist.link;

/** Takes what peers ask for on links, beyond the life of the link itself. */
public interface LinkRequests {
    /** A link has become active; nothing has come over it yet. */
    void onOpen(Link link);

    /** A request of a peer; on the link's reader thread, so it must not wait for the peer. */
    void onRequest(Link link, Frame request);

    /** A link has ended: nothing more comes over it. */
    void onEnd(Link link);
}
