package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.lab.process.Footprints.Tolerance;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The measure that long runs are held to can fail. */
class FootprintsTest {
    private static final Tolerance TOLERANCE = new Tolerance(100, 100, 1000, 2, 2);
    private static final int SAMPLES = 40;

    private static List<String> growth(IntToLongFunction heap) {
        Footprints footprints = new Footprints();
        for (int i = 0; i < SAMPLES; i++) {
            footprints.add("p", new Footprint(heap.applyAsLong(i), 0, 0, 0, 0, Map.of("A", 7L)));
        }
        return footprints.growth(TOLERANCE);
    }

    @Test
    void warming_up_breathing_and_single_peaks_are_no_growth() {
        assertThat(growth(i -> 5000)).isEmpty();
        assertThat(growth(i -> Math.min(i, 8) * 1000L)).isEmpty();
        assertThat(growth(i -> 5000 + i % 5 * 900)).isEmpty();
        assertThat(growth(i -> i % 8 == 7 ? 90_000 : 5000)).isEmpty();
        assertThat(growth(i -> 5000 - i * 50L)).isEmpty();
    }

    @Test
    void what_rises_steadily_or_stays_up_is_growth() {
        assertThat(growth(i -> 5000 + i * 10L)).first().asString().contains("p: heap KiB grew");
        assertThat(growth(i -> i < 25 ? 5000 : 5200)).isNotEmpty();
    }

    @Test
    void too_few_samples_prove_nothing() {
        Footprints footprints = new Footprints();
        footprints.add("p", new Footprint(1, 1, 1, 1, 1, Map.of()));
        assertThat(footprints.growth(TOLERANCE)).containsExactly("p: only 1 samples");
    }

    /** Each kind is seen in a real process, by its own figure, and the part is named. */
    @ParameterizedTest
    @CsvSource({
        "h, heap KiB, [B",
        "n, native KiB, native Other",
        "t, threads, native Thread",
        "d, descriptors, ''",
        "x, '', ''"
    })
    void process_that_keeps_things_is_found(char kind, String figure, String part)
            throws Exception {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString()));
        command.addAll(List.of(Footprint.JAVA_OPTIONS.split(" ", -1)));
        command.addAll(
                List.of(
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Hoarder.class.getName()));
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = process.inputReader()) {
            assertThat(output.readLine()).isEqualTo("ready");
            Footprints footprints = new Footprints();
            footprints.watch("hoarder", process.pid());
            for (int i = 0; i < 8; i++) {
                process.getOutputStream().write(kind);
                process.getOutputStream().flush();
                assertThat(output.readLine()).isEqualTo("took");
                footprints.sample();
            }
            List<String> growth = footprints.growth(new Tolerance(1500, 1500, 2500, 2, 2));
            if (figure.isEmpty()) {
                assertThat(growth).as(footprints.table()).isEmpty();
            } else {
                assertThat(growth)
                        .as(footprints.table())
                        .anyMatch(line -> line.contains(figure + " grew"))
                        .anyMatch(line -> line.contains("parts") && line.contains(part));
            }
        } finally {
            process.destroyForcibly();
        }
    }
}
