package io.cassia.transfer.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

final class SharedMappingTest {
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    @Test
    void memory_is_zeroed_private_to_the_user_and_gone_after_close() throws IOException {
        SharedMapping mapping = SharedMapping.create(10_000_001).orThrow();
        assertThat(mapping.memory().byteSize()).isEqualTo(10_000_001);
        assertThat(mapping.memory().get(BYTE, 10_000_000)).isZero();
        mapping.memory().set(BYTE, 10_000_000, (byte) 5);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(mapping.path())))
                .isEqualTo("rw-------");
        assertThat(mapping.close().isOk()).isTrue();
        assertThat(mapping.path()).doesNotExist();
        assertThat(mapping.memory().scope().isAlive()).isFalse();
        assertThat(mapping.close().isOk()).isTrue();
    }

    @Test
    void lengths_that_cannot_be_had_are_refused() {
        assertThat(SharedMapping.create(0))
                .matches(o -> code(o) == TransferCode.ERR_INVALID_ARGUMENT);
        assertThat(SharedMapping.create(-1))
                .matches(o -> code(o) == TransferCode.ERR_INVALID_ARGUMENT);
        assertThat(SharedMapping.create(1L << 60)).matches(o -> code(o) == TransferCode.ERR_MEMORY);
    }

    private static Object code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : "ok";
    }

    @Test
    void files_of_killed_processes_are_swept_and_those_of_the_living_are_not() throws IOException {
        Path left = SharedFiles.DIRECTORY.resolve("cassia-0000000000000000-1");
        Files.write(left, new byte[10]);
        SharedMapping mapping = SharedMapping.create(4096).orThrow();
        SharedMapping other = SharedMapping.create(4096).orThrow();
        assertThat(left).doesNotExist();
        assertThat(mapping.path()).exists();
        assertThat(mapping.close().isOk()).isTrue();
        assertThat(other.close().isOk()).isTrue();
    }
}
