package io.cassia.master.core;

import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Runs a property with several seeds and names the one that failed; -Dseed= runs one alone. */
final class Seeds {
    private Seeds() {}

    static void each(int count, Consumer<SplittableRandom> property) {
        Long only = Long.getLong("seed");
        long first = only == null ? System.nanoTime() : only;
        for (int i = 0; i < (only == null ? count : 1); i++) {
            long seed = first + i;
            try {
                property.accept(new SplittableRandom(seed));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("failed with -Dseed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }
}
