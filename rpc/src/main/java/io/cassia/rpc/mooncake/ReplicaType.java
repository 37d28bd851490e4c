package io.cassia.rpc.mooncake;

import java.util.Optional;

/**
 * Kind of replica that an End or Revoke addresses. Messages carry the number, so that an unknown
 * one survives. Immutable.
 */
public enum ReplicaType {
    MEMORY(0),
    DISK(1),
    LOCAL_DISK(2),
    NOF_SSD(3),
    ALL(4),
    DFS(100);

    private final int number;

    ReplicaType(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    /** The constant with this wire number; empty for a number that this release does not know. */
    public static Optional<ReplicaType> find(int number) {
        for (ReplicaType value : values()) {
            if (value.number == number) {
                return Optional.of(value);
            }
        }
        return Optional.empty();
    }
}
