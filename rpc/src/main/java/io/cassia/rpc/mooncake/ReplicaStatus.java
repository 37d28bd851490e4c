package io.cassia.rpc.mooncake;

import java.util.Optional;

/** State of one replica. Messages carry the number, so that an unknown one survives. Immutable. */
public enum ReplicaStatus {
    UNDEFINED(0),
    INITIALIZED(1),
    PROCESSING(2),
    COMPLETE(3),
    REMOVED(4),
    FAILED(5);

    private final int number;

    ReplicaStatus(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    /** The constant with this wire number; empty for a number that this release does not know. */
    public static Optional<ReplicaStatus> find(int number) {
        for (ReplicaStatus value : values()) {
            if (value.number == number) {
                return Optional.of(value);
            }
        }
        return Optional.empty();
    }
}
