package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.cluster.Backend;
import io.cassia.base.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The store's bench with its own processes, as small as can be. */
class BenchStoreCommandTest {
    private static CliRun run(String line) {
        return CliRun.of(Backend.real(Clock.system(), Map.of()), line.split(" ", -1));
    }

    @Test
    void each_place_is_measured_beside_the_raw_engine() {
        CliRun run =
                run(
                        "bench store --object-size 4KiB,128KiB --batch-size 1,2 --duration 0.01s"
                                + " --no-redis --json");
        assertThat(run.exit()).as(run.err()).isZero();
        JsonNode rows = run.json().get("rows");
        assertThat(rows).hasSize(3 * 2 * 2 * 2);
        for (JsonNode row : rows) {
            assertThat(row.get("objects").asLong()).isPositive();
            assertThat(row.get("raw").get("meanBytesPerSecond").asDouble()).isPositive();
            assertThat(row.get("redisBytesPerSecond").isNull()).isTrue();
            assertThat(row.get("p99Nanos").asLong())
                    .isGreaterThanOrEqualTo(row.get("p50Nanos").asLong());
        }
        assertThat(rows.get(0).get("where").asString()).isEqualTo("remote tcp");
        assertThat(rows.get(0).get("peerObjectsPerSecond").asDouble()).isEqualTo(3300);
    }

    @Test
    void tables_have_a_head_and_a_line_per_measurement() {
        String cell =
                "bench store --where own --object-size 4KiB --batch-size 1 --duration 0.01s"
                        + " --no-redis --threads 2 ";
        CliRun markdown = run(cell + "--markdown");
        assertThat(markdown.exit()).as(markdown.err()).isZero();
        List<String> lines = markdown.out().lines().toList();
        assertThat(lines).hasSize(4);
        assertThat(lines).allMatch(line -> line.startsWith("|") && line.endsWith("|"));
        assertThat(lines.stream().map(line -> line.split("\\|", -1).length).distinct()).hasSize(1);

        List<String> csv = run(cell + "--csv").out().lines().toList();
        assertThat(csv).hasSize(3);
        assertThat(csv.stream().map(line -> line.split(",", -1).length).distinct()).hasSize(1);
    }

    @Test
    void nonsense_is_refused_before_anything_starts() {
        assertThat(run("bench store --object-size 0").exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run("bench store --where moon").exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run("bench store --duration 0s").exit()).isEqualTo(ExitCodes.USAGE);
    }
}
