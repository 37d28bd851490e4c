package io.cassia.datadist.cache;

/**
 * Which pool a cache is counted against. Immutable. Both are memory of the host: DEVICE takes from
 * the device-tagged pool, HOST from the host pool; the tag decides which code tells of exhaustion
 * and which sides a swap may have.
 */
public enum Placement {
    HOST(0),
    DEVICE(1);

    private final int number;

    Placement(int number) {
        this.number = number;
    }

    /** The number of the C++ API. */
    public int number() {
        return number;
    }
}
