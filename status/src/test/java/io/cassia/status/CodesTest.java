package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CodesTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "1343270913",
                "0x5010B001",
                "0X5010b001",
                "5010B001",
                " 0x5010B001 ",
                "LLM_WAIT_PROC_TIMEOUT",
                "llm_wait_process_timeout",
                "wait-proc-timeout",
                "llm-datadist:WAIT_PROC_TIMEOUT",
                "LLM_WAIT_PROC_TIMEOUT(0x5010B001)"
            })
    void one_status_is_found_by_all_its_spellings(String query) {
        assertThat(Codes.find(query).codes()).containsExactly(LlmStatus.LLM_WAIT_PROC_TIMEOUT);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-707",
                "4294966589",
                "0xFFFFFD3D",
                "lease_expired",
                "Lease-Expired",
                "lease expired",
                "store:LEASE_EXPIRED",
                "Store/lease_expired",
                "ErrorCode::LEASE_EXPIRED",
                "LEASE_EXPIRED(-707)"
            })
    void one_store_code_is_found_by_all_its_spellings(String query) {
        assertThat(Codes.find(query).codes()).containsExactly(StoreCode.LEASE_EXPIRED);
    }

    @Test
    void a_shared_number_is_found_in_the_family_that_is_named() {
        assertThat(Codes.find("store:-1").codes()).containsExactly(StoreCode.INTERNAL_ERROR);
        assertThat(Codes.find("te/-200").codes()).containsExactly(TransferCode.ERR_METADATA);
        assertThat(Codes.find("llm:0x0").codes()).containsExactly(LlmStatus.LLM_SUCCESS);
        assertThat(Codes.find("store:1"))
                .isEqualTo(new CodeMatch(List.of(), List.of(StoreCode.INTERNAL_ERROR)));
        assertThat(Codes.find("elsewhere:-1").codes()).isEmpty();
    }

    @Test
    void shared_number_yields_every_family() {
        assertThat(Codes.find("0").codes())
                .containsExactly(TransferCode.OK, StoreCode.OK, LlmStatus.LLM_SUCCESS);
        assertThat(Codes.find("-1").codes())
                .containsExactly(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        StoreCode.INTERNAL_ERROR,
                        LlmStatus.LLM_FAILED);
        assertThat(Codes.find("-200").codes())
                .containsExactly(TransferCode.ERR_METADATA, StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(Codes.find("-300").codes())
                .containsExactly(TransferCode.ERR_NUMA, StoreCode.INVALID_VERSION);
    }

    @Test
    void shared_name_yields_every_family_unless_one_is_named() {
        assertThat(Codes.find("ok").codes()).containsExactly(TransferCode.OK, StoreCode.OK);
        assertThat(Codes.find("te:ok").codes()).containsExactly(TransferCode.OK);
    }

    @Test
    void customary_prefix_may_be_left_out() {
        assertThat(Codes.find("dns").codes()).containsExactly(TransferCode.ERR_DNS);
        assertThat(Codes.find("timeout").codes()).containsExactly(LlmStatus.LLM_TIMEOUT);
    }

    @Test
    void every_name_finds_its_code_and_every_number_too() {
        assertThat(Codes.all())
                .allSatisfy(
                        code -> {
                            String family = code.family().label();
                            assertThat(Codes.find(family + ":" + code.name()).codes())
                                    .containsExactly(code);
                            String number = code.family().format(code.number());
                            assertThat(Codes.find(number).codes()).contains(code);
                        });
    }

    @Test
    void unknown_number_inside_a_range_is_kept_as_unknown() {
        assertThat(Codes.find("-742").codes()).containsExactly(new UnknownCode(Family.STORE, -742));
        assertThat(Codes.find("0x5010B003").codes())
                .containsExactly(new UnknownCode(Family.LLM_DATADIST, 0x5010B003));
    }

    @Test
    void positive_number_suggests_its_negative() {
        CodeMatch match = Codes.find("707");
        assertThat(match.isEmpty()).isTrue();
        assertThat(match.suggestions()).containsExactly(StoreCode.LEASE_EXPIRED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"LEASE_EXPIERD", "leas_expired", "store:LEASE_EXPIREDD", "LEESE-EXPIRED"})
    void misspelt_name_suggests_the_right_one_first(String query) {
        CodeMatch match = Codes.find(query);
        assertThat(match.codes()).isEmpty();
        assertThat(match.suggestions()).first().isEqualTo(StoreCode.LEASE_EXPIRED);
    }

    @Test
    void misspelling_is_only_compared_within_the_family_named() {
        assertThat(Codes.find("llm:LEASE_EXPIERD").suggestions()).isEmpty();
    }

    @Test
    void part_of_a_name_suggests_the_names_that_contain_it() {
        assertThat(Codes.find("lease").suggestions())
                .contains(StoreCode.OBJECT_HAS_LEASE, StoreCode.LEASE_EXPIRED);
        assertThat(Codes.find("file").suggestions()).hasSize(5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "xyzzy", "99999999999", "0xZZ", "-", "()", "123456", ":"})
    void nonsense_finds_nothing_and_does_not_fail(String query) {
        assertThat(Codes.find(query)).isEqualTo(new CodeMatch(List.of(), List.of()));
    }
}
