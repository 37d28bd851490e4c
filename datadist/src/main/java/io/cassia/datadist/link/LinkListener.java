package io.cassia.datadist.link;

/** Hears of links that come, break and go. Called on one thread, in order. */
public interface LinkListener {
    void onLink(LinkInfo link);
}
