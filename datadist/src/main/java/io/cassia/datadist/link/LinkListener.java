package io.cassia.datadist.link;

/**
 * Hears of links that come, break and go. Called on threads of the instance: it has to be quick.
 */
public interface LinkListener {
    void onLink(LinkInfo link);
}
