package io.cassia.transfer.environment;

import io.cassia.base.HumanDuration;
import io.cassia.base.HumanSize;
import io.cassia.transfer.net.PeerFilter;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What values a setting takes. Immutable.
 *
 * @param <T> type of the values
 */
public sealed interface ValueType<T> {
    /** The value of a text; IllegalArgumentException when it is none. */
    T parse(String text);

    /** The values, for people: completes "it is ...". */
    String range();

    /** Whether values must not be shown. */
    default boolean isSecret() {
        return false;
    }

    /** Whole numbers. Immutable. */
    record Whole(int min, int max) implements ValueType<Integer> {
        @Override
        public Integer parse(String text) {
            int value = Integer.parseInt(text);
            if (value < min || value > max) {
                throw new IllegalArgumentException();
            }
            return value;
        }

        @Override
        public String range() {
            return "a whole number from %d to %d".formatted(min, max);
        }
    }

    /**
     * Durations. Immutable.
     *
     * @param plainUnit unit of a number without one
     */
    record Span(ChronoUnit plainUnit, Duration min, Duration max) implements ValueType<Duration> {
        @Override
        public Duration parse(String text) {
            Duration value = HumanDuration.parse(text, plainUnit);
            if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
                throw new IllegalArgumentException();
            }
            return value;
        }

        @Override
        public String range() {
            return "a duration from %s to %s; a plain number counts %s"
                    .formatted(
                            shown(min), shown(max), plainUnit.toString().toLowerCase(Locale.ROOT));
        }

        static String shown(Duration value) {
            long millis = value.toMillis();
            return millis == 0
                    ? "0"
                    : millis % 86_400_000 == 0
                            ? millis / 86_400_000 + "d"
                            : millis % 3_600_000 == 0
                                    ? millis / 3_600_000 + "h"
                                    : millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
        }
    }

    /** Sizes in bytes. Immutable. */
    record Size(int minBytes, int maxBytes) implements ValueType<Integer> {
        @Override
        public Integer parse(String text) {
            long value = HumanSize.parse(text);
            if (value < minBytes || value > maxBytes) {
                throw new IllegalArgumentException();
            }
            return (int) value;
        }

        @Override
        public String range() {
            return "a size from %s to %s".formatted(whole(minBytes), whole(maxBytes));
        }

        private static String whole(int bytes) {
            return bytes % (1 << 20) == 0 ? (bytes >> 20) + "MiB" : bytes + "B";
        }
    }

    /** Yes or no. Immutable. */
    record Flag() implements ValueType<Boolean> {
        @Override
        public Boolean parse(String text) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "1", "true", "on", "yes" -> true;
                case "0", "false", "off", "no" -> false;
                default -> throw new IllegalArgumentException();
            };
        }

        @Override
        public String range() {
            return "1, true, on, yes, or 0, false, off, no";
        }
    }

    /**
     * Texts. Immutable.
     *
     * @param form what they look like
     * @param description the form, for people
     */
    record Text(Pattern form, String description, boolean isSecret) implements ValueType<String> {
        @Override
        public String parse(String text) {
            if (!form.matcher(text).matches()) {
                throw new IllegalArgumentException();
            }
            return text;
        }

        @Override
        public String range() {
            return description;
        }
    }

    /**
     * Some of a few words, comma-separated, at least one. Immutable.
     *
     * @param words that may be chosen
     */
    record Words(List<String> words) implements ValueType<Set<String>> {
        public Words {
            words = List.copyOf(words);
        }

        @Override
        public Set<String> parse(String text) {
            Set<String> chosen = new LinkedHashSet<>();
            for (String word : text.split(",", -1)) {
                if (!words.contains(word.strip())) {
                    throw new IllegalArgumentException();
                }
                chosen.add(word.strip());
            }
            return chosen;
        }

        @Override
        public String range() {
            return "a comma list of " + String.join(", ", words);
        }
    }

    /** Networks of peers. Immutable. */
    record Networks() implements ValueType<PeerFilter> {
        @Override
        public PeerFilter parse(String text) {
            return PeerFilter.parse(text);
        }

        @Override
        public String range() {
            return "a comma list of address/bits";
        }
    }

    /** Files. Immutable. */
    record File() implements ValueType<Path> {
        @Override
        public Path parse(String text) {
            try {
                return Path.of(text);
            } catch (InvalidPathException e) {
                throw new IllegalArgumentException(e);
            }
        }

        @Override
        public String range() {
            return "a file's path";
        }
    }
}
