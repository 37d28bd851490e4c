package io.cassia.datadist.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.datadist.Expect;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules of the spec (4.3) and the vectors of its 2.2. */
final class PoolJsonTest {
    private static final long MIB = 1 << 20;

    @Test
    void a_size_alone_makes_one_range() {
        assertThat(PoolJson.bufPool("{\"buf_pool_size\": 1048576}").orThrow())
                .isEqualTo(new PoolConfig(MIB, 512, List.of()));
    }

    @Test
    void size_classes_add_up() {
        String json =
                """
                {"buf_cfg": [{"total_size": 2097152, "blk_size": 256, "max_buf_size": 8192},
                             {"total_size": 4194304, "blk_size": 65536, "max_buf_size": 65536}]}
                """;
        PoolConfig pool = PoolJson.bufPool(json).orThrow();
        assertThat(pool.totalBytes()).isEqualTo(6 * MIB);
        assertThat(pool.classes())
                .containsExactly(
                        new SizeClass(2 * MIB, 256, 8192), new SizeClass(4 * MIB, 65536, 65536));
    }

    @Test
    void pages_are_64_kib_where_no_shift_is_given() {
        assertThat(PoolJson.memPool("{\"memory_size\": 1048576}").orThrow())
                .isEqualTo(new PoolConfig(MIB, 65536, List.of()));
        assertThat(PoolJson.memPool("{\"memory_size\": 1024, \"page_shift\": 10}").isOk()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``|JSON",
                "{}|neither",
                "{|JSON",
                "[]|object",
                "7|object",
                "{\"buf_pool_size\": 0}|0",
                "{\"buf_pool_size\": -1}|out of range",
                "{\"buf_pool_size\": \"1024\"}|whole number",
                "{\"buf_pool_size\": 1.5}|whole number",
                "{\"buf_pool_size\": 9223372036854775808}|out of range",
                "{\"buf_cfg\": []}|1..1024",
                "{\"buf_cfg\": [{}]}|total_size is missing",
                "{\"buf_pool_size\": 1048576, \"buf_cfg\": [{\"total_size\":2097152,\"blk_size\":256,\"max_buf_size\":512}]}|smaller than the 2097152",
            })
    void broken_device_pools_are_refused_with_a_reason(String json, String words) {
        Expect.invalid(PoolJson.bufPool(json), words);
    }

    @ParameterizedTest
    @CsvSource({
        "1048576, 256, 512, multiple of 2 MiB",
        "4294967296, 256, 512, 4294967295",
        "2097152, 0, 512, power of two",
        "2097152, 384, 512, power of two",
        "8388608, 4194304, 4194304, power of two",
        "2097152, 1024, 512, max_buf_size 512",
        "2097152, 256, 2097152, max_buf_size 2097152",
    })
    void size_classes_follow_their_rules(long total, long block, long max, String words) {
        Expect.invalid(
                PoolConfig.classes(0, List.of(new SizeClass(total, block, max))),
                "buf_cfg[0]",
                words);
    }

    @Test
    void each_class_grants_more_than_the_one_before() {
        SizeClass one = new SizeClass(2 * MIB, 256, 1024);
        Expect.invalid(PoolConfig.classes(0, List.of(one, one)), "buf_cfg[1]", "exceed");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}|memory_size is missing",
                "{\"memory_size\": -1}|out of range",
                "{\"memory_size\": 1048576, \"page_shift\": 9}|10..30",
                "{\"memory_size\": 1048576, \"page_shift\": 31}|10..30",
                "{\"memory_size\": 1023, \"page_shift\": 10}|smaller than a page",
            })
    void broken_paged_pools_are_refused_with_a_reason(String json, String words) {
        Expect.invalid(PoolJson.memPool(json), words);
    }
}
