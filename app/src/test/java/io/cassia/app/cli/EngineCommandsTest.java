package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Region;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The commands that need a Transfer Engine and no cluster. */
class EngineCommandsTest {
    private static CliRun run(String line) {
        return CliRun.of(new FakeBackend(), line.split(" ", -1));
    }

    private static TransferEngine engine() {
        return TransferEngine.start(
                        TransferConfig.p2p("127.0.0.1"), Clock.system(), new SimpleMeterRegistry())
                .orThrow();
    }

    @Test
    void a_bench_starts_both_ends_and_tells_rates_and_percentiles() {
        CliRun run =
                run(
                        "bench transfer --operation=read,write --block_size=4KiB,64KiB"
                                + " --batch_size=1 --duration 0.02s --buffer_size=16MiB --csv");
        assertThat(run.err()).isEmpty();
        assertThat(run.exit()).isZero();
        List<String> lines = run.out().lines().toList();
        assertThat(lines.getFirst())
                .startsWith("operation,block_bytes,batch,threads,seconds,bytes,gb_per_s");
        assertThat(lines.subList(1, lines.size()))
                .extracting(line -> line.substring(0, line.indexOf(",1,1,")))
                .containsExactly("read,4096", "read,65536", "write,4096", "write,65536");
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split(",", -1);
            assertThat(cells).hasSize(16);
            for (int i = 4; i < cells.length; i++) {
                assertThat(Double.parseDouble(cells[i])).as(line).isNotNegative();
            }
            assertThat(Long.parseLong(cells[5])).as("bytes").isPositive();
            assertThat(Double.parseDouble(cells[9]))
                    .as("p95 of %s", line)
                    .isGreaterThanOrEqualTo(Double.parseDouble(cells[8]));
        }
    }

    @Test
    void an_engine_without_a_host_is_a_usage_error() {
        CliRun probe = CliRun.of(new FakeBackend(), "probe", "--host", "", "127.0.0.1:1");
        assertThat(probe.exit()).isEqualTo(2);
        assertThat(probe.err()).contains("--host is empty");
    }

    @Test
    void an_initiator_measures_a_target_that_runs_already() {
        try (TransferEngine target = engine();
                Region region = target.allocate(4 << 20).orThrow();
                RegisteredBuffer _ =
                        target.register(region.memory(), BufferOptions.DEFAULT).orThrow()) {
            String initiator =
                    "bench transfer --mode initiator --no-references --operation write"
                            + " --duration 0.02s --segment_id "
                            + target.localName();
            CliRun run = run(initiator + " --block-size 64KiB --batch-size 4 --threads 2 --json");
            assertThat(run.err()).isEmpty();
            JsonNode row = run.json().get("rows").get(0);
            assertThat(row.get("bytes").asLong()).isPositive();
            assertThat(row.get("threads").asInt()).isEqualTo(2);
            CliRun table = run(initiator + " --block-size 4KiB --batch-size 1");
            assertThat(table.out().lines()).hasSize(2);
            CliRun csv = run(initiator + " --block-size 4KiB --batch-size 1 --csv");
            assertThat(csv.out()).endsWith(",,,,\n");
            CliRun tooLarge = run(initiator + " --block-size 1MiB --batch-size 16");
            assertThat(tooLarge.exit()).isEqualTo(ExitCodes.USAGE);
            assertThat(tooLarge.err()).contains("offers 4194304 bytes");
        }
    }

    @Test
    void a_target_tells_its_name_and_how_to_reach_it() {
        CliRun run = run("bench transfer --mode target --buffer-size 4MiB --json");
        assertThat(run.err()).isEmpty();
        assertThat(run.json().get("ready").asBoolean()).isTrue();
        assertThat(run.json().get("segment").asString()).startsWith("127.0.0.1:");
        CliRun child = run("bench transfer --mode target --buffer-size 4MiB --until-input-ends");
        assertThat(child.out()).matches("127\\.0\\.0\\.1:\\d+\n");
    }

    @Test
    @Tag("deep")
    void a_suite_compares_everything_in_one_run() {
        CliRun run = run("bench transfer --suite --rounds 1 --duration 0.02s");
        assertThat(run.exit()).isZero();
        assertThat(run.err()).contains("round 1 of 1 is done");
        assertThat(run.out())
                .contains("| TCP read 16 MiB x16 |", "| shared memory write 64 KiB x1 |")
                .contains("| write 4 MiB x128 |");
    }

    @Test
    void a_bench_that_cannot_be_is_refused_before_it_starts() {
        assertThat(run("bench").exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run("bench transfer --mode initiator").err()).contains("--segment-id");
        assertThat(run("bench transfer --operation erase").err()).contains("not read or write");
        assertThat(run("bench transfer --mode both").err()).contains("not target or initiator");
        assertThat(run("bench transfer --block-size 0").exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run("bench transfer --batch-size 0").exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run("bench transfer --protocol carrier-pigeon").err()).contains("tcp or rdma");
    }

    @Test
    void a_probe_tells_whether_an_engine_answers_and_what_it_offers() {
        String name;
        try (TransferEngine target = engine();
                Region region = target.allocate(1 << 20).orThrow();
                RegisteredBuffer buffer =
                        target.register(region.memory(), BufferOptions.DEFAULT).orThrow()) {
            name = target.localName();
            CliRun alive = run("probe " + name);
            assertThat(alive.err()).isEmpty();
            assertThat(alive.out())
                    .contains("answered in", "buffers   1", Long.toHexString(buffer.address()));
            JsonNode json = run("probe --json " + name).json();
            assertThat(json.get("alive").asBoolean()).isTrue();
            assertThat(json.get("buffers").get(0).get("lengthBytes").asLong()).isEqualTo(1 << 20);
        }
        CliRun insecure = run("probe --key-store keys.p12 " + name);
        assertThat(insecure.exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(insecure.err()).contains("CASSIA_CLUSTER_TOKEN");
        CliRun gone = run("probe --timeout 2s " + name);
        assertThat(gone.exit()).isEqualTo(ExitCodes.UNREACHABLE);
        assertThat(gone.err()).contains("ERR_SOCKET").contains(name);
    }

    @Test
    void links_tell_how_bytes_would_get_to_a_peer_and_why_not_faster() {
        try (TransferEngine target = engine()) {
            CliRun links = run("links " + target.localName());
            assertThat(links.err()).isEmpty();
            assertThat(links.out())
                    .contains("=== Peers ===", target.localName() + " by local state=attached")
                    .contains(target.localName() + " tcp: ");
            JsonNode peer = run("links --json " + target.localName()).json().get("peers").get(0);
            assertThat(peer.get("transport").asString()).isEqualTo("local");
        }
        CliRun unknown = run("links no-such-host.invalid:1");
        assertThat(unknown.exit()).isEqualTo(ExitCodes.UNREACHABLE);
    }

    @Test
    void links_show_the_host_or_a_matrix_from_a_file(@TempDir Path directory) throws Exception {
        assertThat(run("links").out()).contains("=== Local NICs ===", "=== Host ===");
        assertThat(run("links --json").json().get("topology").isObject()).isTrue();
        Path matrix =
                Files.writeString(
                        directory.resolve("matrix.json"), "{\"cpu:0\":[[\"mlx5_0\"],[]]}");
        assertThat(run("links --topology " + matrix).out())
                .contains("cpu:0 -> preferred [mlx5_0] available []");
        Files.writeString(matrix, "{\"cpu:0\":[]}");
        CliRun broken = run("links --topology " + matrix);
        assertThat(broken.exit()).isEqualTo(ExitCodes.DATA);
        assertThat(broken.err()).contains("ERR_MALFORMED_JSON");
    }
}
