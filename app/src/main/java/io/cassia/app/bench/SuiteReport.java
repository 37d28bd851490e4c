package io.cassia.app.bench;

import io.cassia.base.HumanSize;
import io.cassia.transfer.Opcode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/**
 * What a suite has measured: medians over its rounds, and what they are to reach. Confined to its
 * thread. Its text is Markdown, as it stands in {@code docs/benchmarks.md}.
 */
public final class SuiteReport {
    private static final double GIGA = 1e9;

    /**
     * One round. Immutable.
     *
     * @param streams bytes per second of one connection
     * @param tcp each beside the stream before it
     * @param memory each beside the copies before it
     * @param copies bytes per second
     */
    record Round(
            List<Double> streams, List<BenchRow> tcp, List<BenchRow> memory, List<Double> copies) {
        Round {
            streams = List.copyOf(streams);
            tcp = List.copyOf(tcp);
            memory = List.copyOf(memory);
            copies = List.copyOf(copies);
        }
    }

    /**
     * A line of the targets. Immutable.
     *
     * @param work what
     * @param found ours
     * @param reference what it is compared with
     * @param ratio or another measure
     * @param reach at least; at most when negative
     */
    public record Goal(String work, String found, String reference, double ratio, double reach) {
        /** Whether it is reached. */
        public boolean isReached() {
            return reach < 0 ? ratio <= -reach : ratio >= reach;
        }
    }

    private final String streamName;
    private final List<Round> rounds = new ArrayList<>();

    SuiteReport(String streamName) {
        this.streamName = streamName;
    }

    void add(Round round) {
        rounds.add(round);
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return sorted.isEmpty() ? 0 : sorted.get((sorted.size() - 1) / 2);
    }

    private List<BenchRow> tcp(BenchPlan.Cell cell) {
        return rounds.stream()
                .flatMap(round -> round.tcp().stream())
                .filter(row -> row.cell().equals(cell))
                .toList();
    }

    private List<BenchRow> memory(BenchPlan.Cell cell) {
        return rounds.stream()
                .flatMap(round -> round.memory().stream())
                .filter(row -> row.cell().equals(cell))
                .toList();
    }

    private static double median(List<BenchRow> rows, ToDoubleFunction<BenchRow> value) {
        return median(rows.stream().map(value::applyAsDouble).toList());
    }

    private static double toSocket(BenchRow row) {
        return row.socketRate() == 0 ? 0 : row.rate() / row.socketRate();
    }

    private static double toCopy(BenchRow row) {
        return row.copyRate() == 0 ? 0 : row.rate() / row.copyRate();
    }

    private static String name(BenchPlan.Cell cell) {
        return "%s %s x%d"
                .formatted(
                        cell.operation().name().toLowerCase(Locale.ROOT),
                        HumanSize.format(cell.blockBytes()),
                        cell.batchSize());
    }

    /** The targets, each with what was found. */
    public List<Goal> goals() {
        List<Goal> goals = new ArrayList<>();
        for (BenchPlan.Cell cell : TransferSuite.tcpCells()) {
            boolean large = cell.blockBytes() >= 1 << 20 && cell.batchSize() <= 16;
            boolean middle = cell.blockBytes() == 65_536 && cell.batchSize() == 16;
            if (large || middle) {
                List<BenchRow> rows = tcp(cell);
                goals.add(
                        new Goal(
                                "TCP " + name(cell),
                                gigabytes(median(rows, BenchRow::rate)),
                                streamName + " " + gigabytes(median(rows, BenchRow::socketRate)),
                                median(rows, SuiteReport::toSocket),
                                0.9));
            }
        }
        for (Opcode operation : Opcode.values()) {
            small(goals, operation);
        }
        return goals;
    }

