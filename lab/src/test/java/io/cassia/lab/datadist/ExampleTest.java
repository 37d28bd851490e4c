package io.cassia.lab.datadist;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example runs as its README says: as a file, beside the jars. */
class ExampleTest {
    private static final Path EXAMPLES =
            Path.of(System.getProperty("cassia.root", ".."), "examples");

    @TempDir private Path directory;

    @Test
    void a_kv_cache_goes_from_prefill_to_decode() throws Exception {
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                EXAMPLES.resolve("PullKvCache.java").toString())
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
        try {
            assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(err)).isZero();
        } finally {
            // The prompt that it started ends with its input, which has ended with this.
            process.destroyForcibly();
        }
        List<String> lines = Files.readAllLines(out);
        assertThat(lines).hasSize(4);
        assertThat(lines.get(0)).startsWith("pulled by key").contains("128 MiB");
        assertThat(lines.get(1)).startsWith("pulled by blocks").contains("128 MiB");
        assertThat(lines.get(2)).startsWith("pushed by layers").contains("128 MiB");
        assertThat(lines.get(3)).isEqualTo("every byte arrived");
    }
}
