package io.cassia.app.bench;

import io.cassia.base.Clock;
import io.cassia.base.HumanSize;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/**
 * How well the master's allocator uses a segment, and how long it takes, beside best fit with
 * trees. Both get the same sizes and releases, in turns. Confined to its thread.
 */
public final class AllocatorBench {
    /** Of ranges of one size. */
    public static final double UNIFORM_GOAL = 0.875;

    /** Of ranges of random sizes. */
    public static final double RANDOM_GOAL = 0.84;

    private static final long SEGMENT = 1L << 30;
    private static final int FULL_SAMPLES = 500;
    private static final int RELEASED = 4;

    /** Pairs of one measurement: so few that other work of the machine seldom interrupts them. */
    private static final int TIMED = 1000;

    /** Measurements before those that count. */
    private static final int WARM_UP = 50;

    private static final int SMALLEST = 4096;

    /** Ranges live while it is timed, of those that fit: so that there are holes of many sizes. */
    private static final double LIVE_SHARE = 0.9;

    private final Clock clock;
    private final int rounds;

    public AllocatorBench(Clock clock, int rounds) {
        this.clock = clock;
        this.rounds = rounds;
    }

    /** Ranges of {@code bytes} each in a segment of 1 GiB. */
    public AllocatorRow uniform(long bytes) {
        return row(HumanSize.format(bytes), SEGMENT, _ -> () -> bytes, UNIFORM_GOAL);
    }

    /** Ranges of random sizes from {@code bytes} to twice that in a segment of 1 GiB. */
    public AllocatorRow random(long bytes) {
        return row(
                rangeOf(bytes, 2 * bytes),
                SEGMENT,
                seed -> sizes(seed, bytes, 2 * bytes),
                RANDOM_GOAL);
    }

    /** So many ranges of random sizes from 4 KiB to 64 KiB, in a segment that they nearly fill. */
    public AllocatorRow live(long ranges) {
        long mean = (SMALLEST + 16 * SMALLEST) / 2;
        long capacity = (long) (ranges * mean / LIVE_SHARE);
        return row(
                rangeOf(SMALLEST, 16 * SMALLEST),
                capacity,
                seed -> sizes(seed, SMALLEST, 16 * SMALLEST),
                0);
    }

    private static String rangeOf(long least, long most) {
        return HumanSize.format(least) + " to " + HumanSize.format(most);
    }

    private static LongSupplier sizes(long seed, long least, long most) {
        SplittableRandom random = new SplittableRandom(seed);
        return () -> random.nextLong(least, most);
    }

    private AllocatorRow row(
            String text, long capacity, LongFunction<LongSupplier> sizes, double goal) {
        Churn own = new Churn(RangeAllocator.ofMaster(capacity), sizes.apply(capacity));
        Churn trees = new Churn(new RangeAllocator.OfTrees(capacity), sizes.apply(capacity));
        double utilisation = own.utilisation();
        // The trees see the same, so that both have the same holes when they are timed.
        double _ = trees.utilisation();
        own.thinOut();
        trees.thinOut();
        double[] ownNanos = new double[rounds];
        double[] treeNanos = new double[rounds];
        for (int round = -WARM_UP; round < rounds; round++) {
            double one = own.time(clock);
            double other = trees.time(clock);
            if (round >= 0) {
                ownNanos[round] = one;
                treeNanos[round] = other;
            }
        }
        return new AllocatorRow(
                text, own.live, utilisation, goal, median(ownNanos), median(treeNanos));
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    /** Ranges coming and going. */
    private static final class Churn {
        private final RangeAllocator allocator;
        private final LongSupplier sizes;
        private final SplittableRandom random = new SplittableRandom(7);
        private long[] handles = new long[1024];
        int live;

        Churn(RangeAllocator allocator, LongSupplier sizes) {
            this.allocator = allocator;
            this.sizes = sizes;
        }

        private boolean allocate() {
            long handle = allocator.allocate(sizes.getAsLong());
            if (handle == RangeAllocator.NO_SPACE) {
                return false;
            }
            if (live == handles.length) {
                handles = Arrays.copyOf(handles, 2 * live);
            }
            handles[live++] = handle;
            return true;
        }

        private void release() {
            int at = random.nextInt(live);
            allocator.free(handles[at]);
            handles[at] = handles[--live];
        }

        /** Each time that a range does not fit, some that are live are given back. */
        double utilisation() {
            double sum = 0;
            for (int sample = 0; sample < FULL_SAMPLES; sample++) {
                while (allocate()) {
                    // Until it is full.
                }
                sum += allocator.utilisation();
                for (int i = 0; i < RELEASED && live > 0; i++) {
                    release();
                }
            }
            return sum / FULL_SAMPLES;
        }

        void thinOut() {
            for (int left = (int) (live * LIVE_SHARE); live > left; ) {
                release();
            }
        }

        /** Nanoseconds of one release and one allocation. */
        double time(Clock clock) {
            long start = clock.nanos();
            for (int i = 0; i < TIMED; i++) {
                release();
                if (!allocate() && live == 0) {
                    throw new IllegalStateException("nothing fits into an empty segment");
                }
            }
            return (clock.nanos() - start) / (double) TIMED;
        }
    }
}
