package io.cassia.transfer.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
    void an_interrupt_neither_keeps_memory_nor_gets_lost() throws IOException {
        SharedMapping mapping = SharedMapping.create(1 << 20).orThrow();
        Thread.currentThread().interrupt();
        Outcome<?> closed = mapping.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(closed.isOk()).as("%s", closed).isTrue();
        assertThat(mapping.path()).doesNotExist();
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

    @Test
    void a_region_that_is_freed_holds_no_memory_of_the_host() throws IOException {
        SharedMapping mapping = SharedMapping.create(1 << 20).orThrow();
        Path kept = mapping.path().resolveSibling("kept-" + mapping.path().getFileName());
        Files.createLink(kept, mapping.path());
        try {
            assertThat(Files.size(kept)).isEqualTo(1 << 20);
            assertThat(mapping.close().isOk()).isTrue();
            // A mapping of another process keeps a file as this second name does.
            assertThat(Files.size(kept)).isZero();
        } finally {
            Files.delete(kept);
        }
    }

    @Test
    void directories_beside_files_go_with_them() throws IOException {
        Path file = SharedFiles.DIRECTORY.resolve("cassia-0000000000000000-2");
        Path beside = SharedFiles.beside("cassia-0000000000000000-2");
        Path orphan = SharedFiles.beside("cassia-0000000000000000-3");
        Files.write(file, new byte[10]);
        for (Path directory : List.of(beside, orphan)) {
            // Complete from the start: other processes sweep, too.
            Path made = Files.createTempDirectory(SharedFiles.DIRECTORY, "made-");
            Files.write(made.resolve("data.sock"), new byte[0]);
            Files.move(made, directory);
        }
        SharedFiles.sweep();
        assertThat(file).doesNotExist();
        assertThat(beside).doesNotExist();
        assertThat(orphan).doesNotExist();
        SharedMapping mapping = SharedMapping.create(1).orThrow();
        Path own = SharedFiles.beside(mapping.path().getFileName().toString());
        Files.createDirectory(own);
        SharedFiles.sweep();
        assertThat(own).exists();
        SharedFiles.deleteDirectory(own);
        assertThat(own).doesNotExist();
        assertThat(mapping.close().isOk()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "cassia-",
                "cassia-1",
                "cassia-1-",
                "cassia--1",
                "cassia-1-1.d",
                "cassia-A-1",
                "cassia-1-1/../x",
                "../dev/shm/cassia-1-1",
                "cassia-11111111111111111-1",
                "cassia-1-1111111111111111111",
                "cassia-1-1\n"
            })
    void names_of_peers_lead_nowhere_else(String name) {
        assertThat(SharedFiles.isName(name)).isFalse();
        assertThatThrownBy(() -> PeerFile.map(name))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is no name");
    }

    @Test
    void only_private_files_of_this_user_are_opened(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("file");
        Files.write(file, new byte[] {1, 2, 3});
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertNotOpened(file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        try (FileChannel channel = SharedFiles.openPrivate(file)) {
            assertThat(channel.size()).isEqualTo(3);
        }
        assertNotOpened(Files.createSymbolicLink(directory.resolve("link"), file));
        assertNotOpened(directory);
        assertThatThrownBy(() -> SharedFiles.openPrivate(directory.resolve("absent")))
                .isInstanceOf(NoSuchFileException.class);
    }

    private static void assertNotOpened(Path file) {
        assertThatThrownBy(() -> SharedFiles.openPrivate(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is not a file of this user alone");
    }

    @Test
    void a_process_does_not_open_its_own_files_as_those_of_a_peer() {
        SharedMapping own = SharedMapping.create(1).orThrow();
        assertThatThrownBy(() -> PeerFile.map(own.path().getFileName().toString()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is no name of another process");
        assertThat(own.close().isOk()).isTrue();
    }
}
