package io.cassia.app.cli;

import io.cassia.app.Main;
import io.cassia.app.bench.PeerProcess;
import io.cassia.base.Clock;
import io.cassia.base.HumanSize;
import io.cassia.datadist.bench.DataDistDemo;
import io.cassia.datadist.bench.DemoRow;
import io.cassia.datadist.bench.KvGeometry;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cassia datadist demo}. Confined to its thread. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description = {
            "See a KV cache of Llama-3-8B go from prefill to decode, every byte checked.",
            "A prompt and a decoder, each in a process of its own, are linked. The decoder pulls the"
                    + " cache of a request by its key, then by blocks that lie anywhere; then the"
                    + " prompt pushes it layer by layer."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia datadist demo",
            "  cassia datadist demo --tokens 8192 --transport any",
            "Exit codes: 0 every byte arrived, 6 one did not, others as everywhere."
        })
final class DataDistDemoCommand implements Callable<Integer> {
    private static final KvGeometry MODEL = KvGeometry.LLAMA_3_8B;
    private static final int MOST_TOKENS = 131_072;
    private static final String ROW = "%-26s %-9s %7s %9s %7s %9s %7s  %s";

    @Mixin private final Output output;
    private final Clock clock;

    @Option(
            names = "--tokens",
            paramLabel = "N",
            defaultValue = "2048",
            description = "Length of the request, rounded up to blocks of 16. Default: 2048.")
    private int tokens;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "3",
            converter = Converters.Count.class,
            description = "How often each step is done; the median is shown. Default: 3.")
    private int rounds;

    @Option(
            names = "--transport",
            paramLabel = "NAME,...",
            split = ",",
            defaultValue = "any,tcp",
            converter = TransportChoice.Name.class,
            description = {
                "What carries the bytes, one run each: any, which takes the fastest of this host,",
                "tcp, uds, shm, process-vm. Default: any,tcp."
            })
    private List<TransportChoice> transports = List.of();

    DataDistDemoCommand(Console console, Clock clock) {
        this.output = new Output(console);
        this.clock = clock;
    }

    @Override
    public Integer call() {
        if (tokens < 1 || tokens > MOST_TOKENS) {
            return output.failed(
                    LlmStatus.LLM_PARAM_INVALID, "--tokens is between 1 and " + MOST_TOKENS);
        }
        Map<TransportChoice, List<DemoRow>> all = new LinkedHashMap<>();
        for (TransportChoice choice : transports) {
            switch (run(choice)) {
                case Outcome.Failed<List<DemoRow>> failed -> {
                    return output.failed(failed);
                }
                case Outcome.Ok<List<DemoRow>>(List<DemoRow> rows) -> all.put(choice, rows);
            }
        }
        int printed = output.ok(() -> document(all), () -> text(all));
        boolean verified = all.values().stream().flatMap(List::stream).allMatch(DemoRow::verified);
        return verified ? printed : ExitCodes.DATA;
    }

    private Outcome<List<DemoRow>> run(TransportChoice choice) {
        DataDistDemo.Plan plan = new DataDistDemo.Plan(MODEL, tokens, rounds, choice.transports());
        return PeerProcess.start(Main.class.getName(), plan.setup())
                .then(
                        prompt -> {
                            try (prompt) {
                                return DataDistDemo.run(
                                        plan, prompt, clock, new SimpleMeterRegistry());
                            }
                        });
    }

    private static Map<String, Object> document(Map<TransportChoice, List<DemoRow>> all) {
        return Json.object(
                "model",
                MODEL.name(),
                "tokenBytes",
                MODEL.tokenBytes(),
                "rows",
                all.entrySet().stream()
                        .flatMap(
                                entry ->
                                        entry.getValue().stream()
                                                .map(row -> document(entry.getKey(), row)))
                        .toList());
    }

    private static Map<String, Object> document(TransportChoice choice, DemoRow row) {
        return Json.object(
                "step", row.step(),
                "transport", choice.label(),
                "tokens", row.tokens(),
                "bytes", row.bytes(),
                "ranges", row.requests(),
                "nanos", row.nanos(),
                "bytesPerSecond", row.gigabytesPerSecond() * 1e9,
                "verified", row.verified());
    }

    private String text(Map<TransportChoice, List<DemoRow>> all) {
        StringBuilder text =
                new StringBuilder(
                        String.format(
                                Locale.ROOT,
                                """
                                The KV cache of %s: %d layers, %d KV heads of %d numbers, %s; %s a token.
                                A prompt and a decoder in two processes; medians of %d rounds.

                                """,
                                MODEL.name(),
                                MODEL.layers(),
                                MODEL.kvHeads(),
                                MODEL.headDim(),
                                MODEL.dataType().name().toLowerCase(Locale.ROOT),
                                HumanSize.format(MODEL.tokenBytes()),
                                rounds));
        text.append(
                String.format(
                        Locale.ROOT,
                        ROW,
                        "step",
                        "transport",
                        "tokens",
                        "size",
                        "ranges",
                        "ms",
                        "GB/s",
                        "bytes"));
        all.forEach((choice, rows) -> rows.forEach(row -> text.append(line(choice, row))));
        return text.toString();
    }

    private static String line(TransportChoice choice, DemoRow row) {
        return "\n"
                + String.format(
                        Locale.ROOT,
                        ROW,
                        row.step(),
                        choice.label(),
                        Integer.toString(row.tokens()),
                        HumanSize.format(row.bytes()),
                        Long.toString(row.requests()),
                        String.format(Locale.ROOT, "%.2f", row.nanos() / 1e6),
                        String.format(Locale.ROOT, "%.2f", row.gigabytesPerSecond()),
                        row.verified() ? "all right" : "WRONG");
    }
}
