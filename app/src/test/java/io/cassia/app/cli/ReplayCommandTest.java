package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.replay.ConversationWorkload;
import io.cassia.app.replay.Trace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

class ReplayCommandTest {
    private static final String TRACE =
            """
            {"timestamp": 0, "hash_ids": [1, 2, 3]}
            {"timestamp": 5, "hash_ids": [1, 2, 4]}
            """;

    private final FakeBackend backend = new FakeBackend();
    @TempDir Path dir;
    private Path file = Path.of("");

    @BeforeEach
    void write() throws IOException {
        file = Files.writeString(dir.resolve("t.jsonl"), TRACE);
    }

    @Test
    void the_report_has_the_figures_that_scripts_read() {
        CliRun run =
                CliRun.of(backend, "replay", "--json", "--block-bytes", "1KiB", file.toString());
        assertThat(run.exit()).isZero();
        JsonNode json = run.json();
        assertThat(json.get("requests").asLong()).isEqualTo(2);
        assertThat(json.get("blocks").asLong()).isEqualTo(6);
        assertThat(json.get("hits").asLong()).isEqualTo(2);
        assertThat(json.get("hitRatio").asDouble()).isEqualTo(2 / 6.0);
        assertThat(json.get("bytesRead").asLong()).isEqualTo(2048);
        assertThat(json.get("bytesWritten").asLong()).isEqualTo(4096);
        assertThat(json.get("seconds").asDouble()).isPositive();
        assertThat(json.get("evictions").asLong()).isZero();
        assertThat(json.get("failures").asLong()).isZero();
        assertThat(json.get("failuresByCode").isObject()).isTrue();
        assertThat(json.get("verificationErrors").asLong()).isZero();
        assertThat(json.get("get").get("p99Micros").asDouble()).isPositive();
        assertThat(backend.open).isZero();
    }

    @Test
    void its_own_cluster_evicts_only_on_demand_and_is_closed() {
        CliRun run =
                CliRun.of(
                        backend,
                        "replay",
                        "--memory=10KiB",
                        "--block-bytes=1KiB",
                        "--nodes=3",
                        file.toString());
        assertThat(run.exit()).isZero();
        assertThat(backend.master.config().evictionHighWatermarkRatio()).isEqualTo(1.0);
        assertThat(backend.log)
                .startsWith("cluster 127.0.0.1 [4096, 3072, 3072]")
                .endsWith("closed cluster");
        assertThat(run.out())
                .contains("2 requests, 6 blocks of 1 KiB")
                .contains("2 blocks, 33.33 %")
                .contains("every byte that was read is right");
        assertThat(run.err()).as("no progress bar in a pipe").isEmpty();
    }

    @Test
    void a_wrong_byte_is_exit_code_6_and_named() {
        backend.flippedByte = 17;
        CliRun run = CliRun.of(backend, "replay", "--block-bytes", "64", file.toString());
        assertThat(run.exit()).isEqualTo(6);
        assertThat(run.out())
                .contains("2 WRONG BLOCKS")
                .contains("key replay-64-0/0000000000000001: byte 17 is 0x");
    }

    @Test
    void a_given_cluster_is_used_with_its_tenant() {
        CliRun run =
                CliRun.of(
                        backend,
                        "replay",
                        "--master",
                        "h:1",
                        "--metadata",
                        "P2PHANDSHAKE",
                        "--tenant",
                        "t",
                        file.toString());
        assertThat(run.exit()).isZero();
        assertThat(backend.log)
                .singleElement()
                .asString()
                .contains("master=h:1, metadata=P2PHANDSHAKE")
                .contains("tenant=t");
    }

    @Test
    void a_trace_comes_from_standard_input_too() {
        CliRun run =
                CliRun.of(
                        backend,
                        TRACE.getBytes(StandardCharsets.UTF_8),
                        "replay",
                        "--limit",
                        "1",
                        "--json",
                        "-");
        assertThat(run.json().get("requests").asLong()).isEqualTo(1);
    }

    @Test
    void a_malformed_trace_and_a_missing_one_are_clear_errors() throws IOException {
        Files.writeString(file, TRACE + "{oops\n");
        CliRun malformed = CliRun.of(backend, "replay", file.toString());
        assertThat(malformed.exit()).isEqualTo(2);
        assertThat(malformed.err()).contains("t.jsonl:3: ");
        assertThat(CliRun.of(backend, "replay", dir + "/no.jsonl").exit()).isEqualTo(3);
        assertThat(backend.log).as("no cluster was started for nothing").isEmpty();
    }

    @Test
    void more_memory_than_the_machine_has_is_refused_before_anything_starts() {
        CliRun run = CliRun.of(backend, "replay", "--memory", "4096TiB", file.toString());
        assertThat(run.exit()).isEqualTo(4);
        assertThat(run.err()).contains("this machine can lend").contains("--memory");
        assertThat(backend.log).isEmpty();
    }

    @Test
    void the_default_memory_holds_every_block() {
        Trace trace = ConversationWorkload.trace(1, 100);
        assertThat(ReplayRun.memoryForAll(trace, 4096))
                .isGreaterThanOrEqualTo(4096L * trace.distinctBlocks());
        assertThat(ReplayRun.segments(10_000, 1, 3000)).isEqualTo(List.of(9000L));
    }

    @Test
    void the_demo_shows_both_runs_and_repeats_itself() {
        CliRun first = CliRun.of(backend, "demo", "--requests", "50", "--json");
        backend.objects.clear();
        CliRun second = CliRun.of(new FakeBackend(), "demo", "--requests", "50", "--json");
        assertThat(first.exit()).isZero();
        assertThat(first.json().get("ample").get("hits"))
                .isEqualTo(second.json().get("ample").get("hits"));
        assertThat(first.json().get("tight").get("verificationErrors").asLong()).isZero();
        CliRun text = CliRun.of(backend, "demo", "--requests", "50");
        assertThat(text.out())
                .contains("50 turns of conversation")
                .contains("With a tenth of that")
                .contains("./cassia up");
    }
}
