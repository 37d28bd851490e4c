package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.bench.store.StoreCell;
import io.cassia.app.bench.store.StoreCell.Operation;
import io.cassia.app.bench.store.StoreRow;
import io.cassia.app.bench.store.StoreRow.Rate;
import io.cassia.app.bench.store.Where;
import io.cassia.app.cluster.Backend;
import io.cassia.base.Clock;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The store's bench: one run with its own processes, as small as can be, and how it is shown. */
class BenchStoreCommandTest {
    private static CliRun run(String line) {
        return CliRun.of(Backend.real(Clock.system(), Map.of()), line.split(" ", -1));
    }

    @Test
    void each_place_is_measured_beside_the_raw_engine() {
        CliRun run =
                run(
                        "bench store --object-size 4KiB --batch-size 2 --threads 2 --duration 0.01s"
                                + " --no-redis --json");
        assertThat(run.exit()).as(run.err()).isZero();
        JsonNode rows = run.json().get("rows");
        assertThat(rows).hasSize(3 * 2);
        for (JsonNode row : rows) {
            assertThat(row.get("objects").asLong()).isPositive();
            assertThat(row.get("raw").get("meanBytesPerSecond").asDouble()).isPositive();
            assertThat(row.get("uncheckedP50Nanos").asLong()).isPositive();
            assertThat(row.get("redisBytesPerSecond").isNull()).isTrue();
            assertThat(row.get("p99Nanos").asLong())
                    .isGreaterThanOrEqualTo(row.get("p50Nanos").asLong());
        }
        assertThat(rows.get(0).get("where").asString()).isEqualTo("remote tcp");
    }

    /** 1000 puts of 4 KiB in a second, 0.5 ms each in the middle. */
    private static final StoreRow BARE =
            new StoreRow(
                    new StoreCell(Where.REMOTE, Operation.PUT, 4096, 1),
                    1,
                    1000,
                    1_000_000_000L,
                    500_000,
                    900_000,
                    Optional.empty(),
                    OptionalDouble.empty(),
                    OptionalLong.empty(),
                    OptionalDouble.empty());

    private static final StoreRow FULL =
            new StoreRow(
                    BARE.cell(),
                    1,
                    1000,
                    1_000_000_000L,
                    500_000,
                    900_000,
                    Optional.of(new Rate(1, 16_384_000)),
                    OptionalDouble.of(2_048_000),
                    OptionalLong.of(450_000),
                    OptionalDouble.of(1000));

    private static List<String> show(StoreBenchTable.Form form) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream lines = new PrintStream(out, false, StandardCharsets.UTF_8);
        Console console = new Console(InputStream.nullInputStream(), lines, lines, false, "cassia");
        StoreBenchTable table = new StoreBenchTable(new Output(console), form);
        table.head();
        table.row(BARE);
        table.row(FULL);
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void ratios_compare_like_with_like() {
        assertThat(FULL.rate().mean()).isEqualTo(4_096_000);
        assertThat(FULL.rate().typical()).isEqualTo(8_192_000);
        assertThat(FULL.rawRatio()).hasValue(0.5);
        assertThat(FULL.redisRatio()).hasValue(2);
        assertThat(FULL.peerRatio()).hasValue(2);
        assertThat(FULL.checksumShare().orElseThrow()).isBetween(0.0999, 0.1001);
        assertThat(BARE.rawRatio()).isEmpty();
    }

    @Test
    void tables_have_a_head_and_a_line_per_measurement() {
        List<String> text = show(StoreBenchTable.Form.TEXT);
        assertThat(text).hasSize(3);
        assertThat(text.get(2)).contains("remote tcp", "put", "4KiB", "1000", "10%", "0.50");

        List<String> markdown = show(StoreBenchTable.Form.MARKDOWN);
        assertThat(markdown).hasSize(4);
        assertThat(markdown).allMatch(line -> line.startsWith("|") && line.endsWith("|"));
        assertThat(markdown.stream().map(line -> line.split("\\|", -1).length).distinct())
                .hasSize(1);

        List<String> csv = show(StoreBenchTable.Form.CSV);
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
