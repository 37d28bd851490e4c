package io.cassia.rpc.mooncake;

/**
 * Identity of a client, segment or task: two unsigned 64-bit numbers, written {@code first-second}
 * in decimal. Immutable.
 */
public record Uuid(long first, long second) implements Comparable<Uuid> {
    public static final Uuid ZERO = new Uuid(0, 0);

    @Override
    public int compareTo(Uuid other) {
        int byFirst = Long.compareUnsigned(first, other.first);
        return byFirst != 0 ? byFirst : Long.compareUnsigned(second, other.second);
    }

    @Override
    public String toString() {
        return Long.toUnsignedString(first) + "-" + Long.toUnsignedString(second);
    }
}
