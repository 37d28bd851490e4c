package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.replay.ConversationWorkload;
import io.cassia.app.replay.ReplayOptions;
import io.cassia.app.replay.ReplayReport;
import io.cassia.app.replay.Trace;
import io.cassia.base.Clock;
import io.cassia.base.HumanSize;
import io.cassia.status.Outcome;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cassia demo}. Confined to its thread. */
@Command(
        name = "demo",
        description = {
            "See what a shared KV cache does for a chat service, in a few seconds.",
            "A made-up service of 400 users talks in turns; each turn's prompt starts with what"
                    + " was computed before. The demo starts a cluster in this process, runs the"
                    + " same conversations with memory for everything and with a tenth of it,"
                    + " and checks every byte that is read."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  cassia demo", "  cassia demo --requests 20000 --clients 2 --seed 7"})
final class DemoCommand implements Callable<Integer> {
    private static final int BLOCK_BYTES = 64 << 10;
    private static final int TOKENS_PER_BLOCK = 16;
    private static final int SMALL_SHARE = 10;

    @Mixin private final Output output;
    private final ReplayRun run;

    @Option(
            names = "--requests",
            paramLabel = "N",
            defaultValue = "3000",
            description = "Turns of conversation. Default: 3000.")
    private int requests;

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "1",
            converter = Converters.Count.class,
            description = "Inference workers that share the cache. Default: 1.")
    private int clients;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "2",
            converter = Converters.Count.class,
            description = "Storage nodes. Default: 2.")
    private int nodes;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Chooses the conversations. Default: 1.")
    private long seed;

    DemoCommand(Console console, Backend backend, Clock clock) {
        this.output = new Output(console);
        this.run = new ReplayRun(backend, clock, console);
    }

    @Override
    public Integer call() {
        Trace trace = ConversationWorkload.trace(seed, Math.clamp(requests, 1, 1_000_000));
        long all = ReplayRun.memoryForAll(trace, BLOCK_BYTES);
        Outcome<List<ReplayReport>> acts =
                act(trace, all)
                        .then(
                                first ->
                                        act(trace, all / SMALL_SHARE)
                                                .map(second -> List.of(first, second)));
        return switch (acts) {
            case Outcome.Ok<List<ReplayReport>>(List<ReplayReport> reports) ->
                    report(trace, all, reports.get(0), reports.get(1));
            case Outcome.Failed<List<ReplayReport>> failure -> output.failed(failure);
        };
    }

    private Outcome<ReplayReport> act(Trace trace, long memoryBytes) {
        return run.onOwnCluster(
                trace,
                new ReplayOptions(BLOCK_BYTES, seed, 0),
                "demo",
                clients,
                nodes,
                memoryBytes,
                MasterSettings.embedded());
    }

    private int report(Trace trace, long all, ReplayReport ample, ReplayReport tight) {
        int printed =
                output.ok(
                        () ->
                                Json.object(
                                        "ample", ReplayTexts.document(ample, BLOCK_BYTES),
                                        "tight", ReplayTexts.document(tight, BLOCK_BYTES)),
                        () -> text(trace, all, ample, tight));
        return ample.verificationErrors() + tight.verificationErrors() > 0
                ? ExitCodes.DATA
                : printed;
    }

    private String text(Trace trace, long all, ReplayReport ample, ReplayReport tight) {
        String program = output.console().program();
        return String.format(
                Locale.ROOT,
                """
                %,d turns of conversation, %,d KV blocks of %s; a master, %d nodes and %d %s in one process

                With memory for everything (%s)
                %s
                %s of the %s prompt tokens need not be computed again.

                With a tenth of that (%s): the least recently used blocks make room
                %s

                Next: '%s up' runs a cluster, '%s replay FILE' runs your own trace.""",
                trace.requests(),
                trace.blocks(),
                HumanSize.format(BLOCK_BYTES),
                nodes,
                clients,
                clients == 1 ? "client" : "clients",
                HumanSize.format(all),
                indented(ample),
                tokens(ample.hits()),
                tokens(ample.blocks()),
                HumanSize.format(all / SMALL_SHARE),
                indented(tight),
                program,
                program);
    }

    private static String indented(ReplayReport report) {
        return ReplayTexts.text(report, BLOCK_BYTES).indent(2).stripTrailing();
    }

    private static String tokens(long blocks) {
        return String.format(Locale.ROOT, "%,d", blocks * TOKENS_PER_BLOCK);
    }
}
