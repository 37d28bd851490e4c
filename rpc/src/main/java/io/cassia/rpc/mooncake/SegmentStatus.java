package io.cassia.rpc.mooncake;

import java.util.Optional;

/**
 * State of a mounted segment. Messages carry the number, so that an unknown one survives.
 * Immutable.
 */
public enum SegmentStatus {
    UNDEFINED(0),
    OK(1),
    DRAINING(2),
    DRAINED(3),
    GRACEFULLY_UNMOUNTING(4),
    UNMOUNTING(5);

    private final int number;

    SegmentStatus(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    /** The constant with this wire number; empty for a number that this release does not know. */
    public static Optional<SegmentStatus> find(int number) {
        for (SegmentStatus value : values()) {
            if (value.number == number) {
                return Optional.of(value);
            }
        }
        return Optional.empty();
    }
}
