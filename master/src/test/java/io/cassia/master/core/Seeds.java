package io.cassia.master.core;

import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * Runs a property with several seeds and names the one that failed; {@code -Dseed=} runs one alone,
 * {@code -Dseeds.times=} more of them.
 */
final class Seeds {
    private Seeds() {}

    static void each(int count, Consumer<SplittableRandom> property) {
        Long only = Long.getLong("seed");
        long first = only == null ? System.nanoTime() : only;
        int runs = only == null ? count * Integer.getInteger("seeds.times", 1) : 1;
        for (int i = 0; i < runs; i++) {
            long seed = first + i;
            try {
                property.accept(new SplittableRandom(seed));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("failed with -Dseed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }
}
