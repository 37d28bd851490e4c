package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.base.ByteString;
import io.cassia.status.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code cassia exists}. Confined to its thread. */
@Command(
        name = "exists",
        description = "Tell whether objects can be read; exit code 3 unless all can.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia exists model-a/block-7 && echo there",
            "  cassia exists --json block-1 block-2 block-3"
        })
final class ExistsCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final Connection connection;

    @Parameters(arity = "1..*", paramLabel = "KEY", description = "Names of objects.")
    private List<String> keys = List.of();

    ExistsCommand(Output output, Connection connection) {
        this.output = output;
        this.connection = connection;
    }

    static ExistsCommand of(Console console, Backend backend) {
        return new ExistsCommand(new Output(console), new Connection(backend));
    }

    @Override
    public Integer call() {
        return connection.use(output, this::ask);
    }

    private int ask(ObjectStore store) {
        List<Outcome<Boolean>> answers =
                store.existsBatch(keys.stream().map(ByteString::of).toList());
        List<Map<String, Object>> document = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        int exit = ExitCodes.OK;
        for (int i = 0; i < keys.size(); i++) {
            String key = keys.get(i);
            switch (answers.get(i)) {
                case Outcome.Ok<Boolean>(Boolean exists) -> {
                    document.add(Json.object("key", key, "exists", exists));
                    lines.add((exists ? "yes  " : "no   ") + key);
                    exit = exists ? exit : Math.max(exit, ExitCodes.NOT_FOUND);
                }
                case Outcome.Failed<Boolean> failure -> {
                    document.add(
                            Json.object(
                                    "key",
                                    key,
                                    "error",
                                    Output.error(failure.code(), failure.detail())));
                    lines.add("?    " + key);
                    Output.tell(output.console(), failure.code(), failure.detail());
                    exit = Math.max(exit, ExitCodes.of(failure.code()));
                }
            }
        }
        int printed =
                output.ok(() -> Json.object("keys", document), () -> String.join("\n", lines));
        return Math.max(printed, exit);
    }
}
