package io.cassia.base.config;

import io.cassia.status.Code;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The settings of one component, in the order of the page that is made of them. Immutable. */
public final class SettingTable {
    /** A variable that is so near to a known one was meant to be it. */
    private static final int TYPING_ERRORS = 2;

    private final String variablePrefix;
    private final Code invalid;
    private final List<Setting<?>> settings;
    private final Map<String, Setting<?>> byName = new HashMap<>();

    /**
     * @param variablePrefix what the component's environment variables begin with
     * @param invalid the code of a value that cannot be
     * @throws IllegalArgumentException if two settings share a name
     */
    public SettingTable(String variablePrefix, Code invalid, List<Setting<?>> settings) {
        this.variablePrefix = variablePrefix;
        this.invalid = invalid;
        this.settings = List.copyOf(settings);
        Set<String> variables = new HashSet<>();
        for (Setting<?> setting : settings) {
            setting.names()
                    .forEach(
                            name -> {
                                if (byName.put(name, setting) != null) {
                                    throw new IllegalArgumentException("two settings " + name);
                                }
                            });
            if (!variables.add(setting.variable())) {
                throw new IllegalArgumentException("two variables " + setting.variable());
            }
        }
    }

    public List<Setting<?>> settings() {
        return settings;
    }

    Code invalid() {
        return invalid;
    }

    /** The setting of a name or alias, in either spelling. */
    public Optional<Setting<?>> find(String name) {
        return Optional.ofNullable(byName.get(name.replace('_', '-')));
    }

    /** The known name that is most like this one. */
    String nearest(String name) {
        String dashed = name.replace('_', '-');
        return byName.keySet().stream()
                .min(
                        Comparator.<String>comparingInt(known -> Spelling.distance(dashed, known))
                                .thenComparing(Comparator.naturalOrder()))
                .orElse("");
    }

    /**
     * The variable that this one was meant to be. Others with the prefix are nobody's business:
     * Kubernetes makes variables like {@code CASSIA_MASTER_SERVICE_HOST} by itself.
     */
    Optional<String> misspelt(String variable) {
        if (!variable.startsWith(variablePrefix)
                || settings.stream().anyMatch(setting -> setting.variable().equals(variable))) {
            return Optional.empty();
        }
        return settings.stream()
                .map(Setting::variable)
                .filter(known -> Spelling.distance(variable, known) <= TYPING_ERRORS)
                .findFirst();
    }
}
