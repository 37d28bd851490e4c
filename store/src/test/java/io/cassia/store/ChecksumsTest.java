package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ChecksumsTest {
    private static final byte[] CHECK = "123456789".getBytes(StandardCharsets.US_ASCII);

    @Test
    void check_values_of_both_sums_are_those_of_their_definitions() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment check = arena.allocateFrom(ValueLayout.JAVA_BYTE, CHECK);
            assertThat(Checksums.read(Checksums.of(List.of(check)), 0)).isEqualTo(0xE3069283);
            assertThat(Crc64.of(List.of(check))).isEqualTo(0x6C40DF5F0B497347L);
            assertThat(Crc64.of(List.of(check.asSlice(0, 4), check.asSlice(4))))
                    .isEqualTo(0x6C40DF5F0B497347L);
        }
    }

    @Test
    void how_an_object_is_cut_does_not_matter_and_one_flipped_bit_does() {
        Random random = new Random(5);
        try (Arena arena = Arena.ofConfined()) {
            for (int length : new int[] {1, 4096, 65535, 65536, 65537, 200_000}) {
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                MemorySegment whole = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
                List<MemorySegment> parts = new ArrayList<>();
                for (long at = 0; at < length; ) {
                    long step = Math.min(length - at, 1 + random.nextInt(70_000));
                    parts.add(whole.asSlice(at, step));
                    at += step;
                }
                ByteString sums = Checksums.of(List.of(whole));
                assertThat(Checksums.of(parts)).isEqualTo(sums);
                assertThat(Checksums.fits(sums, length)).isTrue();
                assertThat(Checksums.firstWrong(sums, 0, parts)).isEqualTo(-1);
                int flipped = random.nextInt(length);
                whole.set(ValueLayout.JAVA_BYTE, flipped, (byte) (bytes[flipped] ^ 4));
                assertThat(Checksums.firstWrong(sums, 0, parts)).isEqualTo(flipped / 65536);
            }
        }
    }
}
