package io.cassia.gateways.rest;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LendableFilesTest {
    @TempDir private Path directory = Path.of("");

    private static void assertElsewhere(Outcome<Path> outcome) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(StoreCode.INVALID_PARAMS);
                            assertThat(failed.detail()).contains("none of the directories");
                        });
    }

    @Test
    void files_lie_in_one_of_the_directories_or_below() throws IOException {
        Path allowed = directory.resolve("allowed");
        Files.createDirectories(allowed.resolve("below"));
        Path other = Files.createDirectories(directory.resolve("allowed-not"));
        LendableFiles files = new LendableFiles(List.of(Path.of("/dev/shm"), allowed));
        Path real = allowed.toRealPath();
        assertThat(files.at(allowed + "/kv")).isEqualTo(Outcome.ok(real.resolve("kv")));
        assertThat(files.at(allowed + "/below/kv")).isEqualTo(Outcome.ok(real.resolve("below/kv")));
        assertElsewhere(files.at(other + "/kv"));
        assertElsewhere(files.at(directory + "/kv"));
        assertElsewhere(files.at(allowed.toString()));
        assertThat(files.at(allowed + "/none/kv").isOk()).isFalse();
        assertThat(files.at(allowed + "/../allowed/kv").isOk()).isFalse();
    }

    @Test
    void links_do_not_lead_out_of_them() throws IOException {
        Path allowed = Files.createDirectories(directory.resolve("allowed"));
        Path other = Files.createDirectories(directory.resolve("other"));
        Files.createSymbolicLink(allowed.resolve("door"), other);
        assertElsewhere(new LendableFiles(List.of(allowed)).at(allowed + "/door/kv"));
    }

    @Test
    void without_directories_nothing_is_lent() {
        LendableFiles none = new LendableFiles(List.of());
        assertElsewhere(none.named("kv"));
        assertElsewhere(none.at("/dev/shm/kv"));
    }
}
