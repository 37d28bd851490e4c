package io.cassia.app.cli;

import io.cassia.app.Main;
import io.cassia.app.bench.BenchInitiator;
import io.cassia.app.bench.BenchPlan;
import io.cassia.app.bench.BenchRow;
import io.cassia.app.bench.References;
import io.cassia.app.bench.TargetProcess;
import io.cassia.base.Clock;
import io.cassia.base.HumanSize;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.Region;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.transport.Transport;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code cassia bench transfer}. Confined to its thread. */
@Command(
        name = "transfer",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the Transfer Engine: how fast memory of another process is read and written.",
            "Alone it starts the other process itself. Between two machines: --mode target on the"
                    + " one, then --mode initiator --segment-id NAME on the other."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia bench transfer",
            "  cassia bench transfer --operation read --block-size 64KiB --batch-size 1,16,128",
            "  cassia bench transfer --suite --rounds 5",
            "  cassia bench transfer --mode target --host 10.0.0.1",
            "  cassia bench transfer --mode initiator --segment-id 10.0.0.1:15428 --threads 4",
            "Beside each rate stand those of a plain socket loop and of memory copies in this run."
        })
final class BenchTransferCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final EngineOptions engines = new EngineOptions();
    private final Clock clock;
    private final StopSignal stop;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            converter = ModeName.class,
            description = "target or initiator; without it both, in two processes.")
    private Mode mode = Mode.BOTH;

    @Option(
            names = "--segment-id",
            paramLabel = "NAME",
            description = "Segment of the target, as it prints it; for --mode initiator.")
    private @Nullable String segment;

    @Option(
            names = "--operation",
            paramLabel = "read,write",
            split = ",",
            defaultValue = "read,write",
            converter = OperationName.class,
            description = "Directions. Default: read,write.")
    private List<Opcode> operations = List.of();

    @Option(
            names = "--block-size",
            paramLabel = "SIZE,...",
            split = ",",
            defaultValue = "4KiB,64KiB,1MiB",
            converter = Converters.Size.class,
            description = "Bytes of a request. Default: 4KiB,64KiB,1MiB.")
    private List<Long> blocks = List.of();

    @Option(
            names = "--batch-size",
            paramLabel = "N,...",
            split = ",",
            defaultValue = "1,16,128",
            converter = BatchSize.class,
            description = "Requests of a call. Default: 1,16,128.")
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
            defaultValue = "1s",
            converter = Converters.Seconds.class,
            description = "Time of each measurement, after half of it to warm up. Default: 1s.")
    private Duration duration = Duration.ZERO;

    @Option(
            names = "--buffer-size",
            paramLabel = "SIZE",
            defaultValue = "256MiB",
            converter = Converters.Size.class,
            description = "Memory on each side; more when the blocks need it. Default: 256MiB.")
    private long bufferBytes;

    @Option(
            names = "--suite",
            description = {
                "All comparisons in one run: over TCP beside one stream and Mooncake's figures,",
                "through shared memory beside plain copies. Takes --duration and --rounds."
            })
    private boolean suite;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "3",
            converter = Converters.Count.class,
            description = "Rounds of the suite, of which medians are shown. Default: 3.")
    private int rounds;

    @Option(names = "--csv", description = "Print comma-separated values instead of a table.")
    private boolean csv;

    @Option(names = "--no-references", description = "Leave out the plain sockets and the copies.")
    private boolean withoutReferences;

    @Option(names = "--until-input-ends", hidden = true, description = "End with the parent.")
    private boolean untilInputEnds;

    enum Mode {
        TARGET,
        INITIATOR,
        BOTH
    }

    /** A mode, in upstream's spelling. */
    static final class ModeName implements ITypeConverter<Mode> {
        @Override
        public Mode convert(String text) {
            return switch (text) {
                case "target" -> Mode.TARGET;
                case "initiator" -> Mode.INITIATOR;
                default ->
                        throw new TypeConversionException(
                                "'" + text + "' is not target or initiator");
            };
        }
    }

    /** A direction, in upstream's spelling. */
    static final class OperationName implements ITypeConverter<Opcode> {
        @Override
        public Opcode convert(String text) {
            return switch (text) {
                case "read" -> Opcode.READ;
                case "write" -> Opcode.WRITE;
                default -> throw new TypeConversionException("'" + text + "' is not read or write");
            };
        }
    }

    /** Requests of one call. */
    static final class BatchSize implements ITypeConverter<Integer> {
        private static final int MOST = 65_536;

        @Override
        public Integer convert(String text) {
            return Converters.whole(text, 1, MOST);
        }
    }

    BenchTransferCommand(Console console, Clock clock, StopSignal stop) {
        this.output = new Output(console);
        this.clock = clock;
        this.stop = stop;
    }

    @Override
    public Integer call() {
        if (blocks.stream().anyMatch(block -> block < 1) || duration.isZero()) {
            return output.failed(
                    TransferCode.ERR_INVALID_ARGUMENT, "--block-size and --duration are above 0");
        }
        if (suite) {
            return new BenchSuiteRun(output, engines, clock, rounds, duration).run();
        }
        BenchPlan plan =
                new BenchPlan(operations, blocks, batches, threads, duration, !withoutReferences);
        return switch (mode) {
            case TARGET -> serve(plan.bufferBytes(bufferBytes));
            case INITIATOR -> {
                String name = segment;
                yield name == null
                        ? output.failed(
                                TransferCode.ERR_INVALID_ARGUMENT,
                                "--mode initiator needs --segment-id, which the target prints")
                        : measure(plan, name, BenchTransferCommand::ownCpuNanos);
            }
            case BOTH -> measureBoth(plan);
        };
    }

    static long ownCpuNanos() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
    }

    private int serve(long bytes) {
        return switch (engines.start(clock, TransferConfig.Timeouts.DEFAULT)) {
            case Outcome.Failed<TransferEngine> failed -> output.failed(failed);
            case Outcome.Ok<TransferEngine>(TransferEngine engine) -> {
                try (engine) {
                    yield serve(engine, bytes);
                }
            }
        };
    }

    private int serve(TransferEngine engine, long bytes) {
        Outcome<RegisteredBuffer> offered =
                engine.allocate(bytes)
                        .then(
                                (Region region) -> {
                                    var _ = region.memory().fill((byte) 3);
                                    return engine.register(region.memory(), BufferOptions.DEFAULT);
                                });
        if (offered instanceof Outcome.Failed<RegisteredBuffer> failed) {
            return output.failed(failed);
        }
        if (untilInputEnds) {
            output.console().line(engine.localName());
            output.console().flush();
            output.console().awaitEndOfInput();
            return ExitCodes.OK;
        }
        stop.serve(() -> announce(engine, bytes), engine::close, StopSignal.SHORT);
        return ExitCodes.OK;
    }

    private void announce(TransferEngine engine, long bytes) {
        int _ =
                output.ok(
                        () ->
                                Json.object(
                                        "ready",
                                        true,
                                        "segment",
                                        engine.localName(),
                                        "bufferBytes",
                                        bytes),
                        () ->
                                """
                                segment   %s
                                memory    %s
                                Ctrl-C stops it; on the other machine:
                                  %s bench transfer --mode initiator --segment-id %s"""
                                        .formatted(
                                                engine.localName(),
                                                HumanSize.format(bytes),
                                                output.console().program(),
                                                engine.localName()));
        output.console().flush();
    }

    private int measureBoth(BenchPlan plan) {
        List<String> target =
                new ArrayList<>(
                        List.of(
                                "bench",
                                "transfer",
                                "--mode",
                                "target",
                                "--until-input-ends",
                                "--buffer-size",
                                Long.toString(plan.bufferBytes(bufferBytes)),
                                "--transport",
                                engines.transports().stream()
                                        .map(Transport::label)
                                        .collect(Collectors.joining(","))));
        target.addAll(engines.arguments());
        return switch (TargetProcess.start(Main.class.getName(), target)) {
            case Outcome.Failed<TargetProcess> failed -> output.failed(failed);
            case Outcome.Ok<TargetProcess>(TargetProcess process) -> {
                try (process) {
                    yield measure(
                            plan, process.segment(), () -> ownCpuNanos() + process.cpuNanos());
                }
            }
        };
    }

    private int measure(BenchPlan plan, String name, LongSupplier cpuNanos) {
        return switch (engines.start(clock, TransferConfig.Timeouts.DEFAULT)) {
            case Outcome.Failed<TransferEngine> failed -> output.failed(failed);
            case Outcome.Ok<TransferEngine>(TransferEngine engine) -> {
                try (engine) {
                    yield switch (BenchInitiator.open(
                            engine,
                            name,
                            Math.multiplyExact(plan.threadBytes(), (long) plan.threads()),
                            clock,
                            cpuNanos)) {
                        case Outcome.Failed<BenchInitiator> failed -> output.failed(failed);
                        case Outcome.Ok<BenchInitiator>(BenchInitiator initiator) -> {
                            try (initiator) {
                                yield measure(plan, initiator);
                            }
                        }
                    };
                }
            }
        };
    }

    private int measure(BenchPlan plan, BenchInitiator initiator) {
        if (initiator.check() instanceof Outcome.Failed<Done> failed) {
            return output.failed(failed);
        }
        BenchTable table = new BenchTable(output, csv);
        table.head();
        List<BenchRow> rows = new ArrayList<>();
        try (References references = new References(clock)) {
            for (BenchPlan.Cell cell : plan.cells()) {
                switch (initiator.measure(cell, plan.threads(), plan.duration())) {
                    case Outcome.Failed<BenchRow> failed -> {
                        return output.failed(failed);
                    }
                    case Outcome.Ok<BenchRow>(BenchRow row) -> {
                        BenchRow shown = plan.references() ? beside(row, references, plan) : row;
                        rows.add(shown);
                        table.row(shown);
                    }
                }
            }
        } catch (IOException e) {
            return output.failed(TransferCode.ERR_SOCKET, "the plain socket loop: " + e);
        }
        return table.end(rows);
    }

    private static BenchRow beside(BenchRow row, References references, BenchPlan plan)
            throws IOException {
        Duration part = plan.duration().dividedBy(2);
        return row.beside(
                references.socketRate(row.cell(), part),
                references.copyRate(row.cell().blockBytes(), part));
    }
}
