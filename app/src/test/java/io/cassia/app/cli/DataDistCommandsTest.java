package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The commands of LLM-DataDist; those that measure start a second process. */
class DataDistCommandsTest {
    private static CliRun run(String line) {
        return CliRun.of(new FakeBackend(), line.split(" ", -1));
    }

    @Test
    void the_demonstration_moves_a_cache_in_three_ways_between_two_processes() {
        CliRun run = run("datadist demo --tokens 40 --rounds 1 --json");
        assertThat(run.err()).isEmpty();
        assertThat(run.exit()).isZero();
        List<String> steps = new ArrayList<>();
        for (JsonNode row : run.json().get("rows")) {
            steps.add(row.get("transport").asString() + ": " + row.get("step").asString());
            assertThat(row.get("verified").asBoolean()).isTrue();
            assertThat(row.get("tokens").asInt()).isEqualTo(48);
            assertThat(row.get("bytes").asLong()).isEqualTo(48 * 131_072);
            assertThat(row.get("bytesPerSecond").asDouble()).isPositive();
        }
        assertThat(steps)
                .containsExactly(
                        "any: pull by key",
                        "any: pull of scattered blocks",
                        "any: push layer by layer",
                        "tcp: pull by key",
                        "tcp: pull of scattered blocks",
                        "tcp: push layer by layer");
    }

    @Test
    void the_demonstration_shows_a_table() {
        CliRun run = run("datadist demo --tokens 16 --rounds 1 --transport shm");
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .startsWith("The KV cache of Llama-3-8B: 32 layers, 8 KV heads of 128 numbers")
                .contains("pull by key                shm            16     2 MiB      64 ")
                .doesNotContain("WRONG");
        assertThat(run.out().lines().filter(line -> line.endsWith("all right"))).hasSize(3);
    }

    @Test
    void the_benchmark_prints_a_markdown_table_with_the_bare_engine_beside() {
        CliRun run =
                run(
                        "bench datadist --total 1MiB --block-size 16KiB,64KiB --rounds 1"
                                + " --transport tcp,shm --clusters 3");
        assertThat(run.err()).isEmpty();
        assertThat(run.exit()).isZero();
        List<String> lines = run.out().lines().toList();
        assertThat(lines.get(0)).startsWith("| transport | operation |");
        assertThat(lines.get(1)).matches("[|-]+");
        assertThat(lines.subList(2, 18)).allMatch(line -> line.matches("[| ].*\\d \\|"));
        assertThat(lines.getLast()).startsWith("3 clusters linked in one call: ");
        JsonNode json =
                run("bench datadist --total 1MiB --block-size 64KiB --rounds 1"
                                + " --transport uds --clusters 0 --json")
                        .json();
        assertThat(json.get("rows")).hasSize(4);
        for (JsonNode row : json.get("rows")) {
            assertThat(row.get("verified").asBoolean()).isTrue();
            assertThat(row.get("ratio").asDouble()).isPositive();
        }
        assertThat(json.get("links")).isEmpty();
    }

    @Test
    void the_other_end_does_what_its_input_says_and_ends_with_it() {
        CliRun run =
                CliRun.of(
                        new FakeBackend(),
                        "allocate batches 2 INT8 1,64 5\nfree 9\nsing\n"
                                .getBytes(StandardCharsets.UTF_8),
                        "datadist peer --pool 1048576 --transport tcp".split(" ", -1));
        assertThat(run.exit()).isZero();
        assertThat(run.out().lines().toList())
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo("ok ready"),
                        line -> assertThat(line).isEqualTo("ok 1"),
                        line -> assertThat(line).startsWith("failed LLM_KV_CACHE_NOT_EXIST"),
                        line -> assertThat(line).startsWith("failed LLM_PARAM_INVALID"));
    }

    @Test
    void what_cannot_be_is_a_usage_error() {
        assertThat(run("datadist").exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run("datadist demo --tokens 0").exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run("datadist demo --transport pigeon").err())
                .contains("'pigeon' is not any, tcp");
        assertThat(run("bench datadist --block-size 12").err()).contains("multiple of 8");
        assertThat(run("bench datadist --clusters 17").exit()).isEqualTo(ExitCodes.USAGE);
        CliRun local = run("datadist demo --tokens 16 --rounds 1 --transport local");
        assertThat(local.exit()).as(local.err()).isNotZero();
        assertThat(local.err()).contains("LLM_");
    }
}
