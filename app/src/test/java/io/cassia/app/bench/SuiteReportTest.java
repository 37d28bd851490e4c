package io.cassia.app.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.transfer.Opcode;
import java.util.List;
import org.junit.jupiter.api.Test;

class SuiteReportTest {
    private static final long MICRO = 1000;

    /** Cells at one rate; a call of one 4 KiB block takes so long at half of the calls. */
    private static BenchRow row(BenchPlan.Cell cell, double rate, double stream, double copy) {
        long calls = 1000;
        long bytes = calls * cell.blockBytes() * cell.batchSize();
        return new BenchRow(
                cell,
                1,
                bytes,
                calls,
                (long) (bytes / rate * 1e9),
                20 * MICRO,
                30 * MICRO,
                40 * MICRO,
                0,
                stream,
                copy);
    }

    private static SuiteReport.Round round(double large, double small, double memory) {
        return new SuiteReport.Round(
                List.of(2e9),
                TransferSuite.tcpCells().stream()
                        .map(
                                cell ->
                                        row(
                                                cell,
                                                cell.blockBytes() == 4096
                                                        ? small * Math.min(4, cell.batchSize())
                                                        : large,
                                                2e9,
                                                0))
                        .toList(),
                TransferSuite.memoryCells().stream()
                        .map(cell -> row(cell, memory, 0, 10e9))
                        .toList(),
                List.of());
    }

    private static SuiteReport.Goal goal(SuiteReport report, String work) {
        return report.goals().stream()
                .filter(found -> found.work().equals(work))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void goals_are_ratios_of_medians_within_the_run() {
        SuiteReport report = new SuiteReport("iperf3 -P1");
        report.add(round(1.0e9, 0.1e9, 7e9));
        report.add(round(1.9e9, 0.1e9, 9e9));
        report.add(round(9.0e9, 0.1e9, 9e9));
        assertThat(goal(report, "TCP read 1 MiB x1").ratio()).isBetween(0.949, 0.951);
        assertThat(goal(report, "TCP read 1 MiB x1").isReached()).isTrue();
        assertThat(goal(report, "TCP write 4 KiB x16").ratio()).isBetween(3.99, 4.01);
        assertThat(goal(report, "TCP read 4 KiB x1, p50").isReached()).isTrue();
        assertThat(goal(report, "shared memory write 16 MiB x1").ratio()).isBetween(0.89, 0.91);
        assertThat(goal(report, "shared memory read 4 KiB x1").ratio()).isBetween(89.0, 91.0);
        assertThat(report.leastLead().orElseThrow()).isBetween(0.77, 0.79);
    }

    @Test
    void what_is_not_reached_is_said_so() {
        SuiteReport report = new SuiteReport("plain socket");
        report.add(round(1.0e9, 0.1e9, 5e9));
        assertThat(goal(report, "TCP read 16 MiB x1").isReached()).isFalse();
        assertThat(report.markdown())
                .contains(
                        "| TCP read 16 MiB x1 | 1.00 GB/s | plain socket 2.00 GB/s | 0.50 | at least"
                                + " 0.9 | **no** |",
                        "| read 64 KiB x16 | 1.000 | 20.0 | 40.0 | 0.00 | 1.690 | 0.59 |")
                .first()
                .isEqualTo(
                        "One stream (plain socket): 2.00 GB/s (2.00 GB/s to 2.00 GB/s); 1 rounds,"
                                + " medians.");
    }

    @Test
    void every_figure_of_the_peer_is_compared() {
        assertThat(TransferSuite.tcpCells())
                .filteredOn(cell -> PeerFigures.rate(cell).isPresent())
                .hasSize(2 * 4 * 3);
        assertThat(PeerFigures.rate(new BenchPlan.Cell(Opcode.WRITE, 1 << 20, 16)))
                .contains(2.17e9);
        assertThat(PeerFigures.rate(new BenchPlan.Cell(Opcode.WRITE, 16 << 20, 16))).isEmpty();
    }
}
