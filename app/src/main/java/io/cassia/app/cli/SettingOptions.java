package io.cassia.app.cli;

import io.cassia.base.config.Configuration;
import io.cassia.base.config.ConfigurationFile;
import io.cassia.base.config.Setting;
import io.cassia.base.config.Setting.Support;
import io.cassia.base.config.SettingTable;
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
import picocli.CommandLine.ParameterException;

/** One option per row of a table of settings. Confined to its command. */
final class SettingOptions {
    /** What a text is, for who reads the help. */
    private static final Map<String, String> TEXT_LABELS =
            Map.of(
                    "master", "HOST:PORT",
                    "metadata", "URI",
                    "host", "HOST",
                    "local-host", "HOST",
                    "rpc-host", "HOST",
                    "http-host", "HOST",
                    "tenant", "NAME");

    private final SettingTable table;
    private final Map<String, String> environment;
    private final Map<Setting<?>, OptionSpec> declared = new LinkedHashMap<>();

    SettingOptions(SettingTable table, Map<String, String> environment) {
        this.table = table;
        this.environment = environment;
    }

    /**
     * Adds the options of the table. Those that do nothing are understood, and not in the help;
     * secrets are no options, since whoever lists processes would see them.
     */
    void declare(CommandSpec spec) {
        for (Setting<?> setting : table.settings()) {
            if (setting.type().isSecret()) {
                continue;
            }
            OptionSpec.Builder option =
                    OptionSpec.builder(
                                    setting.names().map(name -> "--" + name).toArray(String[]::new))
                            .type(String.class)
                            .paramLabel(label(setting))
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
        String variable = "$" + setting.variable();
        String initial =
                setting.initial().isEmpty()
                        ? " Default: " + variable + "."
                        : " Default: " + variable + ", else " + setting.initial() + ".";
        return (setting.meaning() + initial).replace("%", "%%");
    }

    private static String label(Setting<?> setting) {
        ValueType<?> type = setting.type();
        return switch (type) {
            case ValueType.Text _ -> TEXT_LABELS.getOrDefault(setting.name(), "TEXT");
            case ValueType.Span _ -> "DURATION";
            case ValueType.Whole _ -> "N";
            case ValueType.Ratio _ -> "X";
            default -> type.getClass().getSimpleName().toUpperCase(Locale.ROOT);
        };
    }

    /**
     * What is in force.
     *
     * @param file of settings, if the command line names one
     * @param fileVariable the environment variable that names one otherwise
     * @param given by the command itself, unless a flag says otherwise
     */
    Outcome<Configuration> configuration(
            @Nullable Path file, String fileVariable, Map<String, String> given) {
        return Optional.ofNullable(file)
                .or(
                        () ->
                                Optional.ofNullable(environment.get(fileVariable))
                                        .filter(text -> !text.isBlank())
                                        .map(Path::of))
                .<Outcome<Map<String, String>>>map(ConfigurationFile::read)
                .orElseGet(() -> Outcome.ok(Map.of()))
                .then(members -> read(members, given));
    }

    /** The same without a file. */
    Outcome<Configuration> configuration() {
        return read(Map.of(), Map.of());
    }

    private Outcome<Configuration> read(Map<String, String> file, Map<String, String> given) {
        Map<String, String> flags = new LinkedHashMap<>(given);
        declared.forEach(
                (setting, option) -> {
                    String value = option.getValue();
                    if (value != null) {
                        flags.put(setting.name(), value);
                    }
                });
        return Configuration.read(table, file, environment, flags);
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
