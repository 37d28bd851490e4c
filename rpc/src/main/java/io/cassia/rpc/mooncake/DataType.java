package io.cassia.rpc.mooncake;

import java.util.Optional;

/**
 * What the bytes of an object are; informational. Messages carry the number, so that an unknown one
 * survives. Immutable.
 */
public enum DataType {
    UNKNOWN(0),
    KVCACHE(1),
    TENSOR(2),
    WEIGHT(3),
    SAMPLE(4),
    ACTIVATION(5),
    GRADIENT(6),
    OPTIMIZER_STATE(7),
    METADATA(8),
    GENERAL(9);

    private final int number;

    DataType(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    /** The constant with this wire number; empty for a number that this release does not know. */
    public static Optional<DataType> find(int number) {
        for (DataType value : values()) {
            if (value.number == number) {
                return Optional.of(value);
            }
        }
        return Optional.empty();
    }
}
