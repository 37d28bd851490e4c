package io.cassia.transfer.transport;

/** A way to one peer's memory. Guarded: several threads carry runs at once. */
public interface Route extends AutoCloseable {
    /**
     * Carries the transfers of a run in order, on the calling thread, until all have ended or it
     * must stop; then {@link Run#takeLoss} tells why. When it returns it touches no memory of the
     * run any more.
     */
    void carry(Run run);

    /** Stops what is being carried and lets go of all connections. */
    @Override
    void close();
}
