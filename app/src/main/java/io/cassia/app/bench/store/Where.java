package io.cassia.app.bench.store;

/** Where the memory is that objects lie in, seen from the client. */
public enum Where {
    /** Another process, reached over TCP as if it were on another host. */
    REMOTE("remote tcp"),
    /** Another process of this host, reached through shared memory. */
    HOST("host memory"),
    /** The client's own process. */
    OWN("own process");

    private final String label;

    Where(String label) {
        this.label = label;
    }

    public String label() {
        return label;
    }
}
