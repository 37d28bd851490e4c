package io.cassia.app.cli;

import io.cassia.app.Main;
import io.cassia.app.bench.HeapRow;
import io.cassia.app.bench.MasterBench;
import io.cassia.app.bench.MasterCell;
import io.cassia.app.bench.MasterRow;
import io.cassia.app.bench.RedisReference;
import io.cassia.app.bench.TargetProcess;
import io.cassia.base.Clock;
import io.cassia.base.HostPort;
import io.cassia.master.Master;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code cassia bench master}. Confined to its thread. */
@Command(
        name = "master",
        mixinStandardHelpOptions = true,
        description = {
            "Measure a master: exist, get and put (start and end), in flight and in batches,",
            "beside redis-benchmark GET with the same pipeline in the same run; then what objects",
            "cost its heap. The master runs in a process of its own, on a free loopback port, and",
            "so does Redis, when the machine has one."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia bench master",
            "  cassia bench master --operation exist --in-flight 1,8,64 --batch-size 1",
            "  cassia bench master --heap-objects 1M,10M --duration 3s --csv",
            "Mooncake's figures are those of its C++ master on a machine of 2 cores."
        })
final class BenchMasterCommand implements Callable<Integer> {
    @Mixin private final Output output;
    private final Clock clock;

    @Option(
            names = "--operation",
            paramLabel = "exist,get,put",
            split = ",",
            defaultValue = "exist,get,put",
            converter = OperationName.class,
            description = "What is called. Default: exist,get,put.")
    private List<MasterCell.Operation> operations = List.of();

    @Option(
            names = "--in-flight",
            paramLabel = "N,...",
            split = ",",
            defaultValue = "1,8,64",
            converter = Small.class,
            description = "Requests of one key in flight. Default: 1,8,64.")
    private List<Integer> depths = List.of();

    @Option(
            names = "--batch-size",
            paramLabel = "N,...",
            split = ",",
            defaultValue = "1,32,128",
            converter = Small.class,
            description = "Keys of a request that is waited for. Default: 1,32,128.")
    private List<Integer> batches = List.of();

    @Option(
            names = "--objects",
            paramLabel = "N",
            defaultValue = "100k",
            converter = Objects.class,
            description = "Objects that the master holds. Default: 100k.")
    private long objects;

    @Option(
            names = "--heap-objects",
            paramLabel = "N,...",
            split = ",",
            defaultValue = "1M",
            converter = Objects.class,
            description = "Numbers of objects whose heap is measured; 0: none. Default: 1M.")
    private List<Long> heaps = List.of();

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            defaultValue = "500ms",
            converter = Converters.Seconds.class,
            description = "Time of each measurement, after half of it to warm up. Default: 500ms.")
    private Duration duration = Duration.ZERO;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "3",
            converter = Converters.Count.class,
            description = "Measurements of each line, whose medians are shown. Default: 3.")
    private int rounds;

    @Option(names = "--csv", description = "Print comma-separated values instead of a table.")
    private boolean csv;

    @Option(names = "--no-redis", description = "Leave out Redis.")
    private boolean withoutRedis;

    @Option(names = "--serve-until-input-ends", hidden = true, description = "End with the parent.")
    private boolean serve;

    /** An operation. */
    static final class OperationName implements ITypeConverter<MasterCell.Operation> {
        @Override
        public MasterCell.Operation convert(String text) {
            for (MasterCell.Operation operation : MasterCell.Operation.values()) {
                if (operation.label().equals(text)) {
                    return operation;
                }
            }
            throw new TypeConversionException("'" + text + "' is not exist, get or put");
        }
    }

    /** How many at once. */
    static final class Small implements ITypeConverter<Integer> {
        private static final int MOST = 4096;

        @Override
        public Integer convert(String text) {
            return Converters.whole(text, 1, MOST);
        }
    }

    /** {@code 1M}, a million. */
    static final class Objects implements ITypeConverter<Long> {
        private static final Pattern SYNTAX = Pattern.compile("([0-9]{1,9})([kM]?)");
        private static final long MOST = 100_000_000;

        @Override
        public Long convert(String text) {
            Matcher number = SYNTAX.matcher(text);
            long unit = text.endsWith("M") ? 1_000_000 : text.endsWith("k") ? 1000 : 1;
            long count = number.matches() ? Long.parseLong(number.group(1)) * unit : MOST + 1;
            if (count > MOST) {
                throw new TypeConversionException(
                        "'" + text + "' is not between 0 and 100M; write 5000, 100k or 1M");
            }
            return count;
        }
    }

    BenchMasterCommand(Console console, Clock clock) {
        this.output = new Output(console);
        this.clock = clock;
    }

    @Override
    public Integer call() {
        if (objects < 1 || duration.isZero()) {
            return output.failed(StoreCode.INVALID_PARAMS, "--objects and --duration are above 0");
        }
        if (serve) {
            return serve();
        }
        List<String> child = List.of("bench", "master", "--serve-until-input-ends");
        return switch (TargetProcess.startServer(Main.class.getName(), child)) {
            case Outcome.Failed<TargetProcess> failed -> output.failed(failed);
            case Outcome.Ok<TargetProcess>(TargetProcess process) -> {
                try (process) {
                    HostPort address = HostPort.parse(process.segment(), 0).orElseThrow();
                    yield measure(address);
                }
            }
        };
    }

    private int serve() {
        return switch (Master.start(MasterBench.config(), clock, new SimpleMeterRegistry())) {
            case Outcome.Failed<Master> failed -> output.failed(failed);
            case Outcome.Ok<Master>(Master master) -> {
                try (master) {
                    output.console().line("127.0.0.1:" + master.rpcPort());
                    output.console().flush();
                    output.console().awaitEndOfInput();
                }
                yield ExitCodes.OK;
            }
        };
    }

    private int measure(HostPort address) {
        MasterBenchTable table = new MasterBenchTable(output, csv);
        List<MasterRow> rows = new ArrayList<>();
        List<HeapRow> heapRows = new ArrayList<>();
        RedisReference redis = redis();
        try (redis;
                MasterBench bench = new MasterBench(address.host(), address.port(), clock)) {
            bench.prepare(objects);
            table.head();
            Predicate<MasterCell> wanted = cell -> operations.contains(cell.operation());
            for (MasterCell cell :
                    MasterBench.cells(depths, batches).stream().filter(wanted).toList()) {
                MasterRow row =
                        bench.measure(
                                cell,
                                duration,
                                rounds,
                                () -> redis == null ? 0 : redis.beside(cell, duration));
                rows.add(row);
                table.row(row);
            }
        } catch (UncheckedIOException e) {
            return output.failed(StoreCode.RPC_FAIL, "redis-benchmark: " + e.getMessage());
        }
        table.heapHead();
        for (long count : heaps) {
            if (count > 0) {
                switch (MasterBench.heap(count, duration, clock)) {
                    case Outcome.Failed<HeapRow> failed -> {
                        return output.failed(failed);
                    }
                    case Outcome.Ok<HeapRow>(HeapRow row) -> {
                        heapRows.add(row);
                        table.row(row);
                    }
                }
            }
        }
        return table.end(rows, heapRows);
    }

    private @Nullable RedisReference redis() {
        if (withoutRedis) {
            return null;
        }
        return switch (RedisReference.start()) {
            case Outcome.Ok<RedisReference>(RedisReference started) -> started;
            case Outcome.Failed<RedisReference> failed -> {
                output.console().note("note: " + failed.detail());
                yield null;
            }
        };
    }
}
