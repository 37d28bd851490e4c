package io.cassia.status;

/**
 * A number that a peer sent and that this release does not define: kept, not lost. Immutable.
 *
 * @param family the numeric space it came from
 * @param number the number as received
 */
public record UnknownCode(Family family, int number) implements Code {
    @Override
    public String name() {
        return "UNKNOWN";
    }

    @Override
    public boolean isOk() {
        return false;
    }

    @Override
    public String toString() {
        return label();
    }
}
