package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.ObjectStore;
import io.cassia.app.cluster.StoreFlags;
import io.cassia.app.cluster.StoreSettings;
import io.cassia.base.config.Configuration;
import io.cassia.status.Outcome;
import io.cassia.store.StoreClientConfig;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/**
 * Where the cluster is, and how it is spoken to: one option per row of {@link StoreFlags#CLIENT}.
 * Confined to its command.
 */
final class Connection implements DeclaresOptions {
    private static final String CONFIG_VARIABLE = "CASSIA_CLIENT_CONFIG";

    private final Backend backend;
    private final SettingOptions options;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = {
                "YAML or JSON file with settings of clients; flags and variables win over it.",
                "Default: $CASSIA_CLIENT_CONFIG."
            })
    private @Nullable Path file;

    Connection(Backend backend) {
        this.backend = backend;
        this.options = new SettingOptions(StoreFlags.CLIENT, backend.variables());
    }

    @Override
    public void declare(CommandSpec spec) {
        options.declare(spec);
    }

    /** INVALID_PARAMS names the setting that cannot be. */
    Outcome<StoreClientConfig> config() {
        return configuration().then(StoreSettings::client);
    }

    /** What is in force. */
    Outcome<Configuration> configuration() {
        return options.configuration(file, CONFIG_VARIABLE, Map.of());
    }

    /** Runs a command's work on a connection and closes it; tells why there is none. */
    int use(Output output, ToIntFunction<ObjectStore> work) {
        return switch (config().then(backend::connect)) {
            case Outcome.Ok<ObjectStore>(ObjectStore store) -> {
                try (store) {
                    yield work.applyAsInt(store);
                }
            }
            case Outcome.Failed<ObjectStore> failure -> output.failed(failure);
        };
    }
}
