package io.cassia.app.cli;

import io.cassia.app.cluster.MasterFlags;
import io.cassia.app.cluster.MasterSettings;
import io.cassia.base.config.Configuration;
import io.cassia.base.config.ConfigurationFile;
import io.cassia.base.config.Setting;
import io.cassia.base.config.Setting.Support;
import io.cassia.base.config.ValueType;
import io.cassia.status.Outcome;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * The options of a master: one per row of {@link MasterFlags}, and the file that has them as well.
 * Confined to its command.
 */
final class MasterOptions {
    private static final String CONFIG_VARIABLE = MasterFlags.VARIABLE_PREFIX + "CONFIG";

    private final Map<String, String> environment;
    private final Map<Setting<?>, OptionSpec> declared = new LinkedHashMap<>();

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
        this.environment = environment;
    }

    /** Adds the options of the table. Those that do nothing are understood, and not in the help. */
    void declare(CommandSpec spec) {
        for (Setting<?> setting : MasterFlags.TABLE.settings()) {
            OptionSpec.Builder option =
                    OptionSpec.builder(
                                    setting.names().map(name -> "--" + name).toArray(String[]::new))
                            .type(String.class)
                            .paramLabel(label(setting.type()))
                            .hidden(!(setting.support() instanceof Support.Full))
                            .description(description(setting));
            boolean flag = setting.type() instanceof ValueType.Flag;
            OptionSpec built =
                    flag ? option.arity("0..1").fallbackValue("true").build() : option.build();
            spec.addOption(built);
            declared.put(setting, built);
        }
    }

    /** The options' format would take a percent sign for its own. */
    private static String description(Setting<?> setting) {
        String initial = setting.initial().isEmpty() ? "" : " Default: " + setting.initial() + ".";
        return (setting.meaning() + initial).replace("%", "%%");
    }

    private static String label(ValueType<?> type) {
        return type.getClass().getSimpleName().toUpperCase(Locale.ROOT);
    }

    /**
     * What is in force.
     *
     * @param given by the command itself, unless a flag says otherwise
     */
    Outcome<Configuration> configuration(Map<String, String> given) {
        Map<String, String> flags = new LinkedHashMap<>(given);
        declared.forEach(
                (setting, option) -> {
                    String value = option.getValue();
                    if (value != null) {
                        flags.put(setting.name(), value);
                    }
                });
        return file().<Outcome<Map<String, String>>>map(ConfigurationFile::read)
                .orElseGet(() -> Outcome.ok(Map.of()))
                .then(
                        members ->
                                Configuration.read(MasterFlags.TABLE, members, environment, flags));
    }

    private Optional<Path> file() {
        return Optional.ofNullable(file)
                .or(
                        () ->
                                Optional.ofNullable(environment.get(CONFIG_VARIABLE))
                                        .filter(text -> !text.isBlank())
                                        .map(Path::of));
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
        return MasterOptions.require(MasterSettings.of(configuration), spec);
    }

    /**
     * What was set, or a usage error.
     *
     * @throws ParameterException when it cannot be
     */
    static <T> T require(Outcome<T> outcome, CommandSpec spec) {
        return switch (outcome) {
            case Outcome.Ok<T>(T value) -> value;
            case Outcome.Failed<T> failed ->
                    throw new ParameterException(spec.commandLine(), failed.detail());
        };
    }
}
