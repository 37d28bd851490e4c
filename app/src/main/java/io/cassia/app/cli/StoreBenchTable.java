package io.cassia.app.cli;

import io.cassia.app.bench.store.StoreCell;
import io.cassia.app.bench.store.StoreGoal;
import io.cassia.app.bench.store.StoreRow;
import io.cassia.app.bench.store.StoreRow.Rate;
import io.cassia.base.HumanSize;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * How measurements of the store are shown: a line as soon as it is known, or one document at the
 * end. Immutable.
 */
final class StoreBenchTable {
    /** Forms of the table. */
    enum Form {
        TEXT,
        CSV,
        MARKDOWN
    }

    private static final String TEXT_HEAD =
            "where        op    object  batch  objects/s     GB/s  typical    p50 us    p99 us   sums  raw GB/s"
                    + "  ratio  redis GB/s  ratio  peer obj/s  ratio";
    private static final String CSV_HEAD =
            "where,operation,object_bytes,batch,threads,rounds,objects_per_s,gb_per_s,"
                    + "typical_gb_per_s,p50_us,p99_us,checksum_share,raw_gb_per_s,raw_ratio,redis_gb_per_s,redis_ratio,peer_objects_per_s,"
                    + "peer_ratio";
    private static final String MARKDOWN_HEAD =
            """
            | where | op | object | batch | objects/s | GB/s | typical | p50 us | p99 us | sums | raw engine | redis | peer |
            | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\
            """;
    private static final double GIGA = 1e9;

    private final Output output;
    private final Form form;

    StoreBenchTable(Output output, Form form) {
        this.output = output;
        this.form = form;
    }

    void head() {
        if (!output.json()) {
            show(
                    switch (form) {
                        case TEXT -> TEXT_HEAD;
                        case CSV -> CSV_HEAD;
                        case MARKDOWN -> MARKDOWN_HEAD;
                    });
        }
    }

    void row(StoreRow row) {
        if (!output.json()) {
            show(
                    switch (form) {
                        case TEXT -> text(row);
                        case CSV -> csv(row);
                        case MARKDOWN -> markdown(row);
                    });
        }
    }

    private void show(String line) {
        output.console().line(line);
        output.console().flush();
    }

    int end(List<StoreRow> rows) {
        List<StoreGoal> goals = rows.stream().flatMap(row -> StoreGoal.of(row).stream()).toList();
        return output.ok(
                () ->
                        Json.object(
                                "rows", rows.stream().map(StoreBenchTable::document).toList(),
                                "goals", goals.stream().map(StoreBenchTable::document).toList()),
                () ->
                        switch (form) {
                            case CSV -> "";
                            case TEXT, MARKDOWN -> "\n" + goals(goals);
                        });
    }

    /** Readable in either form. */
    private static String goals(List<StoreGoal> goals) {
        StringBuilder table =
                new StringBuilder(
                        """
                        | work | figure | measured | reach | reached |
                        | --- | --- | ---: | ---: | --- |
                        """);
        for (StoreGoal goal : goals) {
            String said = goal.isReached() ? "yes" : "**no**";
            table.append(
                    String.format(
                            Locale.ROOT,
                            "| %s | %s | %.2f | %s %.1f | %s |%n",
                            work(goal.cell()),
                            goal.figure(),
                            goal.found(),
                            goal.atMost() ? "at most" : "at least",
                            goal.reach(),
                            goal.remark().isEmpty() ? said : said + "; " + goal.remark()));
        }
        return table.toString().stripTrailing();
    }

    private static String work(StoreCell cell) {
        return "%s %s %s x%d"
                .formatted(
                        cell.where().label(),
                        cell.operation().name().toLowerCase(Locale.ROOT),
                        HumanSize.format(cell.bytes()),
                        cell.batch());
    }

    private static Map<String, Object> document(StoreGoal goal) {
        return Json.object(
                "work", work(goal.cell()),
                "figure", goal.figure(),
                "found", goal.found(),
                "reach", goal.reach(),
                "atMost", goal.atMost(),
                "reached", goal.isReached(),
                "remark", goal.remark());
    }

    private static String operation(StoreRow row) {
        return row.cell().operation().name().toLowerCase(Locale.ROOT);
    }

    private static String size(StoreRow row) {
        return HumanSize.format(row.cell().bytes()).replace(" ", "");
    }

