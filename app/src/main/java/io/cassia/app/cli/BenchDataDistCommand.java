package io.cassia.app.cli;

import io.cassia.app.Main;
import io.cassia.app.bench.PeerProcess;
import io.cassia.base.Clock;
import io.cassia.base.HumanSize;
import io.cassia.datadist.bench.BenchRow;
import io.cassia.datadist.bench.DataDistBench;
import io.cassia.datadist.bench.LinkBench;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cassia bench datadist}. Confined to its thread. */
@Command(
        name = "datadist",
        mixinStandardHelpOptions = true,
        description = {
            "Measure LLM-DataDist: pulls and pushes of blocks between two processes.",
            "Beside each rate stands that of the bare Transfer Engine for the same ranges, measured"
                    + " in turns: the ratio of the medians, and that of the best calls, which others on"
                    + " the machine disturb least. Blocks lie adjacent, or in random order on both"
                    + " sides."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia bench datadist",
            "  cassia bench datadist --block-size 16KiB --transport shm --rounds 21",
            "  cassia bench datadist --blocks-per-call 1 --rounds 1000     what one call costs",
            "The table is Markdown."
        })
final class BenchDataDistCommand implements Callable<Integer> {
    private static final int MOST_CLUSTERS = 16;
    private static final int LINK_ROUNDS = 9;
    private static final int WORD = 8;
    private static final String ROW =
            "| %-9s | %-9s | %-9s | %7s | %7s | %9s | %10s | %6s | %11s | %5s | %10s |";

    @Mixin private final Output output;
    private final Clock clock;

    @Option(
            names = "--block-size",
            paramLabel = "SIZE,...",
            split = ",",
            defaultValue = "16KiB,64KiB,2MiB",
            converter = Converters.Size.class,
            description = "Bytes of a block. Default: 16KiB,64KiB,2MiB.")
    private List<Long> blocks = List.of();

    @Option(
            names = "--total",
            paramLabel = "SIZE",
            defaultValue = "256MiB",
            converter = Converters.Size.class,
            description = "Bytes of a call, and of a cache. Default: 256MiB.")
    private long totalBytes;

