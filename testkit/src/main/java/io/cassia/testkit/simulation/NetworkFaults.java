package io.cassia.testkit.simulation;

/**
 * What a network does to messages. Immutable.
 *
 * @param minNanos shortest way
 * @param maxNanos longest way of a message that is not late
 * @param dropChance of a message that never arrives
 * @param lateChance of a message that takes up to {@code lateNanos}, so that later ones overtake it
 * @param duplicateChance of a message that arrives again, late
 */
public record NetworkFaults(
        long minNanos,
        long maxNanos,
        double dropChance,
        double lateChance,
        long lateNanos,
        double duplicateChance) {
    public NetworkFaults {
        if (minNanos < 0 || maxNanos < minNanos || lateNanos < 0) {
            throw new IllegalArgumentException("ways must not be negative, nor the longest short");
        }
    }

    /** The same ways, and nothing goes wrong. */
    public NetworkFaults healed() {
        return new NetworkFaults(minNanos, maxNanos, 0, 0, 0, 0);
    }
}
