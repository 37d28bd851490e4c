package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.testkit.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class Crc32cTest {
    private static int sum(byte[] bytes, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, to - from);
        return (int) crc.getValue();
    }

    @Test
    void check_value_is_put_together_from_its_parts() {
        byte[] check = "123456789".getBytes(StandardCharsets.US_ASCII);
        for (int cut = 0; cut <= check.length; cut++) {
            int first = sum(check, 0, cut);
            int second = sum(check, cut, check.length);
            assertThat(Crc32c.combine(first, second, check.length - cut)).isEqualTo(0xE3069283);
        }
    }

    @Test
    void sum_of_parts_is_that_of_the_whole_however_it_was_cut() {
        Seeds.forEach(
                500,
                seed -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    byte[] bytes = new byte[random.nextInt(1 << random.nextInt(1, 20))];
                    random.nextBytes(bytes);
                    int all = 0;
                    for (int at = 0; at < bytes.length; ) {
                        int to = at + random.nextInt(1, bytes.length - at + 1);
                        all = Crc32c.combine(all, sum(bytes, at, to), to - at);
                        at = to;
                    }
                    assertThat(all).isEqualTo(sum(bytes, 0, bytes.length));
                });
    }

    /** Longer than can be summed in a test: the order in which parts are joined does not matter. */
    @Test
    void parts_of_any_length_may_be_joined_in_any_order() {
        Seeds.forEach(
                500,
                seed -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    int a = random.nextInt();
                    int b = random.nextInt();
                    int c = random.nextInt();
                    long bBytes = random.nextLong() >>> random.nextInt(2, Long.SIZE);
                    long cBytes = random.nextLong() >>> random.nextInt(2, Long.SIZE);
                    assertThat(Crc32c.combine(Crc32c.combine(a, b, bBytes), c, cBytes))
                            .isEqualTo(
                                    Crc32c.combine(
                                            a, Crc32c.combine(b, c, cBytes), bBytes + cBytes));
                });
    }
}
