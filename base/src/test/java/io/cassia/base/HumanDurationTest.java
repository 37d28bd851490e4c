package io.cassia.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HumanDurationTest {
    @ParameterizedTest
    @CsvSource({
        "0, PT0S",
        "5, PT5S",
        "200ms, PT0.2S",
        "5s, PT5S",
        "1.5h, PT1H30M",
        "10m, PT10M",
        "10 min, PT10M",
        "2D, PT48H",
        "7us, PT0.000007S",
        "7µs, PT0.000007S",
        "3ns, PT0.000000003S",
        "0.5ns, PT0S",
    })
    void a_duration_is_read_as_people_write_it(String text, Duration duration) {
        assertThat(HumanDuration.parse(text, ChronoUnit.SECONDS)).isEqualTo(duration);
    }

    @Test
    void a_plain_number_has_the_unit_of_its_option() {
        assertThat(HumanDuration.parse("5000", ChronoUnit.MILLIS)).isEqualTo(Duration.ofSeconds(5));
        assertThat(HumanDuration.parse("1.5", ChronoUnit.SECONDS))
                .isEqualTo(Duration.ofMillis(1500));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s", "-1", "-5s", "5 parsecs", "1e3", "5s5", "inf"})
    void what_is_no_duration_is_refused_with_examples(String text) {
        assertThatThrownBy(() -> HumanDuration.parse(text, ChronoUnit.SECONDS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "' is not a duration")
                .hasMessageContaining("200ms");
    }

    @ParameterizedTest
    @ValueSource(strings = {"9223372037s", "9999999999999999999", "106752d"})
    void a_duration_beyond_the_nanosecond_range_is_refused(String text) {
        assertThatThrownBy(() -> HumanDuration.parse(text, ChronoUnit.SECONDS))
                .hasMessageContaining("292 years");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 ns",
        "999, 999 ns",
        "1500, 1.50 us",
        "12345678, 12.3 ms",
        "4560000000, 4.56 s",
        "119000000000, 119 s",
        "125000000000, 2 min 5 s",
        "7260000000000, 2 h 1 min",
    })
    void a_duration_is_written_with_few_digits(long nanos, String text) {
        assertThat(HumanDuration.formatNanos(nanos)).isEqualTo(text);
        assertThat(HumanDuration.format(Duration.ofNanos(nanos))).isEqualTo(text);
    }
}
