package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.testkit.Seeds;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PieceSumsTest {
    private static final int CHUNK = Checksums.CHUNK_BYTES;

    private static byte[] bytes(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Positions at which an object is cut, from 0 to its end, near the edges of chunks or not. */
    private static List<Integer> cuts(SplittableRandom random, int size) {
        BitSet cuts = new BitSet();
        cuts.set(0);
        cuts.set(size);
        for (int i = random.nextInt(40); i > 0; i--) {
            int cut =
                    random.nextBoolean()
                            ? random.nextInt(size)
                            : random.nextInt(4) * CHUNK + random.nextInt(-1, 2);
            cuts.set(Math.clamp(cut, 0, size));
        }
        return cuts.stream().boxed().toList();
    }

    private static void add(PieceSums sums, byte[] bytes, int from, int to) {
        sums.add(from, MemorySegment.ofArray(bytes).asSlice(from, to - from));
    }

    private static ByteString sumsOf(byte[] bytes) {
        return Checksums.of(List.of(MemorySegment.ofArray(bytes)));
    }

    @Test
    void sums_of_pieces_in_any_order_are_those_of_the_object() {
        Seeds.forEach(
                300,
                seed -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    byte[] bytes = bytes(random, random.nextInt(1, 4 * CHUNK));
                    List<Integer> cuts = cuts(random, bytes.length);
                    List<Integer> order = new ArrayList<>();
                    for (int i = 0; i < cuts.size() - 1; i++) {
                        order.add(i);
                    }
                    Collections.shuffle(order, new Random(seed));
                    PieceSums sums = new PieceSums(bytes.length);
                    BitSet there = new BitSet();
                    for (int piece : order) {
                        assertThat(sums.firstMissing()).isEqualTo(there.nextClearBit(0));
                        add(sums, bytes, cuts.get(piece), cuts.get(piece + 1));
                        there.set(cuts.get(piece), cuts.get(piece + 1));
                    }
                    assertThat(sums.firstMissing()).isEqualTo(bytes.length);
                    assertThat(sums.nextMixed(0)).isEqualTo(-1);
                    assertThat(sums.sums()).isEqualTo(sumsOf(bytes));
                });
    }

    /** What a sum is said to be known for is what a memory holds that took the same pieces. */
    @Test
    void no_sum_is_wrong_whatever_is_written_over() {
        Seeds.forEach(
                300,
                seed -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    int size = random.nextInt(1, 4 * CHUNK);
                    byte[] memory = new byte[size];
                    BitSet there = new BitSet();
                    PieceSums sums = new PieceSums(size);
                    for (int i = random.nextInt(1, 60); i > 0; i--) {
                        List<Integer> cuts = cuts(random, size);
                        int piece = random.nextInt(cuts.size() - 1);
                        int from = cuts.get(piece);
                        int to = cuts.get(piece + 1);
                        byte[] fresh = bytes(random, size);
                        System.arraycopy(fresh, from, memory, from, to - from);
                        add(sums, fresh, from, to);
                        there.set(from, to);
                        assertThat(sums.firstMissing()).isEqualTo(there.nextClearBit(0));
                    }
                    assertKnownSumsAreRight(sums, memory, there);
                });
    }

    private static void assertKnownSumsAreRight(PieceSums sums, byte[] memory, BitSet there) {
        ByteString right = sumsOf(memory);
        for (int chunk = 0; chunk < Checksums.chunks(memory.length); chunk++) {
            int from = chunk * CHUNK;
            int to = Math.min(memory.length, from + CHUNK);
            boolean whole = there.nextClearBit(from) >= to;
            if (sums.nextMixed(chunk) == chunk) {
                assertThat(whole).isTrue();
                sums.settle(chunk, MemorySegment.ofArray(memory).asSlice(from, to - from));
                assertThat(sums.nextMixed(chunk)).isNotEqualTo(chunk);
            }
            if (whole) {
                assertThat(Checksums.read(sums.sums(), chunk))
                        .isEqualTo(Checksums.read(right, chunk));
            }
        }
    }

    @Test
    void chunk_that_is_written_over_in_part_is_mixed_until_it_is_written_over_as_a_whole() {
        byte[] bytes = bytes(new SplittableRandom(1), 2 * CHUNK);
        PieceSums sums = new PieceSums(bytes.length);
        add(sums, bytes, 0, 2 * CHUNK);
        assertThat(sums.nextMixed(0)).isEqualTo(-1);
        add(sums, bytes, CHUNK + 1, CHUNK + 2);
        assertThat(sums.nextMixed(0)).isEqualTo(1);
        add(sums, bytes, 0, 2 * CHUNK);
        assertThat(sums.nextMixed(0)).isEqualTo(-1);
        assertThat(sums.sums()).isEqualTo(sumsOf(bytes));
    }

    @Test
    void piece_that_covers_all_that_came_before_replaces_it() {
        byte[] bytes = bytes(new SplittableRandom(2), CHUNK);
        PieceSums sums = new PieceSums(CHUNK);
        add(sums, bytes(new SplittableRandom(3), CHUNK), 100, 200);
        add(sums, bytes(new SplittableRandom(4), CHUNK), 300, 400);
        add(sums, bytes(new SplittableRandom(5), CHUNK), 350, 450);
        add(sums, bytes, 100, 450);
        add(sums, bytes, 450, CHUNK);
        add(sums, bytes, 0, 100);
        assertThat(sums.nextMixed(0)).isEqualTo(-1);
        assertThat(sums.sums()).isEqualTo(sumsOf(bytes));
    }
}
