package io.cassia.app.cli;

import io.cassia.app.cluster.MasterFlags;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.base.config.Configuration;
import io.cassia.status.Outcome;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * The options of a master: one per row of {@link MasterFlags}, and the file that has them as well.
 * Confined to its command.
 */
final class MasterOptions implements DeclaresOptions {
    private static final String CONFIG_VARIABLE = MasterFlags.VARIABLE_PREFIX + "CONFIG";

    private final SettingOptions options;

    @Option(
            names = {"--config", "--config-path"},
            paramLabel = "FILE",
            description = {
                "YAML or JSON file with the names of these options; flags and CASSIA_MASTER_*",
                "variables win over it. Default: $CASSIA_MASTER_CONFIG."
            })
    private @Nullable Path file;

    @Option(
            names = "--print-config",
            description = "Print what is in force and where it comes from, and start nothing.")
    private boolean print;

    MasterOptions(Map<String, String> environment) {
        this.options = new SettingOptions(MasterFlags.TABLE, environment);
    }

    /** Adds the options of the table. */
    @Override
    public void declare(CommandSpec spec) {
        options.declare(spec);
    }

    /**
     * What is in force.
     *
     * @param given by the command itself, unless a flag says otherwise
     */
    Outcome<Configuration> configuration(Map<String, String> given) {
        return options.configuration(file, CONFIG_VARIABLE, given);
    }

    /** Whether the command only shows its settings. */
    boolean printsOnly() {
        return print;
    }

    /**
     * The settings of a configuration; what does nothing is told on the error stream.
     *
     * @throws ParameterException when values exclude each other
     */
    MasterSettings settings(Configuration configuration, CommandSpec spec, Console console) {
        configuration.withoutEffect().forEach(note -> console.note("note: " + note));
        return SettingOptions.require(MasterSettings.of(configuration), spec);
    }
}
