package io.cassia.datadist.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Seeded;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class RangeAllocatorTest {
    private record Range(long offset, long length) {}

    @Test
    void the_smallest_range_that_fits_is_taken() {
        RangeAllocator ranges = new RangeAllocator(0, 10_240, 512);
        long a = ranges.allocate(2048);
        long b = ranges.allocate(512);
        long c = ranges.allocate(1024);
        long d = ranges.allocate(512);
        assertThat(List.of(a, b, c, d)).containsExactly(0L, 2048L, 2560L, 3584L);
        assertThat(ranges.free(a)).isTrue();
        assertThat(ranges.free(c)).isTrue();
        assertThat(ranges.allocate(1000)).isEqualTo(c);
        assertThat(ranges.allocate(1100)).isEqualTo(a);
    }

    @Test
    void what_comes_back_is_joined_on_both_sides() {
        RangeAllocator ranges = new RangeAllocator(0, 1536, 512);
        long a = ranges.allocate(512);
        long b = ranges.allocate(512);
        long c = ranges.allocate(512);
        assertThat(ranges.allocate(1)).isEqualTo(RangeAllocator.NONE);
        assertThat(ranges.free(a)).isTrue();
        assertThat(ranges.free(c)).isTrue();
        assertThat(ranges.largestFreeBytes()).isEqualTo(512);
        assertThat(ranges.free(b)).isTrue();
        assertThat(ranges.largestFreeBytes()).isEqualTo(1536);
        assertThat(ranges.free(b)).isFalse();
    }

    /** Invariant 4 on one range: grants never overlap nor exceed it, and all of it comes back. */
    @Test
    void grants_are_disjoint_aligned_and_come_back() {
        Seeded.check(100, RangeAllocatorTest::grantsAreSound);
    }

    private static void grantsAreSound(SplittableRandom random) {
        long unit = 1L << random.nextInt(9, 13);
        long start = unit * random.nextInt(5);
        RangeAllocator ranges = new RangeAllocator(start, 64 * unit + random.nextInt(512), unit);
        List<Range> live = new ArrayList<>();
        for (int step = 0; step < 200; step++) {
            if (random.nextInt(5) < 3) {
                long bytes = 1 + random.nextLong(12 * unit);
                long largest = ranges.largestFreeBytes();
                long offset = ranges.allocate(bytes);
                long length = (bytes + unit - 1) / unit * unit;
                assertThat(offset != RangeAllocator.NONE).isEqualTo(length <= largest);
                if (offset != RangeAllocator.NONE) {
                    assertThat((offset - start) % unit).isZero();
                    assertThat(offset).isGreaterThanOrEqualTo(start);
                    assertThat(offset + length).isLessThanOrEqualTo(start + 64 * unit);
                    for (Range other : live) {
                        assertThat(
                                        offset + length <= other.offset()
                                                || other.offset() + other.length() <= offset)
                                .isTrue();
                    }
                    live.add(new Range(offset, length));
                }
            } else if (!live.isEmpty()) {
                Range range = live.remove(random.nextInt(live.size()));
                assertThat(ranges.free(range.offset())).isTrue();
            }
            assertThat(ranges.usedBytes()).isEqualTo(live.stream().mapToLong(Range::length).sum());
        }
        live.forEach(range -> assertThat(ranges.free(range.offset())).isTrue());
        assertThat(ranges.usedBytes()).isZero();
        assertThat(ranges.largestFreeBytes()).isEqualTo(ranges.sizeBytes()).isEqualTo(64 * unit);
    }
}
