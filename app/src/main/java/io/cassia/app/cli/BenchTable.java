package io.cassia.app.cli;

import io.cassia.app.bench.BenchRow;
import io.cassia.base.HumanSize;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * How measurements are shown: a line as soon as it is known, or one document at the end. Confined.
 */
final class BenchTable {
    private static final String HEAD =
            "operation  block   batch threads     GB/s   blocks/s    p50 us    p95 us    p99 us"
                    + "   CPUs  socket GB/s  ratio  copy GB/s  ratio";
    private static final String CSV_HEAD =
            "operation,block_bytes,batch,threads,seconds,bytes,gb_per_s,blocks_per_s,p50_us,p95_us,"
                    + "p99_us,cpus,socket_gb_per_s,socket_ratio,copy_gb_per_s,copy_ratio";
    private static final double GIGA = 1e9;

    private final Output output;
    private final boolean csv;

    BenchTable(Output output, boolean csv) {
        this.output = output;
        this.csv = csv;
    }

    void head() {
        if (!output.json()) {
            show(csv ? CSV_HEAD : HEAD);
        }
    }

    void row(BenchRow row) {
        if (!output.json()) {
            show(csv ? csv(row) : text(row));
        }
    }

    private void show(String line) {
        output.console().line(line);
        output.console().flush();
    }

    int end(List<BenchRow> rows) {
        return output.ok(
                () -> Json.object("rows", rows.stream().map(BenchTable::document).toList()),
                () -> "");
    }

    private static String operation(BenchRow row) {
        return row.cell().operation().name().toLowerCase(Locale.ROOT);
    }

    private static double ratio(BenchRow row, double reference) {
        return reference == 0 ? 0 : row.rate() / reference;
    }

    private static String text(BenchRow row) {
        return String.format(
                        Locale.ROOT,
                        "%-9s %7s %6d %7d %8.3f %10.0f %9.1f %9.1f %9.1f %6.2f %12s %6s %10s %6s",
                        operation(row),
                        HumanSize.format(row.cell().blockBytes()).replace(" ", ""),
                        row.cell().batchSize(),
                        row.threads(),
                        row.rate() / GIGA,
                        row.blocksPerSecond(),
                        row.p50Nanos() / 1e3,
                        row.p95Nanos() / 1e3,
                        row.p99Nanos() / 1e3,
                        row.processors(),
                        known("%.3f", row.socketRate() / GIGA),
                        known("%.2f", ratio(row, row.socketRate())),
                        known("%.3f", row.copyRate() / GIGA),
                        known("%.2f", ratio(row, row.copyRate())))
                .stripTrailing();
    }

    /** Nothing for a figure that was not measured. */
    private static String known(String format, double value) {
        return value == 0 ? "" : String.format(Locale.ROOT, format, value);
    }

    private static String csv(BenchRow row) {
        return String.format(
                Locale.ROOT,
                "%s,%d,%d,%d,%.3f,%d,%.4f,%.0f,%.1f,%.1f,%.1f,%.2f,%s,%s,%s,%s",
                operation(row),
                row.cell().blockBytes(),
                row.cell().batchSize(),
                row.threads(),
                row.nanos() / 1e9,
                row.bytes(),
                row.rate() / GIGA,
                row.blocksPerSecond(),
                row.p50Nanos() / 1e3,
                row.p95Nanos() / 1e3,
                row.p99Nanos() / 1e3,
                row.processors(),
                known("%.4f", row.socketRate() / GIGA),
                known("%.3f", ratio(row, row.socketRate())),
                known("%.4f", row.copyRate() / GIGA),
                known("%.3f", ratio(row, row.copyRate())));
    }

    private static Map<String, Object> document(BenchRow row) {
        return Json.object(
                "operation", operation(row),
                "blockBytes", row.cell().blockBytes(),
                "batchSize", row.cell().batchSize(),
                "threads", row.threads(),
                "nanos", row.nanos(),
                "bytes", row.bytes(),
                "bytesPerSecond", row.rate(),
                "blocksPerSecond", row.blocksPerSecond(),
                "p50Nanos", row.p50Nanos(),
                "p95Nanos", row.p95Nanos(),
                "p99Nanos", row.p99Nanos(),
                "processors", row.processors(),
                "socketBytesPerSecond", row.socketRate(),
                "copyBytesPerSecond", row.copyRate());
    }
}
