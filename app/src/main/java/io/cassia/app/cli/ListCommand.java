package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.base.ByteString;
import io.cassia.base.HumanDuration;
import io.cassia.base.HumanSize;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cassia ls}. Confined to its thread. */
@Command(
        name = "ls",
        description = "List objects in the order of their keys: size, replicas, lease, key.",
        footerHeading = "%nExamples:%n",
        footer = {"  cassia ls --prefix model-a/", "  cassia ls --json --limit 100000 > keys.json"})
final class ListCommand implements Callable<Integer> {
    private static final int PAGE = 1000;

    @Mixin private final Output output;
    @Mixin private final Connection connection;

    @Option(
            names = "--prefix",
            paramLabel = "TEXT",
            defaultValue = "",
            description = "Only keys that start with it.")
    private String prefix = "";

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "10000",
            converter = Limit.class,
            description = "Keys at most; a note tells when there are more. Default: 10000.")
    private int limit;

    /** How many keys; one more is asked for to see whether there are more. */
    static final class Limit implements ITypeConverter<Integer> {
        private static final int MOST = 1_000_000_000;

        @Override
        public Integer convert(String text) {
            return Converters.whole(text, 1, MOST);
        }
    }

    ListCommand(Output output, Connection connection) {
        this.output = output;
        this.connection = connection;
    }

    static ListCommand of(Console console, Backend backend) {
        return new ListCommand(new Output(console), new Connection(backend));
    }

    @Override
    public Integer call() {
        return connection.use(output, this::list);
    }

    private int list(ObjectStore store) {
        List<KeyInfo> keys = new ArrayList<>();
        ByteString after = ByteString.EMPTY;
        boolean more = true;
        while (more && keys.size() <= limit) {
            int page = Math.min(PAGE, limit + 1 - keys.size());
            switch (store.list(ByteString.of(prefix), after, page)) {
                case Outcome.Ok<List<KeyInfo>>(List<KeyInfo> found) -> {
                    keys.addAll(found);
                    more = found.size() == page;
                    after = keys.isEmpty() ? after : keys.getLast().key();
                }
                case Outcome.Failed<List<KeyInfo>> failure -> {
                    return output.failed(failure);
                }
            }
        }
        boolean cut = keys.size() > limit;
        List<KeyInfo> shown = cut ? keys.subList(0, limit) : keys;
        if (cut) {
            output.console().note("there are more than " + limit + " keys; see --limit");
        }
        return output.ok(
                () ->
                        Json.object(
                                "keys",
                                shown.stream().map(ListCommand::document).toList(),
                                "more",
                                cut),
                () -> String.join("\n", shown.stream().map(ListCommand::line).toList()));
    }

    /** One object as JSON. */
    static Map<String, Object> document(KeyInfo key) {
        return Json.object(
                "key", key.key().text(),
                "bytes", key.size(),
                "readable", key.readable(),
                "replicas", key.replicas(),
                "leaseMs", key.leaseMs());
    }

    private static String line(KeyInfo key) {
        return "%12s  %d  %-8s %s"
                .formatted(
                        HumanSize.format(key.size()),
                        key.replicas(),
                        lease(key),
                        printable(key.key().text()));
    }

    /** How long readers protect it, or that it is not readable yet. */
    static String lease(KeyInfo key) {
        if (!key.readable()) {
            return "writing";
        }
        return key.leaseMs() == 0 ? "-" : HumanDuration.format(Duration.ofMillis(key.leaseMs()));
    }

    /** A key may hold any bytes; a terminal shall not act on them. */
    private static String printable(String key) {
        StringBuilder text = new StringBuilder();
        key.chars()
                .forEach(
                        c -> {
                            if (Character.isISOControl(c)) {
                                text.append("\\x%02x".formatted(c));
                            } else {
                                text.append((char) c);
                            }
                        });
        return text.toString();
    }
}
