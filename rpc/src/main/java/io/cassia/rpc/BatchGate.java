package io.cassia.rpc;

/**
 * Called around the handlers of all requests that one read of a socket brought, on the connection's
 * thread: a place to take a lock once per batch instead of once per request. Decoding, encoding and
 * writing happen outside of it.
 */
public interface BatchGate {
    /** Nothing to enter. */
    BatchGate OPEN =
            new BatchGate() {
                @Override
                public void enter() {}

                @Override
                public void exit() {}
            };

    void enter();

    /** Called exactly once after each {@link #enter} that returned. */
    void exit();
}
