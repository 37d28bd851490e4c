package io.cassia.rpc.mooncake;

import java.util.Optional;

/**
 * What a put does to the soft pin of its object. Messages carry the number, so that an unknown one
 * survives. Immutable.
 */
public enum SoftPinAction {
    PRESERVE(0),
    ENABLE(1),
    DISABLE(2);

    private final int number;

    SoftPinAction(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    /** The constant with this wire number; empty for a number that this release does not know. */
    public static Optional<SoftPinAction> find(int number) {
        for (SoftPinAction value : values()) {
            if (value.number == number) {
                return Optional.of(value);
            }
        }
        return Optional.empty();
    }
}
