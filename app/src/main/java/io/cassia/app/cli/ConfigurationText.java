package io.cassia.app.cli;

import io.cassia.base.config.Configuration;
import io.cassia.base.config.Configuration.Entry;
import io.cassia.base.config.Configuration.Source;
import io.cassia.base.config.Setting.Support;
import io.cassia.status.Outcome;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** A configuration to be read by people and programs. Immutable. */
final class ConfigurationText {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

    private ConfigurationText() {}

    /** What is in force, or why nothing is; the exit code. */
    static int print(Output output, Outcome<Configuration> configuration) {
        return switch (configuration) {
            case Outcome.Ok<Configuration>(Configuration read) ->
                    output.ok(() -> document(read), () -> yaml(read));
            case Outcome.Failed<Configuration> failed -> output.failed(failed);
        };
    }

    /** A YAML file that can be given back as {@code --config}; secrets are not in it. */
    static String yaml(Configuration configuration) {
        StringBuilder text = new StringBuilder();
        for (Entry entry : shown(configuration)) {
            String value =
                    entry.text().isEmpty() || PLAIN.matcher(entry.text()).matches()
                            ? entry.shown()
                            : Json.text(entry.shown());
            boolean secret = !entry.shown().equals(entry.text());
            String line = "%s%s: %s".formatted(secret ? "# " : "", entry.setting().name(), value);
            text.append("%-48s # %s%n".formatted(line, source(entry)));
        }
        return text.toString().stripTrailing();
    }

    static Map<String, Object> document(Configuration configuration) {
        Map<String, Object> document = new LinkedHashMap<>();
        for (Entry entry : shown(configuration)) {
            document.put(
                    entry.setting().name(),
                    Json.object("value", entry.shown(), "source", source(entry)));
        }
        return document;
    }

    private static List<Entry> shown(Configuration configuration) {
        return configuration.entries().stream()
                .filter(
                        entry ->
                                entry.source() != Source.DEFAULT
                                        || entry.setting().support() instanceof Support.Full)
                .toList();
    }

    private static String source(Entry entry) {
        return entry.source().name().toLowerCase(Locale.ROOT);
    }
}
