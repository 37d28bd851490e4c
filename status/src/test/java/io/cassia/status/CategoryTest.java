package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CategoryTest {
    @ParameterizedTest
    @CsvSource({
        "STORE, -742, STORE_OBJECT",
        "STORE, -2, STORE_INTERNAL",
        "STORE, -9, STORE_INTERNAL",
        "STORE, -10, STORE_BUFFER",
        "STORE, -99, STORE_BUFFER",
        "STORE, -100, STORE_SEGMENT",
        "STORE, -1099, STORE_AVAILABILITY",
        "STORE, -1799, STORE_TENANT",
        "STORE, -1800, STORE_OUTSIDE",
        "STORE, 1, STORE_OUTSIDE",
        "STORE, -2147483648, STORE_OUTSIDE",
        "TRANSFER_ENGINE, -8, TRANSFER_ARGUMENT",
        "TRANSFER_ENGINE, -199, TRANSFER_HANDSHAKE",
        "TRANSFER_ENGINE, -203, TRANSFER_OTHER",
        "TRANSFER_ENGINE, -400, TRANSFER_OUTSIDE",
        "LLM_DATADIST, 1343270915, LLM_UNDOCUMENTED",
        "LLM_DATADIST, -2, LLM_OUTSIDE"
    })
    void range_tells_the_category_of_an_unknown_number(
            Family family, int number, Category category) {
        UnknownCode code = new UnknownCode(family, number);
        assertThat(Category.of(code)).isEqualTo(category);
        assertThat(category.family()).isEqualTo(family);
        assertThat(category.isOutside()).isEqualTo(category.name().endsWith("OUTSIDE"));
    }

    @Test
    void every_defined_code_lies_in_a_category_of_its_family() {
        assertThat(Codes.all())
                .allSatisfy(
                        code -> {
                            assertThat(Category.of(code).family()).isEqualTo(code.family());
                            assertThat(Category.of(code).isOutside()).isFalse();
                        });
    }

    @Test
    void range_is_written_as_the_contract_counts() {
        assertThat(Category.STORE_OBJECT.range()).isEqualTo("-700..-799");
        assertThat(Category.LLM_UNDOCUMENTED.range()).isEqualTo("0x5010B000..0x5010BFFF");
        assertThat(Category.STORE_SUCCESS.range()).isEmpty();
    }
}
