package io.cassia.base.config;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The values of a table's settings, and where each comes from. Immutable.
 *
 * <p>Flags win over environment variables, these over the file, and that over the defaults. Nothing
 * runs otherwise than it was told to: a name that nobody knows, a value that cannot be and a value
 * that asks for what is not there stop the start. An empty value counts as none.
 */
public final class Configuration {
    /** Where a value comes from. */
    public enum Source {
        DEFAULT,
        FILE,
        ENVIRONMENT,
        FLAG
    }

    /**
     * A setting's value. Immutable.
     *
     * @param text as it was written; empty: there is none
     * @param value of the setting's own type; null when there is none
     */
    public record Entry(Setting<?> setting, Source source, String text, @Nullable Object value) {
        /** The text, unless it is secret. */
        public String shown() {
            return setting.type().isSecret() && !text.isEmpty() ? "***" : text;
        }
    }

    private record Given(Source source, String name, String text) {}

    private final Map<Setting<?>, Entry> entries;

    private Configuration(Map<Setting<?>, Entry> entries) {
        this.entries = entries;
    }

    /**
     * The settings of a table. The table's code when a name is unknown, with the nearest known one,
     * or a value cannot be, with the range; UNAVAILABLE_IN_CURRENT_MODE when one asks for what is
     * not there.
     *
     * @param file by name, as {@link ConfigurationFile} reads them
     * @param variables the environment
     * @param flags by name without the dashes in front
     */
    public static Outcome<Configuration> read(
            SettingTable table,
            Map<String, String> file,
            Map<String, String> variables,
            Map<String, String> flags) {
        Optional<String> wrong =
                wrongName(table, file, "in the file")
                        .or(() -> wrongName(table, flags, "as a flag"))
                        .or(() -> wrongVariable(table, variables));
        if (wrong.isPresent()) {
            return Outcome.failed(table.invalid(), wrong.get());
        }
        Map<Setting<?>, Entry> entries = new LinkedHashMap<>();
        for (Setting<?> setting : table.settings()) {
            Given given =
                    named(setting, Source.FLAG, flags)
                            .or(() -> variable(setting, variables))
                            .or(() -> named(setting, Source.FILE, file))
                            .orElse(new Given(Source.DEFAULT, setting.name(), setting.initial()));
            switch (entry(table, setting, given)) {
                case Outcome.Ok<Entry>(Entry entry) -> entries.put(setting, entry);
                case Outcome.Failed<Entry> failed -> {
                    return failed.as();
                }
            }
        }
        return Outcome.ok(new Configuration(entries));
    }

    private static Optional<String> wrongName(
            SettingTable table, Map<String, String> texts, String where) {
        Map<String, String> seen = new TreeMap<>();
        for (String name : new TreeMap<>(texts).keySet()) {
            Optional<Setting<?>> setting = table.find(name);
            if (setting.isEmpty()) {
                return Optional.of(
                        "setting \"%s\" %s is unknown; the nearest is \"%s\""
                                .formatted(name, where, table.nearest(name)));
            }
            String before = seen.put(setting.get().name(), name);
            if (before != null) {
                return Optional.of(
                        "\"%s\" and \"%s\" %s are one setting; give it once"
                                .formatted(before, name, where));
            }
        }
        return Optional.empty();
    }

    private static Optional<String> wrongVariable(
            SettingTable table, Map<String, String> variables) {
        return new TreeMap<>(variables)
                .keySet().stream()
                        .flatMap(
                                name ->
                                        table.misspelt(name).stream()
                                                .map(
                                                        near ->
                                                                "variable %s is unknown; the nearest is %s"
                                                                        .formatted(name, near)))
                        .findFirst();
    }

    private static Optional<Given> named(
            Setting<?> setting, Source source, Map<String, String> texts) {
        for (Map.Entry<String, String> entry : texts.entrySet()) {
            String dashed = entry.getKey().replace('_', '-');
            if (!entry.getValue().isBlank() && setting.names().anyMatch(dashed::equals)) {
                return Optional.of(new Given(source, entry.getKey(), entry.getValue().strip()));
            }
        }
        return Optional.empty();
    }

    private static Optional<Given> variable(Setting<?> setting, Map<String, String> variables) {
        return Optional.ofNullable(variables.get(setting.variable()))
                .filter(text -> !text.isBlank())
                .map(text -> new Given(Source.ENVIRONMENT, setting.variable(), text.strip()));
    }

    private static <T> Outcome<Entry> entry(SettingTable table, Setting<T> setting, Given given) {
        if (given.text.isEmpty()) {
            return Outcome.ok(new Entry(setting, given.source, "", null));
        }
        return setting.type()
                .read(given.name, given.text, table.invalid())
                .then(
                        value -> {
                            boolean changed =
                                    setting.initial().isEmpty()
                                            || !setting.type()
                                                    .parse(setting.initial())
                                                    .equals(value);
                            return setting.support() instanceof Setting.Support.Absent(String why)
                                            && changed
                                    ? Outcome.failed(
                                            StoreCode.UNAVAILABLE_IN_CURRENT_MODE,
                                            "%s=%s: %s"
                                                    .formatted(
                                                            given.name,
                                                            setting.type().shown(given.text),
                                                            why))
                                    : Outcome.ok(
                                            new Entry(setting, given.source, given.text, value));
                        });
    }

    /** All settings in the table's order. */
    public List<Entry> entries() {
        return List.copyOf(entries.values());
    }

    /** Settings that were given and do nothing, each with the reason. */
    public List<String> withoutEffect() {
        List<String> notes = new ArrayList<>();
        for (Entry entry : entries.values()) {
            if (entry.source != Source.DEFAULT
                    && entry.setting.support() instanceof Setting.Support.Inert(String why)) {
                notes.add(entry.setting.name() + " has no effect: " + why);
            }
        }
        return notes;
    }

    /** Where the value comes from. */
    public Source source(Setting<?> setting) {
        return of(setting).source;
    }

    /** The value; nothing when it has no default and was not set. */
    @SuppressWarnings("unchecked") // The setting's own type has made the value.
    public <T> Optional<T> find(Setting<T> setting) {
        return Optional.ofNullable((T) of(setting).value);
    }

    /** The value of a setting that has a default. */
    public <T> T require(Setting<T> setting) {
        return find(setting).orElseThrow();
    }

    private Entry of(Setting<?> setting) {
        Entry entry = entries.get(setting);
        if (entry == null) {
            throw new IllegalArgumentException("not in the table: " + setting.name());
        }
        return entry;
    }
}
