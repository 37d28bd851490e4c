package io.cassia.datadist.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Seeded;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class PiecesTest {
    @Test
    void neighbours_on_both_sides_become_one_piece() {
        Pieces pieces = Pieces.blocks(new long[] {1, 2, 3, 7, 9}, new long[] {4, 5, 6, 0, 1}, 100);
        assertThat(pieces.count()).isEqualTo(3);
        assertThat(pieces.srcOffset(0)).isEqualTo(100);
        assertThat(pieces.dstOffset(0)).isEqualTo(400);
        assertThat(pieces.lengthBytes(0)).isEqualTo(300);
        assertThat(pieces.lengthBytes(1)).isEqualTo(100);
        assertThat(pieces.totalBytes()).isEqualTo(500);
    }

    @Test
    void neighbours_on_one_side_stay_apart() {
        assertThat(Pieces.blocks(new long[] {0, 1}, new long[] {0, 2}, 8).count()).isEqualTo(2);
        assertThat(Pieces.blocks(new long[] {0, 2}, new long[] {0, 1}, 8).count()).isEqualTo(2);
        assertThat(Pieces.blocks(new long[] {1, 0}, new long[] {1, 0}, 8).count()).isEqualTo(2);
    }

    @Test
    void a_batch_fills_its_last_block_in_part() {
        Pieces pieces = Pieces.batchToBlocks(0, 250, new long[] {5, 3, 4}, 100);
        assertThat(pieces.count()).isEqualTo(2);
        assertThat(pieces.srcOffset(1)).isEqualTo(100);
        assertThat(pieces.dstOffset(1)).isEqualTo(300);
        assertThat(pieces.lengthBytes(1)).isEqualTo(150);
    }

    /** Invariant 3: joined runs move the same bytes as block by block. */
    @Test
    void joined_runs_move_what_single_blocks_would() {
        Seeded.check(300, PiecesTest::joinedRunsMoveTheSame);
    }

    private static void joinedRunsMoveTheSame(SplittableRandom random) {
        int blockBytes = random.nextInt(1, 9);
        int blocks = random.nextInt(1, 40);
        long[] src = runs(random, blocks);
        long[] dst = permutation(random, blocks);
        if (random.nextBoolean()) {
            dst = src.clone();
        }
        byte[] from = new byte[blocks * blockBytes];
        random.nextBytes(from);
        byte[] expected = new byte[from.length];
        for (int i = 0; i < blocks; i++) {
            System.arraycopy(
                    from,
                    (int) src[i] * blockBytes,
                    expected,
                    (int) dst[i] * blockBytes,
                    blockBytes);
        }
        byte[] actual = new byte[from.length];
        Pieces pieces = Pieces.blocks(src, dst, blockBytes);
        for (int p = 0; p < pieces.count(); p++) {
            System.arraycopy(
                    from,
                    (int) pieces.srcOffset(p),
                    actual,
                    (int) pieces.dstOffset(p),
                    (int) pieces.lengthBytes(p));
        }
        assertThat(actual).isEqualTo(expected);
        assertThat(pieces.totalBytes()).isEqualTo((long) blocks * blockBytes);
    }

    /** A permutation with long ascending runs. */
    private static long[] runs(SplittableRandom random, int blocks) {
        int cut = random.nextInt(blocks);
        long[] list = new long[blocks];
        for (int i = 0; i < blocks; i++) {
            list[i] = (long) ((i + cut) % blocks);
        }
        return list;
    }

    private static long[] permutation(SplittableRandom random, int blocks) {
        long[] list = new long[blocks];
        Arrays.setAll(list, i -> i);
        for (int i = blocks - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            long swap = list[i];
            list[i] = list[j];
            list[j] = swap;
        }
        return list;
    }
}
