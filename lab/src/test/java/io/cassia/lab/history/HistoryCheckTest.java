package io.cassia.lab.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the checker of histories must find. */
class HistoryCheckTest {
    private static final long OLD = Content.version(3, 1, 1);
    private static final long NEW = Content.version(3, 1, 2);

    @TempDir Path directory;

    private List<String> violations(String... lines) throws IOException {
        Path log = directory.resolve("log");
        Files.writeString(log, String.join("\n", lines) + "\nR 3 cut o");
        History history = new History();
        history.add(log);
        return history.violations();
    }

    private static String begin(int change, long start, long version) {
        return "B %d %d 3 %d".formatted(change, start, version);
    }

    private static String read(long version, long start, long end) {
        return "R 3 %d %d %d OK".formatted(version, start, end);
    }

    @Test
    void old_version_may_be_read_until_the_new_one_is_written_and_not_later() throws IOException {
        String[] writes = {
            begin(1, 10, OLD), "E 1 20 OK", begin(2, 30, NEW), "E 2 40 OK",
        };
        assertThat(violations(writes[0], writes[1], writes[2], writes[3], read(OLD, 35, 45)))
                .isEmpty();
        assertThat(violations(writes[0], writes[1], writes[2], writes[3], read(NEW, 31, 45)))
                .isEmpty();
        assertThat(violations(writes[0], writes[1], writes[2], writes[3], read(OLD, 41, 45)))
                .hasSize(1);
    }

    @Test
    void removed_version_is_read_no_more_and_an_unfinished_write_may_be() throws IOException {
        assertThat(
                        violations(
                                begin(1, 10, OLD),
                                "E 1 20 OK",
                                begin(2, 30, 0),
                                "E 2 40 OK",
                                read(OLD, 50, 60)))
                .hasSize(1);
        assertThat(violations(begin(1, 10, OLD), read(OLD, 50, 60))).isEmpty();
        assertThat(violations(begin(1, 10, OLD), "E 1 20 RPC_TIMEOUT", read(OLD, 50, 60)))
                .isEmpty();
    }

    @Test
    void bytes_of_nobody_of_another_key_and_from_the_future_are_found() throws IOException {
        long other = Content.version(4, 1, 1);
        assertThat(violations(read(-1, 10, 20))).hasSize(1);
        assertThat(violations(read(OLD, 10, 20))).hasSize(1);
        assertThat(violations("B 1 5 4 " + other, "E 1 6 OK", read(other, 10, 20))).hasSize(1);
        assertThat(violations(begin(1, 30, OLD), "E 1 40 OK", read(OLD, 10, 20))).hasSize(1);
    }
}
