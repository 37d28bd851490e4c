package io.cassia.transfer;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;

/**
 * How concurrent classes are checked against themselves run by one thread. Immutable.
 *
 * @param operations class with the operations
 * @param before operations of one thread before several begin: none for what happens only once
 */
public record Interleavings(Class<?> operations, int before) {
    /** For an ordinary run: enough to find a mistake that somebody has just made. */
    public void checkBriefly(int scenarios, int interleavings) {
        model(scenarios, interleavings);
    }

    /** For the deep run: few scenarios with few interleavings miss real races. */
    public void checkDeeply() {
        model(30, 1000);
        new StressOptions()
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(before)
                .iterations(30)
                .invocationsPerIteration(1000)
                .check(operations);
    }

    private void model(int scenarios, int interleavings) {
        new ModelCheckingOptions()
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(before)
                .actorsAfter(3)
                .iterations(scenarios)
                .invocationsPerIteration(interleavings)
                .check(operations);
    }
}
