package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class BenchMasterTest {
    @Test
    void a_master_is_measured_in_a_process_of_its_own_and_its_heap_in_this_one() {
        CliRun run =
                CliRun.of(
                        new FakeBackend(),
                        "bench",
                        "master",
                        "--json",
                        "--no-redis",
                        "--objects=2k",
                        "--heap-objects=20k",
                        "--in-flight=1,8",
                        "--batch-size=2",
                        "--rounds=1",
                        "--duration=20ms");
        assertThat(run.exit()).as(run.err()).isZero();
        JsonNode rows = run.json().get("rows");
        // Three operations: two depths and a batch of each, then the twelve cells of the peers.
        assertThat(rows.size()).isEqualTo(3 * 3 + 12);
        for (JsonNode row : rows) {
            assertThat(row.get("keys").asLong()).as(row.toString()).isPositive();
            assertThat(row.get("p99Nanos").asLong())
                    .isGreaterThanOrEqualTo(row.get("p50Nanos").asLong());
        }
        JsonNode heap = run.json().get("heap").get(0);
        assertThat(heap.get("objects").asLong()).isEqualTo(20_000);
        assertThat(heap.get("heapBytesPerObject").asDouble()).isBetween(100.0, 1000.0);
    }

    @Test
    void the_heap_is_in_the_comma_separated_values_too() {
        CliRun run =
                CliRun.of(
                        new FakeBackend(),
                        "bench",
                        "master",
                        "--csv",
                        "--no-redis",
                        "--objects=2k",
                        "--heap-objects=20k",
                        "--operation=exist",
                        "--in-flight=1",
                        "--batch-size=2",
                        "--rounds=1",
                        "--duration=20ms");
        assertThat(run.exit()).as(run.err()).isZero();
        assertThat(run.out())
                .containsPattern(
                        "\nobjects,heap_bytes_per_object,key_bytes,puts_per_s,exist_p50_us\n20000,")
                .contains("\nexist,1,1,2,2000,");
    }

    @Test
    void wrong_numbers_are_usage_errors() {
        CliRun run = CliRun.of(new FakeBackend(), "bench", "master", "--objects", "200M");
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).contains("not between 0 and 100M");
    }
}
