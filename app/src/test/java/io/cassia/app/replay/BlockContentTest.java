package io.cassia.app.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockContentTest {
    private static MemorySegment block(int bytes, long id) {
        MemorySegment block = MemorySegment.ofArray(new byte[bytes]);
        BlockContent.fill(block, BlockContent.base(0, id));
        return block;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 9, 4095, 4096, 4097, 16384, 20_001})
    void a_filled_block_is_right_and_a_changed_bit_anywhere_is_found(int bytes) {
        MemorySegment block = block(bytes, 42);
        long base = BlockContent.base(0, 42);
        assertThat(BlockContent.mismatch(block, base)).isEqualTo(-1);
        for (int at = 0; at < bytes; at++) {
            byte right = block.get(ValueLayout.JAVA_BYTE, at);
            assertThat(BlockContent.expected(base, at)).isEqualTo(right);
            block.set(ValueLayout.JAVA_BYTE, at, (byte) (right ^ (1 << (at % 8))));
            assertThat(BlockContent.mismatch(block, base)).isEqualTo(at);
            block.set(ValueLayout.JAVA_BYTE, at, right);
        }
    }

    @Test
    void no_word_occurs_twice_among_neighbouring_blocks() {
        Set<Long> words = new HashSet<>();
        int blockBytes = 4096;
        for (long id = 0; id < 64; id++) {
            MemorySegment block = block(blockBytes, id);
            for (long at = 0; at < blockBytes; at += 8) {
                words.add(block.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
            }
        }
        assertThat(words).hasSize(64 * blockBytes / 8);
    }

    @Test
    void seed_and_id_both_choose_the_content() {
        assertThat(BlockContent.base(1, 2)).isNotEqualTo(BlockContent.base(2, 1));
        assertThat(BlockContent.base(0, 1)).isNotEqualTo(BlockContent.base(1, 0));
    }

    @Test
    void a_shifted_block_is_not_right() {
        MemorySegment block = block(4096 + 8, 5);
        assertThat(BlockContent.mismatch(block.asSlice(8, 4096), BlockContent.base(0, 5)))
                .isEqualTo(0);
    }
}
