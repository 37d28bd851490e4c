package io.cassia.transfer;

/**
 * Told how far requests have come, so that their bytes can be looked at while they are still in the
 * processor's caches. Transports that copy inside the host tell nothing, and pieces of one request
 * that travel by several lanes at once neither: what was not told is to be done after the call.
 */
@FunctionalInterface
public interface Progress {
    /**
     * The first bytes of a READ are in local memory, or those of a WRITE have been taken from it. A
     * number below the last one means that the request is carried once more, from its beginning:
     * what was in memory is void then. Called by the thread that carries the request, which waits
     * meanwhile; what is thrown ends the call.
     *
     * @param request its position in the call
     * @param bytes from its beginning
     */
    void reached(int request, long bytes);
}
