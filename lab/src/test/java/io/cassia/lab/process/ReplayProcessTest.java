package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.replay.TraceReader;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.store.StoreClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The main job in separate processes: replay, every byte proved, whoever dies. */
class ReplayProcessTest {
    @TempDir Path directory;

    @Test
    void replay_goes_on_when_a_node_is_killed() throws Exception {
        Path trace = directory.resolve("trace.jsonl");
        Files.writeString(trace, conversations(400, 30));
        try (ProcessCluster cluster = ProcessCluster.start("--client-ttl", "2s")) {
            cluster.node("64MiB");
            CassiaProcess victim = cluster.node("64MiB");
            try (CassiaProcess replay =
                    CassiaProcess.launch(
                            "replay",
                            trace.toString(),
                            "--master",
                            cluster.address(),
                            "--metadata",
                            "P2PHANDSHAKE",
                            "--block-bytes",
                            "16KiB",
                            "--clients",
                            "2",
                            "--speed",
                            "1",
                            "--json")) {
                // The trace spans six seconds at its own pace: the node dies in the middle.
                Thread.sleep(Duration.ofSeconds(4));
                assertThat(replay.isAlive())
                        .as("still replaying: %s", replay.stderrText())
                        .isTrue();
                victim.kill();
                CassiaProcess.Ended ended = replay.await(Duration.ofSeconds(90));
                assertThat(ended.exit()).as(ended.stderr()).isZero();
                JsonNode report = ended.json();
                assertThat(report.get("verificationErrors").asLong()).isZero();
                assertThat(report.get("requests").asLong()).isEqualTo(400);
                assertThat(report.get("hits").asLong()).isPositive();
            }
        }
    }

    /** Requests of growing conversations, 15 ms apart. */
    private static String conversations(int requests, int users) {
        StringBuilder lines = new StringBuilder();
        int[] turns = new int[users];
        for (int i = 0; i < requests; i++) {
            int user = (int) (((i * 2654435761L) >>> 7) % users);
            turns[user]++;
            StringBuilder ids = new StringBuilder("0");
            for (int block = 0; block < 2 * turns[user]; block++) {
                ids.append(", ").append(1 + user * 1000 + block);
            }
            lines.append(
                    "{\"timestamp\": %d, \"input_length\": 512, \"output_length\": 8, \"hash_ids\": [%s]}%n"
                            .formatted(i * 15, ids));
        }
        return lines.toString();
    }

    private static final int AT_ONCE = 3;

    @Test
    void replays_at_once_store_each_block_once_and_the_next_one_finds_all() throws Exception {
        Path trace = directory.resolve("trace.jsonl");
        Files.writeString(trace, conversations(400, 30));
        try (ProcessCluster cluster = ProcessCluster.start()) {
            cluster.node("64MiB");
            cluster.remoteNode("64MiB");
            String[] command = {
                "replay",
                trace.toString(),
                "--master",
                cluster.address(),
                "--metadata",
                "P2PHANDSHAKE",
                "--block-bytes",
                "4KiB",
                "--clients",
                "2",
                "--json"
            };
            List<CassiaProcess> replays = new ArrayList<>();
            try {
                for (int i = 0; i < AT_ONCE; i++) {
                    replays.add(CassiaProcess.launch(command));
                }
                for (CassiaProcess replay : replays) {
                    assertExact(replay.await(Duration.ofSeconds(90)));
                }
            } finally {
                for (CassiaProcess replay : replays) {
                    replay.close();
                }
            }
            JsonNode next = assertExact(CassiaProcess.run(command));
            assertThat(next.get("hits").asLong()).isEqualTo(next.get("blocks").asLong());
            try (StoreClient client = cluster.client()) {
                Stats stats = client.stats().orThrow();
                assertThat(stats.objects())
                        .isEqualTo(
                                TraceReader.read(List.of(trace), Long.MAX_VALUE)
                                        .orThrow()
                                        .distinctBlocks());
                assertThat(stats.evictedObjects()).isZero();
            }
        }
    }

    private static JsonNode assertExact(CassiaProcess.Ended ended) {
        assertThat(ended.exit()).as(ended.stderr()).isZero();
        JsonNode report = ended.json();
        assertThat(report.get("verificationErrors").asLong()).isZero();
        assertThat(report.get("failures").asLong()).isZero();
        return report;
    }

    @Test
    void recorded_traces_hit_exactly_what_an_endless_cache_hits() throws Exception {
        Path traces = Path.of(System.getProperty("cassia.shared", ""), "traces");
        Assumptions.assumeTrue(
                Files.isDirectory(traces), "the recorded traces are not beside this checkout");
        CassiaProcess.Ended ended =
                CassiaProcess.run(
                        "replay",
                        traces.resolve("synthetic_trace.jsonl").toString(),
                        "--block-bytes",
                        "1KiB",
                        "--json");
        assertThat(ended.exit()).as(ended.stderr()).isZero();
        JsonNode report = ended.json();
        assertThat(report.get("blocks").asLong()).isEqualTo(121_877);
        assertThat(report.get("hits").asLong()).isEqualTo(77_953);
        assertThat(report.get("verificationErrors").asLong()).isZero();
        assertThat(report.get("failures").asLong()).isZero();
    }
}
