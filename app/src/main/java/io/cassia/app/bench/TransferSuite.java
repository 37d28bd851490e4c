package io.cassia.app.bench;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.Region;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * All comparisons in one run, in rounds, so that other work on the machine weighs on both sides of
 * each: over TCP beside one stream and the C++ engine, through shared memory beside plain copies.
 * Confined to its thread.
 */
public final class TransferSuite {
    /** Largest block times its batch, on each side. */
    public static final long BUFFER_BYTES = 512L << 20;

    private static final Set<Long> STREAM_BEFORE = Set.of(4096L, 1L << 20);
    private static final List<Long> LARGE_BLOCKS = List.of(16L << 20);
    private static final List<Integer> LARGE_DEPTHS = List.of(1, 16);

    /** Blocks that go through shared memory. */
    public static final List<Long> MEMORY_BLOCKS = List.of(4096L, 65_536L, 1L << 20, 16L << 20);

    private final BenchInitiator tcp;
    private final BenchInitiator memory;
    private final Region from;
    private final Region to;
    private final OneStream stream;
    private final Clock clock;

    /**
     * A suite.
     *
     * @param tcp reaches its target over TCP
     * @param memory reaches it through shared memory
     * @param from memory of the kind that engines allocate, to copy from
     * @param to the same to copy to
     */
    public TransferSuite(
            BenchInitiator tcp,
            BenchInitiator memory,
            Region from,
            Region to,
            OneStream stream,
            Clock clock) {
        this.tcp = tcp;
        this.memory = memory;
        this.from = from;
        this.to = to;
        this.stream = stream;
        this.clock = clock;
    }

    /** What is measured over TCP. */
    static List<BenchPlan.Cell> tcpCells() {
        List<BenchPlan.Cell> cells = new ArrayList<>();
        for (Opcode operation : Opcode.values()) {
            add(cells, operation, PeerFigures.BLOCKS, PeerFigures.DEPTHS);
            add(cells, operation, LARGE_BLOCKS, LARGE_DEPTHS);
        }
        return cells;
    }

    /** What is measured through shared memory. */
    static List<BenchPlan.Cell> memoryCells() {
        List<BenchPlan.Cell> cells = new ArrayList<>();
        for (Opcode operation : Opcode.values()) {
            add(cells, operation, MEMORY_BLOCKS, List.of(1));
        }
        return cells;
    }

    private static void add(
            List<BenchPlan.Cell> cells, Opcode operation, List<Long> blocks, List<Integer> depths) {
        for (long block : blocks) {
            depths.forEach(depth -> cells.add(new BenchPlan.Cell(operation, block, depth)));
        }
    }

    /**
     * Measures all of it. The first failure ends it.
     *
     * @param duration of each measurement, after half of it to warm up
     * @param progress is told what is done
     */
    public Outcome<SuiteReport> run(int rounds, Duration duration, Consumer<String> progress) {
        SuiteReport report = new SuiteReport(stream.name());
        for (int round = 1; round <= rounds; round++) {
            switch (run(duration)) {
                case Outcome.Failed<SuiteReport.Round> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<SuiteReport.Round>(SuiteReport.Round measured) ->
                        report.add(measured);
            }
            progress.accept("round %d of %d is done".formatted(round, rounds));
        }
        return Outcome.ok(report);
    }

    private Outcome<SuiteReport.Round> run(Duration duration) {
        List<Double> streams = new ArrayList<>();
        List<BenchRow> overTcp = new ArrayList<>();
        List<BenchRow> throughMemory = new ArrayList<>();
        List<Double> copies = new ArrayList<>();
        for (BenchPlan.Cell cell : tcpCells()) {
            if (cell.batchSize() == 1 && STREAM_BEFORE.contains(cell.blockBytes())) {
                // Several times in a round: what the machine gives changes within it.
                if (stream.rate(duration) instanceof Outcome.Ok<Double>(Double rate)) {
                    streams.add(rate);
                }
            }
            switch (tcp.measure(cell, 1, duration)) {
                case Outcome.Failed<BenchRow> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<BenchRow>(BenchRow row) ->
                        overTcp.add(row.beside(streams.isEmpty() ? 0 : streams.getLast(), 0));
            }
        }
        for (BenchPlan.Cell cell : memoryCells()) {
            double copy =
                    References.copyRate(
                            clock, from.memory(), to.memory(), cell.blockBytes(), duration);
            copies.add(copy);
            switch (memory.measure(cell, 1, duration)) {
                case Outcome.Failed<BenchRow> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<BenchRow>(BenchRow row) -> throughMemory.add(row.beside(0, copy));
            }
        }
        return Outcome.ok(new SuiteReport.Round(streams, overTcp, throughMemory, copies));
    }
}