    private static String text(StoreRow row) {
        return String.format(
                        Locale.ROOT,
                        "%-12s %-4s %7s %6d %10.0f %8.3f %8.3f %9.1f %9.1f %6s %9s %6s %11s %6s %11s %6s",
                        row.cell().where().label(),
                        operation(row),
                        size(row),
                        row.cell().batch(),
                        row.objectsPerSecond(),
                        row.rate().mean() / GIGA,
                        row.rate().typical() / GIGA,
                        row.p50Nanos() / 1e3,
                        row.p99Nanos() / 1e3,
                        percent(row.checksumShare()),
                        typical(row.raw()),
                        known("%.2f", row.rawRatio()),
                        giga(row.redisRate()),
                        known("%.2f", row.redisRatio()),
                        known("%.0f", row.peerRate()),
                        known("%.2f", row.peerRatio()))
                .stripTrailing();
    }

    /** Nothing for a figure that was not measured. */
    private static String known(String format, OptionalDouble value) {
        return value.isEmpty() ? "" : String.format(Locale.ROOT, format, value.getAsDouble());
    }

    private static String percent(OptionalDouble share) {
        return share.isEmpty()
                ? ""
                : String.format(Locale.ROOT, "%.0f%%", share.getAsDouble() * 100);
    }

    private static String giga(OptionalDouble rate) {
        return rate.isEmpty() ? "" : String.format(Locale.ROOT, "%.3f", rate.getAsDouble() / GIGA);
    }

    private static String typical(Optional<Rate> rate) {
        return rate.map(known -> String.format(Locale.ROOT, "%.3f", known.typical() / GIGA))
                .orElse("");
    }

    private static String csv(StoreRow row) {
        return String.format(
                Locale.ROOT,
                "%s,%s,%d,%d,%d,%d,%.0f,%.4f,%.4f,%.1f,%.1f,%s,%s,%s,%s,%s,%s,%s",
                row.cell().where().label(),
                operation(row),
                row.cell().bytes(),
                row.cell().batch(),
                row.threads(),
                row.rounds().size(),
                row.objectsPerSecond(),
                row.rate().mean() / GIGA,
                row.rate().typical() / GIGA,
                row.p50Nanos() / 1e3,
                row.p99Nanos() / 1e3,
                known("%.3f", row.checksumShare()),
                typical(row.raw()),
                known("%.3f", row.rawRatio()),
                giga(row.redisRate()),
                known("%.3f", row.redisRatio()),
                known("%.0f", row.peerRate()),
                known("%.3f", row.peerRatio()));
    }

    private static String markdown(StoreRow row) {
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %d | %.0f | %.3f | %.3f | %.1f | %.1f | %s | %s | %s | %s |",
                row.cell().where().label(),
                operation(row),
                HumanSize.format(row.cell().bytes()),
                row.cell().batch(),
                row.objectsPerSecond(),
                row.rate().mean() / GIGA,
                row.rate().typical() / GIGA,
                row.p50Nanos() / 1e3,
                row.p99Nanos() / 1e3,
                percent(row.checksumShare()),
                beside(typical(row.raw()), row.rawRatio()),
                beside(giga(row.redisRate()), row.redisRatio()),
                beside(known("%.0f", row.peerRate()), row.peerRatio()));
    }

    private static String beside(String theirs, OptionalDouble ratio) {
        return theirs.isEmpty() ? "" : theirs + " (" + known("%.2f", ratio) + "x)";
    }

    private static Map<String, Object> document(StoreRow row) {
        return Json.object(
                "where", row.cell().where().label(),
                "operation", operation(row),
                "objectBytes", row.cell().bytes(),
                "batch", row.cell().batch(),
                "threads", row.threads(),
                "rounds", row.rounds().size(),
                "objectsPerSecond", row.objectsPerSecond(),
                "p50Nanos", row.p50Nanos(),
                "p99Nanos", row.p99Nanos(),
                "uncheckedP50Nanos",
                        row.uncheckedNanos().isEmpty()
                                ? Json.Null.NULL
                                : (Object) row.uncheckedNanos().getAsLong(),
                "rate", document(Optional.of(row.rate())),
                "raw", document(row.raw()),
                "redisBytesPerSecond", orNull(row.redisRate()),
                "peerObjectsPerSecond", orNull(row.peerRate()));
    }

    private static Object orNull(OptionalDouble value) {
        return value.isEmpty() ? Json.Null.NULL : (Object) value.getAsDouble();
    }

    private static Object document(Optional<Rate> rate) {
        return rate.isEmpty()
                ? Json.Null.NULL
                : Json.object(
                        "meanBytesPerSecond", rate.get().mean(),
                        "typicalBytesPerSecond", rate.get().typical());
    }
}
