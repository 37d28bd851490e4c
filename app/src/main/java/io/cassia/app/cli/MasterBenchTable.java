package io.cassia.app.cli;

import io.cassia.app.bench.HeapRow;
import io.cassia.app.bench.MasterRow;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * How measurements of a master are shown: a line as soon as it is known, in Markdown, which people
 * can read as it is, or as comma-separated values; or one document at the end. Confined.
 */
final class MasterBenchTable {
    private static final String HEAD =
            """
            | operation | clients | in flight | batch |      keys/s |  p50 us |  p99 us |       Redis | ratio |    Mooncake | ratio |
            | --------- | ------: | --------: | ----: | ----------: | ------: | ------: | ----------: | ----: | ----------: | ----: |""";
    private static final String CSV_HEAD =
            "operation,clients,in_flight,batch,objects,seconds,keys,keys_per_s,p50_us,p99_us,"
                    + "redis_per_s,redis_ratio,mooncake_per_s,mooncake_ratio";
    private static final String HEAP_HEAD =
            """

            |    objects | heap bytes/object | of which key |  puts/s | exist p50 us |
            | ---------: | ----------------: | -----------: | ------: | -----------: |""";

    private static final String HEAP_CSV_HEAD =
            "\nobjects,heap_bytes_per_object,key_bytes,puts_per_s,exist_p50_us";

    private final Output output;
    private final boolean csv;

    MasterBenchTable(Output output, boolean csv) {
        this.output = output;
        this.csv = csv;
    }

    void head() {
        show(csv ? CSV_HEAD : HEAD);
    }

    void row(MasterRow row) {
        show(csv ? csv(row) : text(row));
    }

    void heapHead() {
        show(csv ? HEAP_CSV_HEAD : HEAP_HEAD);
    }

    void row(HeapRow row) {
        show(
                String.format(
                        Locale.ROOT,
                        csv
                                ? "%d,%.1f,%d,%.0f,%.1f"
                                : "| %,10d | %17.1f | %12d | %,7.0f | %12.1f |",
                        row.objects(),
                        row.perObject(),
                        row.keyBytes(),
                        row.putsPerSecond(),
                        row.existP50Nanos() / 1e3));
    }

    private void show(String line) {
        if (!output.json()) {
            output.console().line(line);
            output.console().flush();
        }
    }

    int end(List<MasterRow> rows, List<HeapRow> heaps) {
        return output.ok(
                () ->
                        Json.object(
                                "rows", rows.stream().map(MasterBenchTable::document).toList(),
                                "heap", heaps.stream().map(MasterBenchTable::document).toList()),
                () -> "");
    }

    private static String text(MasterRow row) {
        return String.format(
                Locale.ROOT,
                "| %-9s | %7d | %9d | %5d | %,11.0f | %7.1f | %7.1f | %11s | %5s | %11s | %5s |",
                row.cell().operation().label(),
                row.cell().clients(),
                row.cell().inFlight(),
                row.cell().batch(),
                row.rate(),
                row.p50Nanos() / 1e3,
                row.p99Nanos() / 1e3,
                known("%,.0f", row.redis()),
                known("%.2f", row.redisRatio()),
                known("%,.0f", row.cell().peer()),
                known("%.2f", row.peerRatio()));
    }

    /** Nothing for a figure that was not measured. */
    private static String known(String format, double value) {
        return value == 0 ? "" : String.format(Locale.ROOT, format, value);
    }

    private static String csv(MasterRow row) {
        return String.format(
                Locale.ROOT,
                "%s,%d,%d,%d,%d,%.3f,%d,%.0f,%.1f,%.1f,%s,%s,%s,%s",
                row.cell().operation().label(),
                row.cell().clients(),
                row.cell().inFlight(),
                row.cell().batch(),
                row.objects(),
                row.nanos() / 1e9,
                row.keys(),
                row.rate(),
                row.p50Nanos() / 1e3,
                row.p99Nanos() / 1e3,
                known("%.0f", row.redis()),
                known("%.3f", row.redisRatio()),
                known("%.0f", row.cell().peer()),
                known("%.3f", row.peerRatio()));
    }

    private static Map<String, Object> document(MasterRow row) {
        return Json.object(
                "operation", row.cell().operation().label(),
                "clients", row.cell().clients(),
                "inFlight", row.cell().inFlight(),
                "batch", row.cell().batch(),
                "objects", row.objects(),
                "nanos", row.nanos(),
                "keys", row.keys(),
                "keysPerSecond", row.rate(),
                "p50Nanos", row.p50Nanos(),
                "p99Nanos", row.p99Nanos(),
                "redisPerSecond", row.redis(),
                "mooncakePerSecond", row.cell().peer());
    }

    private static Map<String, Object> document(HeapRow row) {
        return Json.object(
                "objects", row.objects(),
                "heapBytesPerObject", row.perObject(),
                "keyBytes", row.keyBytes(),
                "putsPerSecond", row.putsPerSecond(),
                "existP50Nanos", row.existP50Nanos());
    }
}
