package io.cassia.app.cli;

import io.cassia.app.Main;
import io.cassia.app.bench.TargetProcess;
import io.cassia.app.bench.store.RedisReference;
import io.cassia.app.bench.store.StoreBench;
import io.cassia.app.bench.store.StorePlan;
import io.cassia.app.bench.store.StoreRow;
import io.cassia.app.bench.store.Where;
import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.app.cluster.Running;
import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.NodeConfig;
import io.cassia.store.StoreClientConfig;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code cassia bench store}. Confined to its thread. */
@Command(
        name = "store",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the store: puts and gets of objects in the memory of another process, reached"
                    + " over TCP and through shared memory, and in the memory of the own process.",
            "A master and a node are started for it in processes of their own. The Transfer Engine"
                    + " alone, objects with checksums, objects without and redis-benchmark take"
                    + " turns, round after round; every byte of the last round is compared, outside"
                    + " of the time."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia bench store",
            "  cassia bench store --where host --object-size 1MiB --batch-size 16 --duration 5s",
            "  cassia bench store --markdown > store.md",
            "Beside each rate stand, of this run, that of the Transfer Engine alone with the same",
            "sizes and that of redis-benchmark with as many requests in flight; and that of the C++",
            "implementation on another machine of this kind, 2 cores, 1 thread. GB/s and the",
            "ratio to Redis are those of the whole time, 'typical' and the other ratios those of the",
            "call in the middle, which other load of the machine touches least. 'sums' is the share",
            "of that call that checksums take, from the same with objects that have none. A ratio is",
            "the median of those of the rounds. At the end stands which goals are reached."
        })
final class BenchStoreCommand implements Callable<Integer> {
    private static final String HOST = "127.0.0.1";

    @Mixin private final Output output;
    private final Clock clock;
    private final Backend backend;

    @Option(
            names = "--where",
            paramLabel = "remote,host,own",
            split = ",",
            defaultValue = "remote,host,own",
            converter = WhereName.class,
            description =
                    "Where the memory is: another process over TCP, another process through shared"
                            + " memory, the own process. Default: all.")
    private List<Where> places = List.of();

    @Option(
            names = "--object-size",
            paramLabel = "SIZE,...",
            split = ",",
            defaultValue = "4KiB,128KiB,1MiB,16MiB",
            converter = Converters.Size.class,
            description = "Bytes of an object. Default: 4KiB,128KiB,1MiB,16MiB.")
    private List<Long> sizes = List.of();

