package io.cassia.rpc.mooncake;

import java.util.Optional;

/**
 * What Ping tells a client about itself. Messages carry the number, so that an unknown one
 * survives. Immutable.
 */
public enum ClientStatus {
    UNDEFINED(0),
    OK(1),
    NEED_REMOUNT(2);

    private final int number;

    ClientStatus(int number) {
        this.number = number;
    }

    public int number() {
        return number;
    }

    /** The constant with this wire number; empty for a number that this release does not know. */
    public static Optional<ClientStatus> find(int number) {
        for (ClientStatus value : values()) {
            if (value.number == number) {
                return Optional.of(value);
            }
        }
        return Optional.empty();
    }
}
