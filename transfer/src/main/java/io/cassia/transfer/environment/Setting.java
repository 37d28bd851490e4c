package io.cassia.transfer.environment;

import io.cassia.base.config.ValueType;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * One thing about an engine that can be set: a row of the table in {@link EngineSettings}.
 * Immutable.
 *
 * @param name Cassia's own name, as in configuration files and flags
 * @param variable environment variable; upstream's where it has one
 * @param aliases older names of the variable
 * @param type what values it takes
 * @param initial text of the value when nothing is set; empty: there is none
 * @param meaning what it does, for people
 * @param <T> type of the value
 */
public record Setting<T>(
        String name,
        String variable,
        List<String> aliases,
        ValueType<T> type,
        String initial,
        String meaning) {
    public Setting {
        aliases = List.copyOf(aliases);
        Objects.requireNonNull(type);
        Objects.requireNonNull(initial);
        Objects.requireNonNull(meaning);
    }

    /** The variable and its aliases, in the order they are looked at. */
    Stream<String> variables() {
        return Stream.concat(Stream.of(variable), aliases.stream());
    }
}