    @Option(
            names = "--batch-size",
            paramLabel = "N,...",
            split = ",",
            defaultValue = "1,16",
            converter = BenchTransferCommand.BatchSize.class,
            description = "Objects of a call, as many of them as make 64 MiB. Default: 1,16.")
    private List<Integer> batches = List.of();

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "1",
            converter = Converters.Count.class,
            description = "Callers at once. Default: 1.")
    private int threads;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            defaultValue = "100ms",
            converter = Converters.Seconds.class,
            description = "Time of each operation in each round. Default: 100ms.")
    private Duration duration = Duration.ZERO;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "7",
            converter = Converters.Count.class,
            description =
                    "Rounds in which all that is compared takes turns; shown are medians."
                            + " Default: 7.")
    private int rounds;

    @Option(
            names = "--warm-up",
            paramLabel = "TIME",
            defaultValue = "4s",
            converter = Converters.Seconds.class,
            description =
                    "Time of calls of all sizes before each place, whose processes are new."
                            + " Default: 4s.")
    private Duration warmUp = Duration.ZERO;

    @Option(names = "--csv", description = "Print comma-separated values instead of a table.")
    private boolean csv;

    @Option(names = "--markdown", description = "Print a Markdown table.")
    private boolean markdown;

    @Option(names = "--no-redis", description = "Leave out redis-benchmark.")
    private boolean withoutRedis;

    @Option(names = "--role", hidden = true, description = "Be the master or the node of a run.")
    private String role = "";

    @Option(names = "--master", hidden = true, description = "The master that a node joins.")
    private String master = "";

    @Option(names = "--segment", hidden = true, description = "Memory of a node.")
    private long segmentBytes;

    /** A place, by its first word. */
    static final class WhereName implements ITypeConverter<Where> {
        @Override
        public Where convert(String text) {
            try {
                return Where.valueOf(text.toUpperCase(Locale.ROOT));
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("'" + text + "' is not remote, host or own");
            }
        }
    }

    BenchStoreCommand(Console console, Clock clock, Backend backend) {
        this.output = new Output(console);
        this.clock = clock;
        this.backend = backend;
    }

    @Override
    public Integer call() {
        if (!role.isEmpty()) {
            return serve();
        }
        if (sizes.stream().anyMatch(bytes -> bytes < 1) || duration.isZero()) {
            return output.failed(
                    StoreCode.INVALID_PARAMS, "--object-size and --duration are above 0");
        }
        long most = Math.max(64L << 20, sizes.stream().mapToLong(Long::longValue).max().orElse(1));
        StorePlan plan =
                new StorePlan(
                        places,
                        StorePlan.shapes(sizes, batches, most),
                        threads,
                        duration,
                        rounds,
                        warmUp);
        return measure(plan);
    }

    /** The other end of a run: tells its address and ends with the input. */
    private int serve() {
        Outcome<Running> started =
                role.equals("master")
                        ? backend.startMaster(MasterSettings.embedded())
                        : backend.startNode(node());
        return switch (started) {
            case Outcome.Failed<Running> failed -> output.failed(failed);
            case Outcome.Ok<Running>(Running running) -> {
                try (running) {
                    output.console()
                            .line(
                                    role.equals("master")
                                            ? running.master()
                                            : running.nodes().getFirst());
                    output.console().flush();
                    output.console().awaitEndOfInput();
                    yield ExitCodes.OK;
                }
            }
        };
    }

    private NodeConfig node() {
        return new NodeConfig(master, StoreClientConfig.P2P, HOST, segmentBytes);
    }

    private static Outcome<TargetProcess> child(String... arguments) {
        List<String> command = new ArrayList<>(List.of("bench", "store"));
        command.addAll(Arrays.asList(arguments));
        return TargetProcess.start(Main.class.getName(), command);
    }

    private int measure(StorePlan plan) {
        return switch (child("--role", "master")) {
            case Outcome.Failed<TargetProcess> failed -> output.failed(failed);
            case Outcome.Ok<TargetProcess>(TargetProcess started) -> {
                try (started) {
                    yield measure(plan, started.segment());
                }
            }
        };
    }

    private int measure(StorePlan plan, String address) {
        try (Redis redis = Redis.start(!withoutRedis, output.console())) {
            StoreBenchTable.Form form =
                    markdown
                            ? StoreBenchTable.Form.MARKDOWN
                            : csv ? StoreBenchTable.Form.CSV : StoreBenchTable.Form.TEXT;
            StoreBenchTable table = new StoreBenchTable(output, form);
            table.head();
            StoreBench bench =
                    new StoreBench(clock, plan, redis.server(), System.getenv(), table::row);
            List<StoreRow> rows = new ArrayList<>();
            for (Where where : plan.places()) {
                switch (run(plan, bench, where, address)) {
                    case Outcome.Failed<List<StoreRow>> failed -> {
                        return output.failed(failed);
                    }
                    case Outcome.Ok<List<StoreRow>>(List<StoreRow> measured) ->
                            rows.addAll(measured);
                }
            }
            return table.end(rows);
        }
    }

    /** A node for each place, so that each begins alike; the pool has no other then. */
    private Outcome<List<StoreRow>> run(
            StorePlan plan, StoreBench bench, Where where, String address) {
        if (where == Where.OWN) {
            return backend.startNode(
                            new NodeConfig(
                                    address, StoreClientConfig.P2P, HOST, plan.segmentBytes()))
                    .then(
                            node -> {
                                try (node) {
                                    return bench.run(where, address, node.nodes().getFirst());
                                }
                            });
        }
        return child(
                        "--role",
                        "node",
                        "--master",
                        address,
                        "--segment",
                        Long.toString(plan.segmentBytes()))
                .then(
                        node -> {
                            try (node) {
                                return bench.run(where, address, node.segment());
                            }
                        });
    }

    /** Redis, when it is wanted and there. Confined to the command. */
    private record Redis(Optional<RedisReference> server) implements AutoCloseable {
        static Redis start(boolean wanted, Console console) {
            if (!wanted) {
                return new Redis(Optional.empty());
            }
            try {
                Optional<RedisReference> server = RedisReference.start();
                if (server.isEmpty()) {
                    console.note("redis-server or redis-benchmark is not there: left out");
                }
                return new Redis(server);
            } catch (IOException e) {
                console.note("redis does not start and is left out: " + e);
                return new Redis(Optional.empty());
            }
        }

        @Override
        public void close() {
            server.ifPresent(RedisReference::close);
        }
    }
}