    @Option(
            names = "--blocks-per-call",
            paramLabel = "N",
            description = "Blocks of a call. Default: as many as fill the total.")
    private int blocksPerCall;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "9",
            converter = Converters.Count.class,
            description = "Calls of each kind; the median is shown. Default: 9.")
    private int rounds;

    @Option(
            names = "--warm-ups",
            paramLabel = "N",
            defaultValue = "3000",
            description =
                    "Calls of one block of each kind before: what runs for hours is compiled."
                            + " Default: 3000; 0 shows the first calls of a process.")
    private int warmUps;

    @Option(
            names = "--transport",
            paramLabel = "NAME,...",
            split = ",",
            defaultValue = "tcp,shm",
            converter = TransportChoice.Name.class,
            description = "What carries the bytes, one run each. Default: tcp,shm.")
    private List<TransportChoice> transports = List.of();

    @Option(
            names = "--clusters",
            paramLabel = "N",
            defaultValue = "16",
            description = "Clusters to link in one call, 0 to 16; 0 leaves it out. Default: 16.")
    private int clusters;

    BenchDataDistCommand(Console console, Clock clock) {
        this.output = new Output(console);
        this.clock = clock;
    }

    @Override
    public Integer call() {
        if (blocks.stream()
                .anyMatch(block -> block < WORD || block % WORD != 0 || block > totalBytes)) {
            return output.failed(
                    LlmStatus.LLM_PARAM_INVALID,
                    "--block-size is a multiple of 8 bytes and at most --total");
        }
        if (clusters < 0 || clusters > MOST_CLUSTERS || blocksPerCall < 0 || warmUps < 0) {
            return output.failed(
                    LlmStatus.LLM_PARAM_INVALID,
                    "--clusters is between 0 and 16, --blocks-per-call and --warm-ups at least 0");
        }
        head();
        List<BenchRow> rows = new ArrayList<>();
        for (TransportChoice choice : transports) {
            if (run(choice, rows) instanceof Outcome.Failed<Done> failed) {
                return output.failed(failed);
            }
        }
        if (clusters == 0) {
            return end(rows, List.of());
        }
        return switch (LinkBench.run(clusters, LINK_ROUNDS, clock, new SimpleMeterRegistry())) {
            case Outcome.Failed<LinkBench.Links> failed -> output.failed(failed);
            case Outcome.Ok<LinkBench.Links>(LinkBench.Links links) -> end(rows, List.of(links));
        };
    }

    private Outcome<Done> run(TransportChoice choice, List<BenchRow> rows) {
        DataDistBench.Plan plan =
                new DataDistBench.Plan(
                        totalBytes, blocks, blocksPerCall, warmUps, rounds, choice.transports());
        return PeerProcess.start(Main.class.getName(), plan.setup())
                .then(
                        peer -> {
                            try (peer) {
                                return DataDistBench.run(
                                        plan,
                                        peer,
                                        clock,
                                        new SimpleMeterRegistry(),
                                        row -> {
                                            rows.add(row);
                                            show(row);
                                        });
                            }
                        });
    }

    private void head() {
        if (!output.json()) {
            String head =
                    String.format(
                            Locale.ROOT,
                            ROW,
                            "transport",
                            "operation",
                            "blocks",
                            "size",
                            "ranges",
                            "us/call",
                            "control us",
                            "GB/s",
                            "engine GB/s",
                            "ratio",
                            "best ratio");
            output.console().line(head);
            output.console().line(head.replaceAll("[^|]", "-"));
            output.console().flush();
        }
    }

    private void show(BenchRow row) {
        if (!output.json()) {
            output.console()
                    .line(
                            String.format(
                                    Locale.ROOT,
                                    ROW,
                                    row.transports(),
                                    row.operation(),
                                    row.scattered() ? "scattered" : "adjacent",
                                    HumanSize.format(row.blockBytes()).replace(" ", ""),
                                    Long.toString(row.requests()),
                                    number("%.1f", row.microsPerCall()),
                                    number("%.1f", row.controlNanos() / 1e3),
                                    number("%.3f", row.gigabytesPerSecond()),
                                    number("%.3f", row.engineGigabytesPerSecond()),
                                    number("%.2f", row.ratio()),
                                    number("%.2f", row.bestRatio())));
            output.console().flush();
        }
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    private int end(List<BenchRow> rows, List<LinkBench.Links> links) {
        int printed =
                output.ok(
                        () ->
                                Json.object(
                                        "rows",
                                        rows.stream().map(BenchDataDistCommand::document).toList(),
                                        "links",
                                        links.stream()
                                                .map(BenchDataDistCommand::document)
                                                .toList()),
                        () -> String.join("\n", links.stream().map(this::text).toList()));
        return rows.stream().allMatch(BenchRow::verified) ? printed : ExitCodes.DATA;
    }

    private String text(LinkBench.Links links) {
        return String.format(
                Locale.ROOT,
                "%n%d clusters linked in one call: %.1f ms the first time, %.1f ms then",
                links.clusters(),
                links.firstNanos() / 1e6,
                links.nanos() / 1e6);
    }

    private static Map<String, Object> document(LinkBench.Links links) {
        return Json.object(
                "clusters", links.clusters(),
                "firstNanos", links.firstNanos(),
                "nanos", links.nanos());
    }

    private static Map<String, Object> document(BenchRow row) {
        return Json.object(
                "transport", row.transports(),
                "operation", row.operation(),
                "scattered", row.scattered(),
                "blockBytes", row.blockBytes(),
                "blocks", row.blocks(),
                "ranges", row.requests(),
                "nanos", row.nanos(),
                "engineNanos", row.engineNanos(),
                "bestNanos", row.bestNanos(),
                "engineBestNanos", row.engineBestNanos(),
                "controlNanos", row.controlNanos(),
                "ratio", row.ratio(),
                "verified", row.verified());
    }
}
