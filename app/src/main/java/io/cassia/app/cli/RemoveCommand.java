package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.base.ByteString;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code cassia rm}. Confined to its thread. */
@Command(
        name = "rm",
        description = "Remove objects.",
        footerHeading = "%nExamples:%n",
        footer = {"  cassia rm model-a/block-7", "  cassia rm --all --force"})
final class RemoveCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final Connection connection;

    @Parameters(arity = "0..*", paramLabel = "KEY", description = "Names of objects.")
    private List<String> keys = List.of();

    @Option(names = "--all", description = "Remove every object of the tenant.")
    private boolean all;

    @Option(names = "--force", description = "Remove objects that a reader has leased, too.")
    private boolean force;

    RemoveCommand(Output output, Connection connection) {
        this.output = output;
        this.connection = connection;
    }

    static RemoveCommand of(Console console, Backend backend) {
        return new RemoveCommand(new Output(console), new Connection(backend));
    }

    @Override
    public Integer call() {
        if (all == !keys.isEmpty()) {
            return output.failed(
                    StoreCode.INVALID_PARAMS, "rm needs either keys or --all, and not both");
        }
        return connection.use(output, all ? this::removeAll : this::remove);
    }

    private int removeAll(ObjectStore store) {
        return switch (store.removeAll(force)) {
            case Outcome.Ok<Long>(Long removed) -> done(removed);
            case Outcome.Failed<Long> failure -> output.failed(failure);
        };
    }

    /** Stops at the first failure; what was removed before it stays removed. */
    private int remove(ObjectStore store) {
        long removed = 0;
        for (String key : keys) {
            if (store.remove(ByteString.of(key), force) instanceof Outcome.Failed<Done> failure) {
                String before = removed == 0 ? "" : " (removed " + removed + " before)";
                return output.failed(
                        Outcome.failed(failure.code(), failure.detail() + before), "rm", key);
            }
            removed++;
        }
        return done(removed);
    }

    private int done(long removed) {
        return output.ok(
                () -> Json.object("removed", removed),
                () -> "removed " + removed + (removed == 1 ? " object" : " objects"));
    }
}
