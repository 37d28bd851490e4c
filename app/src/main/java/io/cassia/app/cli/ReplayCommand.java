package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.cluster.StoreSettings;
import io.cassia.app.replay.ReplayOptions;
import io.cassia.app.replay.ReplayReport;
import io.cassia.app.replay.Trace;
import io.cassia.app.replay.TraceReader;
import io.cassia.base.Clock;
import io.cassia.master.core.EvictionPolicy;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.StoreClientConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code cassia replay}. Confined to its thread. */
@Command(
        name = "replay",
        description = {
            "Run block traces against a cluster and check every byte that is read.",
            "For each request the leading stored blocks are read and the others stored. A line of"
                    + " a trace is a JSON object with hash_ids and timestamp (milliseconds)."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia replay conversation_trace.jsonl",
            "  cassia replay --memory 160MiB --block-bytes 16KiB conversation_trace.jsonl",
            "  cassia replay --master 10.0.0.1:50051 --clients 4 --speed 10 trace.jsonl",
            "The run fails with exit code 6 when a byte is wrong, with 5 when the store is gone."
        })
final class ReplayCommand implements Callable<Integer> {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @Mixin private final Output output;
    private final Backend backend;
    private final Clock clock;

    @Parameters(
            arity = "1..*",
            paramLabel = "FILE",
            description = "Traces, run one after the other; a single - reads standard input.")
    private List<Path> files = List.of();

    @Option(
            names = "--block-bytes",
            paramLabel = "SIZE",
            defaultValue = "64KiB",
            converter = Converters.Size.class,
            description = "Size of a block. Default: 64KiB.")
    private long blockBytes;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = Converters.Size.class,
            description = "Memory of all nodes together. Default: enough for every block.")
    private @Nullable Long memoryBytes;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "1",
            converter = Converters.Count.class,
            description = "Storage nodes of the cluster that is started. Default: 1.")
    private int nodes;

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "1",
            converter = Converters.Count.class,
            description = "Clients that run requests in parallel. Default: 1.")
    private int clients;

    @Option(
            names = "--eviction-policy",
            paramLabel = "NAME",
            defaultValue = "lru",
            converter = Converters.Policy.class,
            description =
                    "Which blocks are evicted first in the cluster that is started: lru or"
                            + " two-queues. Default: lru.")
    private EvictionPolicy policy = EvictionPolicy.LRU;

    @Option(
            names = "--master",
            paramLabel = "HOST:PORT",
            description = "Use this running cluster instead of starting one.")
    private @Nullable String master;

    @Option(
            names = "--metadata",
            paramLabel = "URI",
            defaultValue = "",
            description = "Metadata of that cluster. Default: port 8080 on the master's host.")
    private String metadata = "";

    @Option(
            names = "--tenant",
            paramLabel = "NAME",
            defaultValue = "default",
            description = "Namespace of the keys. Default: default.")
    private String tenant = "";

    @Option(
            names = "--speed",
            paramLabel = "FACTOR",
            defaultValue = "0",
            description = "Multiple of the trace's own pace; 0 is as fast as possible. Default: 0.")
    private double speed;

    @Option(
            names = "--limit",
            paramLabel = "N",
            description = "Requests to run at most. Default: all.")
    private long limit = Long.MAX_VALUE;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "0",
            description = "Chooses the content of the blocks. Default: 0.")
    private long seed;

    ReplayCommand(Console console, Backend backend, Clock clock) {
        this.output = new Output(console);
        this.backend = backend;
        this.clock = clock;
    }

    @Override
    public Integer call() {
        if (blockBytes < 1 || blockBytes > 1 << 30) {
            return output.failed(
                    StoreCode.INVALID_PARAMS, "--block-bytes must be between 1 and 1GiB");
        }
        if (!(speed >= 0) || Double.isInfinite(speed) || limit < 1) {
            return output.failed(
                    StoreCode.INVALID_PARAMS, "--speed must be 0 or more, --limit 1 or more");
        }
        return switch (read().then(this::replay)) {
            case Outcome.Ok<ReplayReport>(ReplayReport report) ->
                    report(output, report, (int) blockBytes);
            case Outcome.Failed<ReplayReport> failure -> output.failed(failure);
        };
    }

    private Outcome<Trace> read() {
        return files.equals(List.of(Path.of("-")))
                ? TraceReader.read("standard input", output.console().in(), limit)
                : TraceReader.read(files, limit);
    }

    private Outcome<ReplayReport> replay(Trace trace) {
        ReplayOptions options = new ReplayOptions((int) blockBytes, seed, speed);
        ReplayRun run = new ReplayRun(backend, clock, output.console());
        if (master != null) {
            return run.on(
                    new StoreClientConfig(
                            master,
                            StoreSettings.metadataOf(master, metadata),
                            "127.0.0.1",
                            tenant,
                            TIMEOUT),
                    trace,
                    options,
                    clients);
        }
        long memory =
                memoryBytes == null
                        // Each client may have space for its next put beside all blocks.
                        ? ReplayRun.memoryForAll(trace, options.blockBytes())
                                + clients * Wanted.MOST_BYTES
                        : memoryBytes;
        return run.onOwnCluster(
                trace, options, tenant, clients, nodes, memory, MasterSettings.embedded(policy));
    }

    /** Prints a report; the exit code tells wrong bytes and a store that went away. */
    private static int report(Output output, ReplayReport report, int blockBytes) {
        int printed =
                output.ok(
                        () -> ReplayTexts.document(report, blockBytes),
                        () -> ReplayTexts.text(report, blockBytes));
        return report.verificationErrors() > 0
                ? ExitCodes.DATA
                : report.stopped().isPresent() ? ExitCodes.UNREACHABLE : printed;
    }
}
