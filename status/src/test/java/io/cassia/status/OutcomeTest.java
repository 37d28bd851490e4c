package io.cassia.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class OutcomeTest {
    private static final Outcome<Integer> FAILED =
            Outcome.failed(StoreCode.LEASE_EXPIRED, "key=a elapsed=12s lease=10s");

    @Test
    void failure_cannot_carry_a_success_code() {
        for (Code ok : new Code[] {TransferCode.OK, StoreCode.OK, LlmStatus.LLM_SUCCESS}) {
            assertThatIllegalArgumentException().isThrownBy(() -> failed(ok));
        }
    }

    private static void failed(Code code) {
        assertThat(Outcome.failed(code, "detail").isOk()).isFalse();
    }

    @Test
    void value_survives_map_and_then() {
        Outcome<String> outcome = Outcome.ok(20).map(n -> n + 1).then(n -> Outcome.ok("n=" + n));
        assertThat(outcome).isEqualTo(Outcome.ok("n=21"));
        assertThat(outcome.isOk()).isTrue();
        assertThat(outcome.orThrow()).isEqualTo("n=21");
    }

    @Test
    void failure_passes_map_and_then_untouched() {
        assertThat(FAILED.map(n -> n + 1)).isEqualTo(FAILED);
        assertThat(FAILED.then(n -> Outcome.done())).isEqualTo(FAILED);
        assertThat(Outcome.ok(1).then(n -> FAILED)).isSameAs(FAILED);
    }

    @Test
    void context_is_put_in_front_of_the_detail() {
        Outcome.Failed<Done> inner = Outcome.failed(StoreCode.RPC_FAIL, "refused");
        assertThat(inner.<Done>in("put k").detail()).isEqualTo("put k: refused");
        assertThat(inner.<Done>in("put k").code()).isEqualTo(StoreCode.RPC_FAIL);
        Outcome.Failed<Done> bare = Outcome.failed(StoreCode.RPC_FAIL, "");
        assertThat(bare.<Done>in("put k").detail()).isEqualTo("put k");
    }

    @Test
    void thrown_failure_carries_code_and_detail_and_turns_back() {
        assertThatExceptionOfType(CassiaException.class)
                .isThrownBy(OutcomeTest::orThrow)
                .withMessage("LEASE_EXPIRED(-707): key=a elapsed=12s lease=10s")
                .satisfies(
                        e -> {
                            assertThat(e.code()).isEqualTo(StoreCode.LEASE_EXPIRED);
                            assertThat(e.detail()).isEqualTo("key=a elapsed=12s lease=10s");
                            assertThat(e.<Integer>toOutcome()).isEqualTo(FAILED);
                        });
    }

    private static void orThrow() {
        assertThat(FAILED.orThrow()).isNull();
    }

    @Test
    void exception_keeps_its_cause() {
        IOException cause = new IOException("disk");
        CassiaException e = new CassiaException(StoreCode.FILE_READ_FAIL, "bucket 7", cause);
        assertThat(e).hasCause(cause).hasMessage("FILE_READ_FAIL(-1102): bucket 7");
    }

    @Test
    void done_is_one_shared_success() {
        assertThat(Outcome.done()).isSameAs(Outcome.done()).isEqualTo(Outcome.ok(Done.DONE));
    }
}
