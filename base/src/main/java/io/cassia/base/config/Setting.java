package io.cassia.base.config;

import java.util.List;
import java.util.stream.Stream;

/**
 * One thing that can be set: a row of a {@link SettingTable}. Immutable.
 *
 * @param name as in files and, behind two dashes, as a flag; underscores for dashes are understood
 * @param aliases further names, mostly upstream's where it differs
 * @param variable environment variable
 * @param type what values it takes
 * @param initial text of the value when nothing is set; empty: there is none
 * @param support whether it does anything
 * @param meaning what it does, for people
 * @param <T> type of the value
 */
public record Setting<T>(
        String name,
        List<String> aliases,
        String variable,
        ValueType<T> type,
        String initial,
        Support support,
        String meaning) {
    public Setting {
        aliases = List.copyOf(aliases);
    }

    /** Whether a setting does anything in this release. */
    public sealed interface Support {
        /** It does. */
        Support FULL = new Full();

        /** It does. Immutable. */
        record Full() implements Support {}

        /**
         * It is taken, so that upstream's command lines and files work, and does nothing.
         * Immutable.
         *
         * @param why completes "no effect: ..."
         */
        record Inert(String why) implements Support {}

        /**
         * It must keep its initial value: another one asks for what is not there. Immutable.
         *
         * @param why completes "only ...: ..."
         */
        record Absent(String why) implements Support {}
    }

    /** Name and aliases. */
    public Stream<String> names() {
        return Stream.concat(Stream.of(name), aliases.stream());
    }
}
