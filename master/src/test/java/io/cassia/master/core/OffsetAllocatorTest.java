package io.cassia.master.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.testkit.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class OffsetAllocatorTest {
    @Test
    void odd_sizes_lie_next_to_each_other() {
        OffsetAllocator allocator = new OffsetAllocator(16 << 20);
        long ten = allocator.allocate(10, 1);
        long one = allocator.allocate(1, 2);
        long seven = allocator.allocate(7, 3);
        assertThat(allocator.offset(ten)).isZero();
        assertThat(allocator.offset(one)).isEqualTo(10);
        assertThat(allocator.offset(seven)).isEqualTo(11);
        assertThat(allocator.usedBytes()).isEqualTo(18);
        assertThat(allocator.largestFreeBytes()).isEqualTo((16 << 20) - 18);
    }

    @Test
    void free_neighbours_become_one_block_again() {
        OffsetAllocator allocator = new OffsetAllocator(300);
        long a = allocator.allocate(100, 1);
        long b = allocator.allocate(100, 2);
        long c = allocator.allocate(100, 3);
        assertThat(allocator.allocate(1, 4)).isEqualTo(OffsetAllocator.NO_SPACE);
        allocator.free(a);
        allocator.free(c);
        assertThat(allocator.largestFreeBytes()).isEqualTo(100);
        assertThat(allocator.allocate(101, 4)).isEqualTo(OffsetAllocator.NO_SPACE);
        allocator.free(b);
        assertThat(allocator.largestFreeBytes()).isEqualTo(300);
        allocator.verify();
    }

    @Test
    void a_stale_handle_is_found_out() {
        OffsetAllocator allocator = new OffsetAllocator(100);
        long first = allocator.allocate(100, 1);
        allocator.free(first);
        long second = allocator.allocate(100, 2);
        assertThat(second).isNotEqualTo(first);
        assertThat(allocator.isLive(first)).isFalse();
        assertThatThrownBy(() -> allocator.free(first)).isInstanceOf(IllegalStateException.class);
        assertThat(allocator.isLive(second)).isTrue();
    }

    @Test
    void sizes_beyond_four_gibibytes_work() {
        long capacity = 1L << 50;
        OffsetAllocator allocator = new OffsetAllocator(capacity);
        long big = allocator.allocate(capacity - 1, 1);
        long last = allocator.allocate(1, 2);
        assertThat(allocator.offset(last)).isEqualTo(capacity - 1);
        assertThat(allocator.allocate(1, 3)).isEqualTo(OffsetAllocator.NO_SPACE);
        allocator.free(big);
        assertThat(allocator.largestFreeBytes()).isEqualTo(capacity - 1);
    }

    /** Naive: a map of free holes; the best fit is the smallest hole that is large enough. */
    private static final class Model {
        final TreeMap<Long, Long> holes = new TreeMap<>();

        Model(long capacity) {
            holes.put(0L, capacity);
        }

        long bestHoleBytes(long length) {
            long best = 0;
            for (long size : holes.values()) {
                if (size >= length && (best == 0 || size < best)) {
                    best = size;
                }
            }
            return best;
        }

        void take(long offset, long length) {
            Map.Entry<Long, Long> hole = holes.floorEntry(offset);
            assertThat(hole).as("hole at %d", offset).isNotNull();
            assertThat(hole.getKey() + hole.getValue())
                    .as("no overlap")
                    .isGreaterThanOrEqualTo(offset + length);
            long size = hole.getValue();
            holes.remove(hole.getKey());
            if (offset > hole.getKey()) {
                holes.put(hole.getKey(), offset - hole.getKey());
            }
            long rest = hole.getKey() + size - offset - length;
            if (rest > 0) {
                holes.put(offset + length, rest);
            }
        }

        void give(long offset, long length) {
            long from = offset;
            long to = offset + length;
            Map.Entry<Long, Long> before = holes.lowerEntry(offset);
            if (before != null && before.getKey() + before.getValue() == from) {
                from = before.getKey();
            }
            Long after = holes.remove(to);
            if (after != null) {
                to += after;
            }
            holes.put(from, to - from);
        }

        long largest() {
            return holes.values().stream().mapToLong(Long::longValue).max().orElse(0);
        }
    }

    @Test
    void agrees_with_a_naive_best_fit_allocator() {
        Seeds.forEach(40, seed -> compareWithModel(new SplittableRandom(seed)));
    }

    private static void compareWithModel(SplittableRandom random) {
        int shape = 1 + random.nextInt(4);
        long capacity = 1 + random.nextLong(1L << (10 + 5 * shape));
        OffsetAllocator allocator = new OffsetAllocator(capacity);
        Model model = new Model(capacity);
        List<Long> live = new ArrayList<>();
        for (int step = 0; step < 1500; step++) {
            if (!live.isEmpty() && random.nextInt(100) < (step % 500 < 250 ? 35 : 60)) {
                long freed = live.remove(random.nextInt(live.size()));
                model.give(allocator.offset(freed), allocator.length(freed));
                allocator.free(freed);
            } else {
                long length = length(random, capacity, shape);
                long hole = model.bestHoleBytes(length);
                long made = allocator.allocate(length, step + 1);
                assertThat(made != OffsetAllocator.NO_SPACE)
                        .as("allocate %d of largest %d", length, model.largest())
                        .isEqualTo(hole != 0);
                if (hole != 0) {
                    Map.Entry<Long, Long> chosen = model.holes.floorEntry(allocator.offset(made));
                    assertThat(chosen.getValue()).as("best fit for %d", length).isEqualTo(hole);
                    model.take(allocator.offset(made), length);
                    assertThat(allocator.owner(made)).isEqualTo(step + 1);
                    live.add(made);
                }
            }
            assertThat(allocator.largestFreeBytes()).isEqualTo(model.largest());
        }
        allocator.verify();
        live.forEach(allocator::free);
        allocator.verify();
        assertThat(allocator.largestFreeBytes()).isEqualTo(capacity);
        assertThat(allocator.usedBytes()).isZero();
    }

    private static long length(SplittableRandom random, long capacity, int shape) {
        return switch (shape) {
            case 1 -> 1 + random.nextLong(Math.max(1, capacity / 16));
            case 2 -> 1L << random.nextInt(63 - Long.numberOfLeadingZeros(capacity) + 1);
            case 3 -> 1 + random.nextLong(Math.max(1, capacity / 100)) * 3;
            default -> Math.max(1, capacity / 64 + random.nextInt(5) - 2);
        };
    }

    @Test
    void every_uniform_size_fills_seven_eighths() {
        double least = 1;
        for (long size = 1; size <= 1 << 20; size = size * 3 / 2 + 1) {
            OffsetAllocator allocator = new OffsetAllocator(Math.max(4096, size * 8 + size / 2));
            List<Long> live = fill(allocator, size, Integer.MAX_VALUE);
            assertThat(utilisation(allocator)).as("size %d", size).isGreaterThanOrEqualTo(0.875);
            least = Math.min(least, utilisation(allocator));
            // Churn must not wear it down.
            SplittableRandom random = new SplittableRandom(size);
            for (int i = 0; i < 200; i++) {
                int at = random.nextInt(live.size());
                allocator.free(live.get(at));
                long again = allocator.allocate(size, 1);
                assertThat(again).isNotEqualTo(OffsetAllocator.NO_SPACE);
                live.set(at, again);
            }
            assertThat(utilisation(allocator)).isGreaterThanOrEqualTo(0.875);
        }
        System.out.printf("uniform sizes: at least %.3f of the space is used%n", least);
    }

    /** The classes of the published table: one size from 2^k up to just below 2^(k+1). */
    @Test
    void every_size_class_of_the_published_table_is_used_well() {
        for (int power = 12; power <= 24; power += 2) {
            OffsetAllocator allocator = new OffsetAllocator(1L << 30);
            SplittableRandom random = new SplittableRandom(power);
            List<Long> live = new ArrayList<>();
            double sum = 0;
            int samples = 0;
            long operations = 0;
            while (samples < 2000) {
                long size = (1L << power) + random.nextLong(1L << power);
                long made = allocator.allocate(size, 1);
                operations++;
                if (made != OffsetAllocator.NO_SPACE) {
                    live.add(made);
                    continue;
                }
                sum += utilisation(allocator);
                samples++;
                for (int i = 0; i < 4; i++) {
                    int last = live.size() - 1;
                    int at = random.nextInt(live.size());
                    allocator.free(live.get(at));
                    live.set(at, live.get(last));
                    live.removeLast();
                    operations++;
                }
            }
            System.out.printf(
                    "sizes from %d KiB: %.3f of the space is used on average, %d operations%n",
                    (1L << power) >> 10, sum / samples, operations);
            assertThat(sum / samples).isGreaterThanOrEqualTo(0.84);
        }
    }

    @Test
    void random_sizes_fill_more_than_84_percent_on_average() {
        Seeds.forEach(
                3,
                seed -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    OffsetAllocator allocator = new OffsetAllocator(64 << 20);
                    List<Long> live = new ArrayList<>();
                    double sum = 0;
                    int samples = 0;
                    for (int step = 0; step < 60_000; step++) {
                        long size = 1 + random.nextLong(256 << 10);
                        long made = allocator.allocate(size, 1);
                        if (made == OffsetAllocator.NO_SPACE) {
                            sum += utilisation(allocator);
                            samples++;
                            for (int i = 0; i < 8; i++) {
                                allocator.free(live.remove(random.nextInt(live.size())));
                            }
                        } else {
                            live.add(made);
                        }
                    }
                    System.out.printf("sizes up to 256 KiB: %.3f on average%n", sum / samples);
                    assertThat(sum / samples).isGreaterThan(0.84);
                });
    }

    private static List<Long> fill(OffsetAllocator allocator, long size, int most) {
        List<Long> live = new ArrayList<>();
        while (live.size() < most) {
            long made = allocator.allocate(size, 1);
            if (made == OffsetAllocator.NO_SPACE) {
                break;
            }
            live.add(made);
        }
        return live;
    }

    private static double utilisation(OffsetAllocator allocator) {
        return (double) allocator.usedBytes() / allocator.capacityBytes();
    }

    @Test
    void allocations_are_visited_in_address_order() {
        OffsetAllocator allocator = new OffsetAllocator(1000);
        List<Long> live = fill(allocator, 10, 10);
        allocator.free(live.remove(3));
        allocator.free(live.remove(0));
        List<Long> visited = new ArrayList<>();
        for (long at = allocator.nextAllocation(0); at != 0; at = allocator.nextAllocation(at)) {
            visited.add(at);
        }
        assertThat(visited).isEqualTo(live);
    }

    @Test
    void tells_who_is_in_the_way_of_a_larger_block() {
        OffsetAllocator allocator = new OffsetAllocator(100);
        List<Long> live = new ArrayList<>();
        for (int owner = 1; owner <= 10; owner++) {
            live.add(allocator.allocate(10, owner));
        }
        allocator.free(live.get(4));
        int[] all = allocator.ownersInTheWay(live.get(3), 40, owner -> true, new int[] {100});
        assertThat(all).containsExactly(4, 6, 7);
        int[] left = allocator.ownersInTheWay(live.get(3), 40, owner -> owner < 6, new int[] {100});
        assertThat(left).containsExactly(2, 3, 4);
        int[] stuck =
                allocator.ownersInTheWay(
                        live.get(3), 40, owner -> owner == 3 || owner == 4, new int[] {100});
        assertThat(stuck).isEmpty();
        assertThat(allocator.ownersInTheWay(live.get(3), 40, owner -> true, new int[] {2}))
                .isEmpty();
    }
}
