package io.cassia.app.cli;

import com.google.errorprone.annotations.FormatMethod;
import io.cassia.app.replay.ReplayReport;
import io.cassia.base.HumanDuration;
import io.cassia.base.HumanSize;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A replay's report for people and for machines. Immutable. */
final class ReplayTexts {
    private ReplayTexts() {}

    /** The figures by name; a contract with scripts. */
    static Map<String, Object> document(ReplayReport report, int blockBytes) {
        Map<String, Object> document =
                Json.object(
                        "requests", report.requests(),
                        "blocks", report.blocks(),
                        "hits", report.hits(),
                        "hitRatio", report.hitRatio(),
                        "blockBytes", blockBytes,
                        "bytesRead", report.bytesRead(),
                        "bytesWritten", report.bytesWritten(),
                        "seconds", report.seconds(),
                        "readGBps", report.readGbPerSecond(),
                        "writeGBps", report.writeGbPerSecond(),
                        "get", latency(report.get()),
                        "put", latency(report.put()),
                        "evictions",
                                report.evictions().isPresent()
                                        ? (Object) report.evictions().getAsLong()
                                        : Json.Null.NULL,
                        "alreadyStored", report.alreadyStored(),
                        "failures", report.failures(),
                        "failuresByCode", report.failuresByCode(),
                        "verificationErrors", report.verificationErrors(),
                        "wrongBlocks", report.wrongBlocks(),
                        "clients", report.clients());
        report.stopped().ifPresent(reason -> document.put("stopped", reason));
        return document;
    }

    private static Map<String, Object> latency(ReplayReport.Latency latency) {
        return Json.object(
                "calls", latency.calls(),
                "p50Micros", latency.p50Nanos() / 1e3,
                "p99Micros", latency.p99Nanos() / 1e3,
                "maxMicros", latency.maxNanos() / 1e3);
    }

    static String text(ReplayReport report, int blockBytes) {
        List<String> lines = new ArrayList<>();
        lines.add(
                format(
                        "replayed    %,d requests, %,d blocks of %s in %.2f s, %d %s",
                        report.requests(),
                        report.blocks(),
                        HumanSize.format(blockBytes),
                        report.seconds(),
                        report.clients(),
                        report.clients() == 1 ? "client" : "clients"));
        lines.add(
                format("hits        %,d blocks, %.2f %%", report.hits(), 100 * report.hitRatio()));
        lines.add(moved("read", report.bytesRead(), report.readGbPerSecond(), report.get()));
        lines.add(moved("written", report.bytesWritten(), report.writeGbPerSecond(), report.put()));
        lines.add(
                report.evictions().isPresent()
                        ? format("evicted     %,d objects", report.evictions().getAsLong())
                        : "evicted     unknown");
        lines.add(format("failures    %,d", report.failures()));
        report.failuresByCode()
                .forEach(
                        (code, count) ->
                                lines.add(
                                        format(
                                                "  %,d x %s, first: %s",
                                                count,
                                                code,
                                                report.failureExamples().getOrDefault(code, ""))));
        lines.add(verified(report));
        report.wrongBlocks().forEach(wrong -> lines.add("  " + wrong));
        report.stopped().ifPresent(reason -> lines.add("stopped     " + reason));
        return String.join("\n", lines);
    }

    private static String verified(ReplayReport report) {
        return report.verificationErrors() == 0
                ? "verified    every byte that was read is right"
                : format("verified    %,d WRONG BLOCKS", report.verificationErrors());
    }

    private static String moved(
            String what, long bytes, double gbPerSecond, ReplayReport.Latency calls) {
        if (calls.calls() == 0) {
            return format("%-12snothing", what);
        }
        return format(
                "%-12s%s at %.2f GB/s; per request p50 %s, p99 %s",
                what,
                HumanSize.format(bytes),
                gbPerSecond,
                HumanDuration.formatNanos(calls.p50Nanos()),
                HumanDuration.formatNanos(calls.p99Nanos()));
    }

    @FormatMethod
    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
