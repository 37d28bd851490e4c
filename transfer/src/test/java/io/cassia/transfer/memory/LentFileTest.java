package io.cassia.transfer.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Parts of a file that somebody else owns. */
final class LentFileTest {
    private static final long PAGE = LentFile.pageBytes();
    private static final int LENGTH = (int) (16 * PAGE);

    private Path directory;
    private Path file;

    @BeforeEach
    void create() throws IOException {
        directory = Files.createTempDirectory(Path.of("/dev/shm"), "lent");
        file = Files.write(directory.resolve("kv"), new byte[LENGTH]);
    }

    @AfterEach
    void delete() throws IOException {
        SharedFiles.deleteDirectory(directory);
        assertThat(directory).doesNotExist();
    }

    private static void assertRefused(Outcome<LentFile> outcome, TransferCode code, String why) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(code);
                            assertThat(failed.detail()).contains(why);
                        });
    }

    private static void assertInvalid(Outcome<LentFile> outcome, String why) {
        assertRefused(outcome, TransferCode.ERR_INVALID_ARGUMENT, why);
    }

    private void cutTo(long length) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(length);
        }
    }

    @Test
    void bytes_go_in_and_out_and_the_file_stays() throws IOException {
        LentFile lent = LentFile.map(file, PAGE, 2 * PAGE + 5).orThrow();
        assertThat(lent.memory().byteSize()).isEqualTo(2 * PAGE + 5);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment here = arena.allocate(100);
            here.fill((byte) 7);
            assertThat(lent.write(2 * PAGE - 95, here)).isTrue();
            MemorySegment back = arena.allocate(100);
            assertThat(lent.read(2 * PAGE - 95, back)).isTrue();
            assertThat(back.mismatch(here)).isEqualTo(-1);
        }
        assertThat(lent.close().isOk()).isTrue();
        assertThat(lent.close().isOk()).isTrue();
        assertThat(lent.memory().scope().isAlive()).isFalse();
        byte[] now = Files.readAllBytes(file);
        assertThat(now).hasSize(LENGTH);
        int at = (int) (3 * PAGE - 95);
        assertThat(Arrays.copyOfRange(now, at, at + 100)).containsOnly(7);
        assertThat(now[at - 1]).isZero();
        assertThat(now[at + 100]).isZero();
    }

    @Test
    void what_is_not_in_the_file_is_refused() {
        assertInvalid(LentFile.map(file, 0, 0), "above 0");
        assertInvalid(LentFile.map(file, -PAGE, PAGE), "multiple of " + PAGE);
        assertInvalid(LentFile.map(file, 1, PAGE), "multiple of " + PAGE);
        assertInvalid(LentFile.map(file, 0, LENGTH + 1), "it has " + LENGTH);
        assertInvalid(LentFile.map(file, LENGTH, 1), "it has " + LENGTH);
        assertInvalid(LentFile.map(file, 2L * LENGTH, Long.MAX_VALUE), "it has " + LENGTH);
        Outcome<LentFile> all = LentFile.map(file, 0, LENGTH);
        assertThat(all.isOk()).isTrue();
        assertThat(all.orThrow().close().isOk()).isTrue();
    }

    @Test
    void what_is_no_plain_file_is_refused() throws IOException {
        assertInvalid(LentFile.map(directory.resolve("none"), 0, PAGE), "NoSuchFile");
        assertInvalid(LentFile.map(directory, 0, PAGE), "no regular file");
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        assertInvalid(LentFile.map(link, 0, PAGE), "symbolic link");
        Files.createLink(directory.resolve("second"), file);
        assertInvalid(LentFile.map(file, 0, PAGE), "2 names");
        Files.delete(directory.resolve("second"));
        SharedMapping own = SharedMapping.create(PAGE).orThrow();
        assertInvalid(LentFile.map(own.path(), 0, PAGE), "Cassia itself");
        assertThat(own.close().isOk()).isTrue();
    }

    @Test
    void overlapping_parts_are_refused_until_the_first_is_given_back() {
        LentFile first = LentFile.map(file, 0, 2 * PAGE).orThrow();
        LentFile second = LentFile.map(file, 4 * PAGE, PAGE).orThrow();
        TransferCode overlapped = TransferCode.ERR_ADDRESS_OVERLAPPED;
        assertRefused(LentFile.map(file, PAGE, PAGE), overlapped, "lends already");
        assertRefused(LentFile.map(file, 0, LENGTH), overlapped, "lends already");
        assertThat(first.close().isOk()).isTrue();
        assertRefused(LentFile.map(file, 3 * PAGE, 2 * PAGE), overlapped, "lends already");
        LentFile third = LentFile.map(file, PAGE, 3 * PAGE).orThrow();
        assertThat(second.close().isOk()).isTrue();
        assertThat(third.close().isOk()).isTrue();
    }

    @Test
    void a_file_that_is_cut_off_is_a_result_and_no_signal() throws IOException {
        LentFile lent = LentFile.map(file, 0, LENGTH).orThrow();
        assertThat(lent.isWhole()).isTrue();
        cutTo(4 * PAGE);
        assertThat(lent.isWhole()).isFalse();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(LENGTH);
            assertThat(lent.read(0, all)).isFalse();
            assertThat(lent.write(0, all)).isFalse();
            assertThat(lent.read(LENGTH - 1, all.asSlice(0, 1))).isFalse();
            assertThat(lent.read(0, all.asSlice(0, 4 * PAGE))).isTrue();
        }
        assertThat(Files.size(file)).as("nobody lengthens it").isEqualTo(4 * PAGE);
        assertThat(lent.sizeNow()).isEqualTo(4 * PAGE + " bytes");
        assertThat(lent.close().isOk()).isTrue();
    }

    @Test
    void memory_that_was_freed_is_not_touched() {
        LentFile lent = LentFile.map(file, 0, LENGTH).orThrow();
        MemorySegment gone;
        try (Arena arena = Arena.ofShared()) {
            gone = arena.allocate(ValueLayout.JAVA_LONG);
        }
        assertThatThrownBy(() -> lent.read(0, gone)).isInstanceOf(IllegalStateException.class);
        assertThat(lent.close().isOk()).isTrue();
    }
}
