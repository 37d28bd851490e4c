package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.bench.store.StoreCell;
import io.cassia.app.bench.store.StoreCell.Operation;
import io.cassia.app.bench.store.StoreGoal;
import io.cassia.app.bench.store.StoreRow;
import io.cassia.app.bench.store.StoreRow.Rate;
import io.cassia.app.bench.store.StoreRow.Round;
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
                        "bench store --object-size 4KiB --batch-size 2 --threads 2 --duration 0.01s --rounds 2 --warm-up 0.1s"
                                + " --no-redis --json");
        assertThat(run.exit()).as(run.err()).isZero();
        JsonNode rows = run.json().get("rows");
        assertThat(rows).hasSize(3 * 2);
        for (JsonNode row : rows) {
            assertThat(row.get("rounds").asInt()).isEqualTo(2);
            assertThat(row.get("objectsPerSecond").asDouble()).isPositive();
            assertThat(row.get("raw").get("meanBytesPerSecond").asDouble()).isPositive();
            assertThat(row.get("uncheckedP50Nanos").asLong()).isPositive();
            assertThat(row.get("redisBytesPerSecond").isNull()).isTrue();
            assertThat(row.get("p99Nanos").asLong())
                    .isGreaterThanOrEqualTo(row.get("p50Nanos").asLong());
        }
        assertThat(rows.get(0).get("where").asString()).isEqualTo("remote tcp");
    }

    /** 1000 puts of 4 KiB in a second, 0.5 ms each in the middle. */
    private static final Round BARE_ROUND =
            new Round(
                    1000,
                    1_000_000_000L,
                    500_000,
                    900_000,
                    Optional.empty(),
                    OptionalDouble.empty(),
                    OptionalLong.empty());

    private static final Round FULL_ROUND =
            new Round(
                    1000,
                    1_000_000_000L,
                    500_000,
                    900_000,
                    Optional.of(new Rate(1, 16_384_000)),
                    OptionalDouble.of(2_048_000),
                    OptionalLong.of(450_000));

    private static StoreRow row(OptionalDouble peer, Round... rounds) {
        return row(new StoreCell(Where.REMOTE, Operation.PUT, 4096, 1), peer, rounds);
    }

    private static StoreRow row(StoreCell cell, OptionalDouble peer, Round... rounds) {
        return new StoreRow(cell, 1, List.of(rounds), peer);
    }

    private static final StoreRow BARE = row(OptionalDouble.empty(), BARE_ROUND);

    private static final StoreRow FULL = row(OptionalDouble.of(1000), FULL_ROUND);

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

    /** A round in which the machine is as many times slower. */
    private static Round slower(int times, double raw) {
        return new Round(
                1000,
                1_000_000_000L * times,
                500_000L * times,
                900_000L * times,
                Optional.of(new Rate(raw / times, raw / times)),
                OptionalDouble.of(4_096_000.0 / times),
                OptionalLong.of(400_000L * times));
    }

    @Test
    void ratios_are_those_of_rounds_and_not_of_medians() {
        StoreRow row =
                row(
                        OptionalDouble.empty(),
                        slower(1, 16_384_000),
                        slower(4, 8_192_000),
                        slower(2, 16_384_000));
        assertThat(row.rate().typical()).isEqualTo(4_096_000);
        assertThat(row.rawRatio()).hasValue(0.5);
        assertThat(row.redisRatio()).hasValue(1);
        assertThat(row.checksumShare().orElseThrow()).isBetween(0.199, 0.201);
    }

    @Test
    void goals_say_what_is_reached_and_what_the_engine_itself_does_not_allow() {
        StoreCell large = new StoreCell(Where.REMOTE, Operation.GET, 1 << 20, 1);
        long nanos = 1_000_000;
        Round round =
                new Round(
                        1,
                        nanos,
                        nanos,
                        nanos,
                        Optional.of(new Rate((1 << 20) * 1_050.0, (1 << 20) * 1_050.0)),
                        OptionalDouble.of((1 << 20) * 1_000.0),
                        OptionalLong.of(nanos * 8 / 10));
        List<StoreGoal> goals = StoreGoal.of(row(large, OptionalDouble.of(1001), round));
        assertThat(goals)
                .extracting(StoreGoal::figure)
                .containsExactly(
                        "by the raw engine", "share of checksums", "by Redis", "by the C++ store");
        assertThat(goals)
                .extracting(StoreGoal::isReached)
                .containsExactly(true, false, false, false);
        assertThat(goals.get(2).remark()).contains("1.05");
        StoreCell own = new StoreCell(Where.OWN, Operation.GET, 4096, 1);
        assertThat(StoreGoal.of(row(own, OptionalDouble.empty(), round))).isEmpty();
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
