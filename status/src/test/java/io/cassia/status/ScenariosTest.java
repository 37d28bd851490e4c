package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScenariosTest {
    private static final Scenarios TWO =
            new Scenarios(
                    Map.of(
                            StoreCode.OK, List.of("put a value", "get it", "get it"),
                            TransferCode.OK, List.of("write 1 MiB")));

    @Test
    void file_is_in_the_order_of_the_contract_without_repeats() {
        assertThat(TWO.render().lines().skip(1))
                .containsExactly(
                        "transfer-engine\tOK\twrite 1 MiB",
                        "store\tOK\tget it",
                        "store\tOK\tput a value");
    }

    @Test
    void file_is_read_back_as_it_was() {
        assertThat(Scenarios.parse(TWO.render())).isEqualTo(TWO);
        assertThat(Scenarios.parse(Scenarios.NONE.render())).isEqualTo(Scenarios.NONE);
    }

    @Test
    void code_without_a_test_has_none() {
        assertThat(TWO.of(StoreCode.LEASE_EXPIRED)).isEmpty();
        assertThat(TWO.of(StoreCode.OK)).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"store\tNOPE\tx", "store\tOK", "store\tOK\t ", "OK", "x\tOK\ty"})
    void line_that_is_no_scenario_is_refused(String line) {
        assertThatIllegalStateException()
                .isThrownBy(() -> assertThat(Scenarios.parse(line)).isNull())
                .withMessageContaining(line);
    }

    @Test
    void scenarios_of_the_release_are_shown_where_the_code_is_explained() {
        for (Code code : Codes.all()) {
            assertThat(CodeInfo.of(code, Language.EN).scenarios())
                    .isEqualTo(Scenarios.load().of(code));
        }
    }
}
