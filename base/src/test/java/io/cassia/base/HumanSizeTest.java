package io.cassia.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HumanSizeTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "4096, 4096",
        "1B, 1",
        "64KiB, 65536",
        "64kb, 65536",
        "64 K, 65536",
        "16MB, 16777216",
        "2GiB, 2147483648",
        "2g, 2147483648",
        "1.5GB, 1610612736",
        "' 4 GB ', 4294967296",
        "1TiB, 1099511627776",
        "8388607TiB, 9223370937343148032",
        "9223372036854775807, 9223372036854775807",
        "0.3KiB, 307",
        "2.0, 2",
    })
    void a_size_is_read_as_people_write_it(String text, long bytes) {
        assertThat(HumanSize.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", "GiB", "-1", "-2GiB", "+1", "1e9", "2PB", "2 GiBB", "0x10", "1,5GB", "ib",
                "1iB2", "٣"
            })
    void what_is_no_size_is_refused_with_examples(String text) {
        assertThatThrownBy(() -> HumanSize.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "' is not a size")
                .hasMessageContaining("2GiB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"9223372036854775808", "8388608TiB", "9999999999999999999GiB"})
    void a_size_beyond_63_bits_is_refused(String text) {
        assertThatThrownBy(() -> HumanSize.parse(text)).hasMessageContaining("more than 2^63-1");
    }

    @Test
    void half_a_byte_is_refused() {
        assertThatThrownBy(() -> HumanSize.parse("0.5")).hasMessageContaining("whole number");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1 KiB",
        "1536, 1.50 KiB",
        "1048575, 1024.00 KiB",
        "2147483648, 2 GiB",
        "9223372036854775807, 8388608.00 TiB",
    })
    void a_size_is_written_in_its_largest_unit(long bytes, String text) {
        assertThat(HumanSize.format(bytes)).isEqualTo(text);
    }

    @Test
    void a_negative_size_is_a_bug() {
        assertThatThrownBy(() -> HumanSize.format(-1)).isInstanceOf(IllegalArgumentException.class);
    }
}
