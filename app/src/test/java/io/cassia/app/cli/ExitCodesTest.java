package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Code;
import io.cassia.status.Family;
import io.cassia.status.LlmStatus;
import io.cassia.status.StoreCode;
import io.cassia.status.TransferCode;
import io.cassia.status.UnknownCode;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ExitCodesTest {
    @Test
    void only_success_ends_with_zero() {
        Stream.<Code[]>of(StoreCode.values(), TransferCode.values(), LlmStatus.values())
                .flatMap(Stream::of)
                .forEach(
                        code ->
                                assertThat(ExitCodes.of(code) == 0)
                                        .as(code.label())
                                        .isEqualTo(code.isOk()));
    }

    @Test
    void kinds_of_failure_are_told_apart() {
        assertThat(ExitCodes.of(StoreCode.INVALID_PARAMS)).isEqualTo(2);
        assertThat(ExitCodes.of(StoreCode.OBJECT_NOT_FOUND)).isEqualTo(3);
        assertThat(ExitCodes.of(StoreCode.NO_AVAILABLE_HANDLE)).isEqualTo(4);
        assertThat(ExitCodes.of(StoreCode.RPC_TIMEOUT)).isEqualTo(5);
        assertThat(ExitCodes.of(StoreCode.CHECKSUM_MISMATCH)).isEqualTo(6);
        assertThat(ExitCodes.of(new UnknownCode(Family.STORE, -99999))).isEqualTo(1);
    }
}
