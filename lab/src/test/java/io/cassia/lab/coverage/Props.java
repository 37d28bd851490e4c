package io.cassia.lab.coverage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;

import io.cassia.status.CassiaException;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.status.TransferCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Test classes that {@link CoverageTest} runs, most of which must fail. Not run by themselves. */
final class Props {
    private Props() {}

    private static Outcome<Done> failed(StoreCode code, String detail) {
        return Outcome.failed(code, detail);
    }

    static class Proves {
        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = "The master is stopped.")
        void failure(Coverage coverage) {
            coverage.expect(failed(StoreCode.RPC_FAIL, "refused"), StoreCode.RPC_FAIL);
        }

        @Test
        @Covers(
                store = StoreCode.OK,
                transfer = {TransferCode.OK, TransferCode.ERR_DNS},
                scenario = "All at once.")
        @Covers(llm = LlmStatus.LLM_FAILED, scenario = "Thrown.")
        void several(Coverage coverage) {
            coverage.expect(Outcome.done(), StoreCode.OK);
            coverage.expect(Outcome.done(), TransferCode.OK);
            coverage.expect(TransferCode.ERR_DNS, "no address", TransferCode.ERR_DNS);
            coverage.expect(
                    new CassiaException(LlmStatus.LLM_FAILED, "not initialised"),
                    LlmStatus.LLM_FAILED);
        }

        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = "The master is killed.")
        void again(Coverage coverage) {
            coverage.expect(failed(StoreCode.RPC_FAIL, "reset"), StoreCode.RPC_FAIL);
        }
    }

    static class WrongCode {
        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = "x.")
        void wrong_code(Coverage coverage) {
            coverage.expect(failed(StoreCode.RPC_TIMEOUT, "late"), StoreCode.RPC_FAIL);
        }
    }

    static class EmptyDetail {
        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = "x.")
        void empty_detail(Coverage coverage) {
            coverage.expect(failed(StoreCode.RPC_FAIL, " "), StoreCode.RPC_FAIL);
        }
    }

    static class SuccessInstead {
        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = "x.")
        void success_instead(Coverage coverage) {
            coverage.expect(Outcome.done(), StoreCode.RPC_FAIL);
        }
    }

    static class NotShown {
        @Test
        @Covers(
                store = {StoreCode.RPC_FAIL, StoreCode.RPC_TIMEOUT},
                scenario = "x.")
        void not_shown(Coverage coverage) {
            coverage.expect(failed(StoreCode.RPC_FAIL, "refused"), StoreCode.RPC_FAIL);
        }
    }

    static class ShownNothing {
        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = "x.")
        void shown_nothing() {}
    }

    static class NotDeclared {
        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = "x.")
        void not_declared(Coverage coverage) {
            coverage.expect(failed(StoreCode.RPC_FAIL, "refused"), StoreCode.RPC_FAIL);
            coverage.expect(failed(StoreCode.RPC_TIMEOUT, "late"), StoreCode.RPC_TIMEOUT);
        }
    }

    static class FailsLater {
        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = "x.")
        void fails_later(Coverage coverage) {
            coverage.expect(failed(StoreCode.RPC_FAIL, "refused"), StoreCode.RPC_FAIL);
            fail("later");
        }
    }

    static class NoScenario {
        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = " ")
        void no_scenario(Coverage coverage) {
            coverage.expect(failed(StoreCode.RPC_FAIL, "refused"), StoreCode.RPC_FAIL);
        }
    }

    static class NoCode {
        @Test
        @Covers(scenario = "x.")
        void no_code() {}
    }

    static class DeclaredTwice {
        @Test
        @Covers(store = StoreCode.RPC_FAIL, scenario = "x.")
        @Covers(store = StoreCode.RPC_FAIL, scenario = "y.")
        void declared_twice(Coverage coverage) {
            coverage.expect(failed(StoreCode.RPC_FAIL, "refused"), StoreCode.RPC_FAIL);
        }
    }

    static class Each {
        @ParameterizedTest
        @EnumSource(names = {"DFS_STALE_HANDLE", "DFS_PARTIAL_WRITE"})
        @Covers(
                store = {StoreCode.DFS_STALE_HANDLE, StoreCode.DFS_PARTIAL_WRITE},
                scenario = "The file system fails in each way.")
        void each(StoreCode code, Coverage coverage) {
            coverage.expect(failed(code, "injected"), code);
        }
    }

    static class NotEach {
        @ParameterizedTest
        @EnumSource(names = "DFS_STALE_HANDLE")
        @Covers(
                store = {StoreCode.DFS_STALE_HANDLE, StoreCode.DFS_PARTIAL_WRITE},
                scenario = "The file system fails in one way only.")
        void not_each(StoreCode code, Coverage coverage) {
            coverage.expect(failed(code, "injected"), code);
        }
    }

    static class Ordinary {
        @Test
        void ordinary() {
            assertThat(Done.values()).hasSize(1);
        }
    }
}
