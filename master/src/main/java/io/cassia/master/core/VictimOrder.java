package io.cassia.master.core;

/**
 * The seam of eviction policies: in which order objects are offered to an eviction. An
 * implementation never offers what {@link Protection} forbids, offers what is protected for the
 * time being only when nothing else is left, and finds the next victim in bounded time. All are
 * confined to the master's lock.
 */
sealed interface VictimOrder permits LruOrder, TwoQueues {
    /**
     * Starts a run; until its end only the caller changes objects.
     *
     * @param onDemand a put waits for the room, so that weak protections may be overridden
     */
    void begin(boolean onDemand);

    /** The next victim, which the caller may evict or leave; 0 when there is none. */
    int next();

    /** The object is about to be evicted: the run must not step on it. */
    void leaving(int slot);
}
