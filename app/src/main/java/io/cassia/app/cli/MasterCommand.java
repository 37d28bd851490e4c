package io.cassia.app.cli;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.base.config.Configuration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code cassia master}. Confined to its thread. */
@Command(
        name = "master",
        description = {
            "Run a master: it knows where objects are and lends no memory itself.",
            "Mooncake's flag names, such as --rpc_port=50051, are understood too."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  cassia master --rpc-host 0.0.0.0",
            "  cassia master --rpc-port 0 --http-port 0 --metadata-port off --json",
            "  cassia master --config master.yaml --print-config"
        })
final class MasterCommand implements Callable<Integer> {
    @Mixin private final Output output;
    @Mixin private final MasterOptions options;
    @Spec private CommandSpec spec = CommandSpec.create();
    private final Backend backend;
    private final Serving serving;

    MasterCommand(
            Console console, Backend backend, StopSignal stop, Map<String, String> environment) {
        this.options = new MasterOptions(environment);
        this.output = new Output(console);
        this.backend = backend;
        this.serving = new Serving(output, stop);
    }

    @Override
    public Integer call() {
        Configuration configuration = SettingOptions.require(options.configuration(Map.of()), spec);
        MasterSettings settings = options.settings(configuration, spec, output.console());
        if (options.printsOnly()) {
            return output.ok(
                    () -> ConfigurationText.document(configuration),
                    () -> ConfigurationText.yaml(configuration));
        }
        return serving.run(
                backend.startMaster(settings),
                running ->
                        """
                        %s
                        add memory:  %s node --master %s --metadata %s --segment 4GiB"""
                                .formatted(
                                        Serving.addresses(running),
                                        output.console().program(),
                                        running.master(),
                                        running.metadata()));
    }
}
