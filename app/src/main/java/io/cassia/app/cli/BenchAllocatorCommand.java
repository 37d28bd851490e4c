package io.cassia.app.cli;

import io.cassia.app.bench.AllocatorBench;
import io.cassia.app.bench.AllocatorRow;
import io.cassia.base.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cassia bench allocator}. Confined to its thread. */
@Command(
        name = "allocator",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the allocator that a master has for each segment: the share of a segment that",
            "is used when the next range does not fit, for the size classes from 4 KiB to 16 MiB,",
            "and the time of a release and an allocation, with up to a million live ranges; beside",
            "best fit with the TreeMap of the library in the same run."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia bench allocator",
            "  cassia bench allocator --live 1k,10k,100k,1M --rounds 1001",
            "The tables are Markdown."
        })
final class BenchAllocatorCommand implements Callable<Integer> {
    private static final long SMALLEST_CLASS = 4 << 10;
    private static final long LARGEST_CLASS = 16 << 20;
    private static final String HEAD =
            """
            | sizes              |      live |  used |  goal | reached | ns/pair | TreeMap ns | ratio |
            | ------------------ | --------: | ----: | ----: | ------- | ------: | ---------: | ----: |""";

    @Mixin private final Output output;
    private final Clock clock;

    @Option(
            names = "--live",
            paramLabel = "N,...",
            split = ",",
            defaultValue = "1k,10k,100k,1M",
            converter = BenchMasterCommand.Objects.class,
            description = "Numbers of live ranges that are timed. Default: 1k,10k,100k,1M.")
    private List<Long> live = List.of();

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "101",
            converter = Converters.Count.class,
            description = "Measurements of each line, whose medians are shown. Default: 101.")
    private int rounds;

    BenchAllocatorCommand(Console console, Clock clock) {
        this.output = new Output(console);
        this.clock = clock;
    }

    @Override
    public Integer call() {
        AllocatorBench bench = new AllocatorBench(clock, rounds);
        List<AllocatorRow> rows = new ArrayList<>();
        line(HEAD);
        for (long bytes = SMALLEST_CLASS; bytes <= LARGEST_CLASS; bytes *= 4) {
            show(bench.uniform(bytes), rows);
        }
        for (long bytes = SMALLEST_CLASS; bytes <= LARGEST_CLASS; bytes *= 4) {
            show(bench.random(bytes), rows);
        }
        for (long ranges : live) {
            if (ranges > 0) {
                show(bench.live(ranges), rows);
            }
        }
        return output.ok(
                () ->
                        Json.object(
                                "rows",
                                rows.stream().map(BenchAllocatorCommand::document).toList()),
                () -> "");
    }

    private void show(AllocatorRow row, List<AllocatorRow> rows) {
        rows.add(row);
        line(
                String.format(
                        Locale.ROOT,
                        "| %-18s | %,9d | %.3f | %5s | %-7s | %7.0f | %10.0f | %5.2f |",
                        row.sizes(),
                        row.live(),
                        row.utilisation(),
                        row.goal() == 0 ? "" : String.format(Locale.ROOT, "%.3f", row.goal()),
                        row.goal() == 0 ? "" : row.utilisation() >= row.goal() ? "yes" : "**no**",
                        row.nanos(),
                        row.treeNanos(),
                        row.ratio()));
    }

    private void line(String text) {
        if (!output.json()) {
            output.console().line(text);
            output.console().flush();
        }
    }

    private static Map<String, Object> document(AllocatorRow row) {
        return Json.object(
                "sizes", row.sizes(),
                "live", row.live(),
                "utilisation", row.utilisation(),
                "goal", row.goal(),
                "nanos", row.nanos(),
                "treeNanos", row.treeNanos(),
                "ratio", row.ratio());
    }
}
