package io.cassia.app.bench;

/**
 * One line about the allocator. Immutable.
 *
 * @param sizes of the ranges, for people
 * @param live ranges in use while it was timed, about
 * @param utilisation share of the space that is used when the next range does not fit, on average
 * @param goal that share at least; 0 when there is no goal
 * @param nanos of one allocation and one release together, median of the rounds
 * @param treeNanos the same for best fit with trees of the library, in turns with it
 */
public record AllocatorRow(
        String sizes, long live, double utilisation, double goal, double nanos, double treeNanos) {
    /** Time beside the trees'; below 1 is faster. */
    public double ratio() {
        return treeNanos == 0 ? 0 : nanos / treeNanos;
    }
}
