package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.StoreFlags;
import io.cassia.app.cluster.StoreSettings;
import io.cassia.base.HumanSize;
import io.cassia.base.config.Configuration;
import io.cassia.status.Outcome;
import io.cassia.store.NodeConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** {@code cassia node}. Confined to its thread. */
@Command(
        name = "node",
        description = "Run a storage node: memory lent to the pool of a master.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia node --segment 4GiB",
            "  cassia node --master 10.0.0.1:50051 --host 10.0.0.2 --segment 64GiB"
        })
final class NodeCommand implements Callable<Integer>, DeclaresOptions {
    private static final String CONFIG_VARIABLE = "CASSIA_NODE_CONFIG";

    @Mixin private final Output output;
    private final Backend backend;
    private final SettingOptions options;
    private final Serving serving;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = {
                "YAML or JSON file with settings of nodes; flags and variables win over it.",
                "Default: $CASSIA_NODE_CONFIG."
            })
    private @Nullable Path file;

    @Option(
            names = "--print-config",
            description = "Print what is in force and where it comes from, and start nothing.")
    private boolean print;

    NodeCommand(Console console, Backend backend, StopSignal stop) {
        this.output = new Output(console);
        this.backend = backend;
        this.options = new SettingOptions(StoreFlags.NODE, backend.variables());
        this.serving = new Serving(output, stop);
    }

    @Override
    public void declare(CommandSpec spec) {
        options.declare(spec);
    }

    @Override
    public Integer call() {
        Outcome<Configuration> configuration =
                options.configuration(file, CONFIG_VARIABLE, Map.of());
        if (print) {
            return ConfigurationText.print(output, configuration);
        }
        Outcome<NodeConfig> config = configuration.then(StoreSettings::node);
        Duration drain =
                config instanceof Outcome.Ok<NodeConfig>(NodeConfig node)
                        ? node.drainTime()
                        : Duration.ZERO;
        return serving.run(
                config.then(backend::startNode),
                running -> {
                    NodeConfig node = config.orThrow();
                    return "%s%nlends     %s to the master at %s"
                            .formatted(
                                    Serving.addresses(running),
                                    HumanSize.format(node.segmentBytes()),
                                    node.master());
                },
                drain.plus(StopSignal.SHORT));
    }
}
