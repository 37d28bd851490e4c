package io.cassia.testkit;

import java.util.function.LongConsumer;

/**
 * Seeds of property tests. Immutable. Each case is a function of its seed; a failure names the
 * seed, and {@code -Dseed=} runs that case alone.
 */
public final class Seeds {
    private static final long GOLDEN_GAMMA = 0x9e37_79b9_7f4a_7c15L;

    private Seeds() {}

    /** Runs the cases of a test, the same ones each time; with {@code -Dseed=} only that one. */
    public static void forEach(int cases, LongConsumer property) {
        String only = System.getProperty("seed");
        if (only != null) {
            run(Long.parseLong(only), property);
            return;
        }
        long seed = cases;
        for (int i = 0; i < cases; i++) {
            seed += GOLDEN_GAMMA;
            run(seed, property);
        }
    }

    private static void run(long seed, LongConsumer property) {
        try {
            property.accept(seed);
        } catch (Throwable e) {
            throw new AssertionError("failed with -Dseed=" + seed, e);
        }
    }
}
