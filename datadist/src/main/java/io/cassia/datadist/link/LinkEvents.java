package io.cassia.datadist.link;

/** What the parts of a link's life tell the service that owns them. */
interface LinkEvents {
    /** A link has become active; its channel waits to be started. */
    void opened(Link link);

    /** A link has changed its state otherwise. */
    void changed(Link link);
}
