package io.cassia.datadist;

import java.util.SplittableRandom;

/** Immutable. Runs a property with many seeds; a failure names the seed to repeat it with. */
public final class Seeded {
    private Seeded() {}

    /** What holds for every seed. */
    public interface Property {
        void check(SplittableRandom random) throws Exception;
    }

    /** {@code -Dseed=} repeats one. */
    public static void check(int rounds, Property property) {
        Long only = Long.getLong("seed");
        long base = only != null ? only : System.nanoTime();
        for (int i = 0; i < (only != null ? 1 : rounds); i++) {
            long seed = base + i;
            try {
                property.check(new SplittableRandom(seed));
            } catch (Throwable e) {
                throw new AssertionError("repeat with -Dseed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }
}
