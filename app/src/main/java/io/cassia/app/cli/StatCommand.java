package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.base.ByteString;
import io.cassia.base.HumanSize;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code cassia stat}. Confined to its thread. */
@Command(
        name = "stat",
        description = "Show the pool, or one object.",
        footerHeading = "%nExamples:%n",
        footer = {"  cassia stat", "  cassia stat model-a/block-7", "  cassia stat --json"})
final class StatCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final Connection connection;

    @Parameters(arity = "0..1", paramLabel = "KEY", description = "Name of an object.")
    private @Nullable String key;

    StatCommand(Output output, Connection connection) {
        this.output = output;
        this.connection = connection;
    }

    static StatCommand of(Console console, Backend backend) {
        return new StatCommand(new Output(console), new Connection(backend));
    }

    @Override
    public Integer call() {
        String name = key;
        return connection.use(
                output, name == null ? this::showPool : store -> showObject(store, name));
    }

    private int showObject(ObjectStore store, String name) {
        ByteString wanted = ByteString.of(name);
        return switch (store.list(wanted, ByteString.EMPTY, 1)) {
            case Outcome.Ok<List<KeyInfo>>(List<KeyInfo> found)
                    when !found.isEmpty() && found.getFirst().key().equals(wanted) ->
                    showObject(found.getFirst(), name);
            case Outcome.Ok<List<KeyInfo>> ok ->
                    output.failed(StoreCode.OBJECT_NOT_FOUND, "stat " + name + ": no such object");
            case Outcome.Failed<List<KeyInfo>> failure -> output.failed(failure);
        };
    }

    private int showObject(KeyInfo found, String name) {
        return output.ok(
                () -> ListCommand.document(found),
                () ->
                        """
                        key       %s
                        size      %s
                        replicas  %d
                        lease     %s"""
                                .formatted(
                                        name,
                                        HumanSize.format(found.size()),
                                        found.replicas(),
                                        ListCommand.lease(found)));
    }

    private int showPool(ObjectStore store) {
        return switch (store.stats()) {
            case Outcome.Ok<Stats>(Stats stats) ->
                    output.ok(() -> document(stats), () -> text(stats));
            case Outcome.Failed<Stats> failure -> output.failed(failure);
        };
    }

    private static Map<String, Object> document(Stats stats) {
        return Json.object(
                "capacityBytes", stats.capacityBytes(),
                "usedBytes", stats.usedBytes(),
                "largestFreeBytes", stats.largestFreeBytes(),
                "leasedBytes", stats.leasedBytes(),
                "pinnedBytes", stats.pinnedBytes(),
                "objects", stats.objects(),
                "clients", stats.clients(),
                "evictedObjects", stats.evictedObjects(),
                "evictedBytes", stats.evictedBytes(),
                "refusedPuts", stats.putStartFailures(),
                "segments", stats.segments().stream().map(StatCommand::document).toList());
    }

    private static Map<String, Object> document(SegmentStats segment) {
        return Json.object(
                "id", segment.id().toString(),
                "name", segment.name(),
                "endpoint", segment.endpoint(),
                "status", segment.status(),
                "client", segment.client().toString(),
                "capacityBytes", segment.capacityBytes(),
                "usedBytes", segment.usedBytes(),
                "largestFreeBytes", segment.largestFreeBytes());
    }

    private static String text(Stats stats) {
        StringBuilder text =
                new StringBuilder(
                        """
                        memory    %s, largest free block %s
                        objects   %,d; leased %s, pinned %s
                        evicted   %,d objects, %s; refused puts %,d
                        clients   %d"""
                                .formatted(
                                        used(stats.usedBytes(), stats.capacityBytes()),
                                        HumanSize.format(stats.largestFreeBytes()),
                                        stats.objects(),
                                        HumanSize.format(stats.leasedBytes()),
                                        HumanSize.format(stats.pinnedBytes()),
                                        stats.evictedObjects(),
                                        HumanSize.format(stats.evictedBytes()),
                                        stats.putStartFailures(),
                                        stats.clients()));
        for (SegmentStats segment : stats.segments()) {
            text.append("\nsegment   ")
                    .append(segment.name())
                    .append("  ")
                    .append(used(segment.usedBytes(), segment.capacityBytes()));
        }
        return text.toString();
    }

    private static String used(long used, long capacity) {
        double percent = capacity == 0 ? 0 : 100.0 * used / capacity;
        return String.format(
                Locale.ROOT,
                "%s of %s used (%.1f %%)",
                HumanSize.format(used),
                HumanSize.format(capacity),
                percent);
    }
}