    private void small(List<Goal> goals, Opcode operation) {
        BenchPlan.Cell one = new BenchPlan.Cell(operation, 4096, 1);
        BenchPlan.Cell many = new BenchPlan.Cell(operation, 4096, 16);
        double alone = median(tcp(one), BenchRow::rate);
        double together = median(tcp(many), BenchRow::rate);
        goals.add(
                new Goal(
                        "TCP " + name(many),
                        gigabytes(together),
                        "x1 " + gigabytes(alone),
                        together / alone,
                        4));
        if (operation == Opcode.READ) {
            double micros = median(tcp(one), row -> row.p50Nanos() / 1e3);
            goals.add(
                    new Goal(
                            "TCP " + name(one) + ", p50",
                            String.format(Locale.ROOT, "%.1f us", micros),
                            "25 us",
                            micros,
                            -25));
        }
        for (BenchPlan.Cell cell : TransferSuite.memoryCells()) {
            if (cell.operation() == operation && cell.blockBytes() > 4096) {
                List<BenchRow> rows = memory(cell);
                goals.add(
                        new Goal(
                                "shared memory " + name(cell),
                                gigabytes(median(rows, BenchRow::rate)),
                                "copy " + gigabytes(median(rows, BenchRow::copyRate)),
                                median(rows, SuiteReport::toCopy),
                                0.8));
            }
        }
        double shared = median(memory(one), BenchRow::rate);
        goals.add(
                new Goal(
                        "shared memory " + name(one),
                        gigabytes(shared),
                        "TCP " + gigabytes(alone),
                        shared / alone,
                        15));
    }

    private static String gigabytes(double rate) {
        return String.format(Locale.ROOT, "%.2f GB/s", rate / GIGA);
    }

    /** Whether each cell of the C++ engine's figures is beaten, and by how much. */
    public OptionalDouble leastLead() {
        return TransferSuite.tcpCells().stream()
                .filter(cell -> PeerFigures.rate(cell).isPresent())
                .mapToDouble(this::lead)
                .min();
    }

    private double lead(BenchPlan.Cell cell) {
        Optional<Double> peer = PeerFigures.rate(cell);
        return peer.isEmpty() ? 0 : median(tcp(cell), BenchRow::rate) / peer.get();
    }

    /** Two tables. */
    public List<String> markdown() {
        List<String> lines = new ArrayList<>();
        List<Double> streams =
                rounds.stream().flatMap(round -> round.streams().stream()).sorted().toList();
        lines.add(
                "One stream (%s): %s (%s to %s); %d rounds, medians."
                        .formatted(
                                streamName,
                                gigabytes(median(streams)),
                                gigabytes(streams.isEmpty() ? 0 : streams.getFirst()),
                                gigabytes(streams.isEmpty() ? 0 : streams.getLast()),
                                rounds.size()));
        lines.add("");
        lines.add("| work | measured | reference, same run | ratio | reach | reached |");
        lines.add("| --- | ---: | ---: | ---: | ---: | --- |");
        for (Goal goal : goals()) {
            lines.add(
                    String.format(
                            Locale.ROOT,
                            "| %s | %s | %s | %.2f | %s %s | %s |",
                            goal.work(),
                            goal.found(),
                            goal.reference(),
                            goal.ratio(),
                            goal.reach() < 0 ? "at most" : "at least",
                            goal.reach() < 0 ? -goal.reach() : goal.reach(),
                            goal.isReached() ? "yes" : "**no**"));
        }
        lines.add("");
        lines.add("| TCP, 1 thread | GB/s | p50 us | p99 us | CPUs | C++ engine GB/s | ratio |");
        lines.add("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
        for (BenchPlan.Cell cell : TransferSuite.tcpCells()) {
            PeerFigures.rate(cell).ifPresent(peer -> lines.add(beside(cell, peer)));
        }
        return lines;
    }

    private String beside(BenchPlan.Cell cell, double peer) {
        List<BenchRow> rows = tcp(cell);
        return String.format(
                Locale.ROOT,
                "| %s | %.3f | %.1f | %.1f | %.2f | %.3f | %.2f |",
                name(cell),
                median(rows, BenchRow::rate) / GIGA,
                median(rows, row -> row.p50Nanos() / 1e3),
                median(rows, row -> row.p99Nanos() / 1e3),
                median(rows, BenchRow::processors),
                peer / GIGA,
                lead(cell));
    }
}
