package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CodeTest {
    @ParameterizedTest
    @EnumSource(StoreCode.class)
    void store_number_leads_back_to_its_code(StoreCode code) {
        assertThat(StoreCode.fromInt(code.toInt())).isSameAs(code);
    }

    @ParameterizedTest
    @EnumSource(TransferCode.class)
    void transfer_number_leads_back_to_its_code(TransferCode code) {
        assertThat(TransferCode.fromInt(code.toInt())).isSameAs(code);
    }

    @ParameterizedTest
    @EnumSource(LlmStatus.class)
    void llm_number_leads_back_to_its_code(LlmStatus code) {
        assertThat(LlmStatus.fromInt(code.toInt())).isSameAs(code);
    }

    @Test
    void unknown_number_is_kept_with_its_family() {
        Code store = StoreCode.fromInt(-742);
        assertThat(store).isEqualTo(new UnknownCode(Family.STORE, -742));
        assertThat(store.toInt()).isEqualTo(-742);
        assertThat(store.isOk()).isFalse();
        assertThat(store.label()).isEqualTo("UNKNOWN(-742)");
        assertThat(TransferCode.fromInt(-742)).isNotEqualTo(store);
        assertThat(LlmStatus.fromInt(0x5010B0FF).label()).isEqualTo("UNKNOWN(0x5010B0FF)");
    }

    @Test
    void only_the_three_zeros_are_ok() {
        assertThat(Codes.all().stream().filter(Code::isOk))
                .containsExactly(TransferCode.OK, StoreCode.OK, LlmStatus.LLM_SUCCESS);
        assertThat(Codes.all().stream().filter(code -> code.number() == 0)).hasSize(3);
    }

    @Test
    void label_shows_the_number_as_the_family_writes_it() {
        assertThat(StoreCode.LEASE_EXPIRED.label()).isEqualTo("LEASE_EXPIRED(-707)");
        assertThat(LlmStatus.LLM_FAILED.label()).isEqualTo("LLM_FAILED(0xFFFFFFFF)");
        assertThat(LlmStatus.LLM_SUCCESS.label()).isEqualTo("LLM_SUCCESS(0x0)");
        assertThat(Family.LLM_DATADIST.format(0xAB)).isEqualTo("0x000000AB");
    }
}
