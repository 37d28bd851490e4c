package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class BenchAllocatorTest {
    @Test
    void each_size_class_and_each_number_of_ranges_is_a_line() {
        CliRun run =
                CliRun.of(
                        new FakeBackend(),
                        "bench",
                        "allocator",
                        "--json",
                        "--live=1k,2k",
                        "--rounds=1");
        assertThat(run.exit()).as(run.err()).isZero();
        JsonNode rows = run.json().get("rows");
        assertThat(rows.size()).isEqualTo(7 + 7 + 2);
        for (JsonNode row : rows) {
            assertThat(row.get("utilisation").asDouble())
                    .as(row.toString())
                    .isBetween(row.get("goal").asDouble(), 1.0);
            assertThat(row.get("nanos").asDouble()).isPositive();
            assertThat(row.get("treeNanos").asDouble()).isPositive();
        }
        assertThat(rows.get(14).get("live").asLong()).isBetween(900L, 1100L);
    }
}
