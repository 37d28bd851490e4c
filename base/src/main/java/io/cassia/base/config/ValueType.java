package io.cassia.base.config;

import io.cassia.base.HumanDuration;
import io.cassia.base.HumanSize;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
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
public interface ValueType<T> {
    /** The value of a text; IllegalArgumentException when it is none. */
    T parse(String text);

    /** The values, for people: completes "it is ...". */
    String range();

    /**
     * Reads what was set. On failure, with the given code, the detail names the source, the value,
     * unless it is secret, and the range.
     *
     * @param source under which name it was set
     */
    default Outcome<T> read(String source, String text, Code invalid) {
        try {
            return Outcome.ok(parse(text.strip()));
        } catch (IllegalArgumentException e) {
            return Outcome.failed(
                    invalid, "%s=%s: it is %s".formatted(source, shown(text), range()));
        }
    }

    /** A value as it may be shown. */
    default String shown(String text) {
        return isSecret() ? "***" : "\"" + text + "\"";
    }

    /** Whether values must not be shown. */
    default boolean isSecret() {
        return false;
    }

    /** Whole numbers. Immutable. */
    record Whole(long min, long max) implements ValueType<Long> {
        @Override
        public Long parse(String text) {
            return within(Long.parseLong(text), min, max);
        }

        @Override
        public String range() {
            return max == Long.MAX_VALUE
                    ? "a whole number from " + min
                    : "a whole number from %d to %d".formatted(min, max);
        }
    }

    /** Numbers of a continuous range. Immutable. */
    record Ratio(double min, double max) implements ValueType<Double> {
        @Override
        public Double parse(String text) {
            double value = Double.parseDouble(text);
            if (!(value >= min && value <= max)) {
                throw new IllegalArgumentException();
            }
            return value;
        }

        @Override
        public String range() {
            return "a number from %s to %s".formatted(shown(min), shown(max));
        }

        private static String shown(double value) {
            return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
        }
    }

    /**
     * Ports to listen on; 0 takes a free one. Immutable.
     *
     * @param canBeOff whether {@code off}, as {@link #OFF}, means that nothing listens
     */
    record Port(boolean canBeOff) implements ValueType<Integer> {
        public static final int OFF = -1;
        private static final int LAST = 65_535;

        @Override
        public Integer parse(String text) {
            return canBeOff && text.equalsIgnoreCase("off")
                    ? Integer.valueOf(OFF)
                    : Integer.valueOf((int) within(Integer.parseInt(text), 0, LAST));
        }

        @Override
        public String range() {
            return canBeOff ? "a port, 0 to 65535, or off" : "a port, 0 to 65535";
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

        private static String shown(Duration value) {
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
    record Size(long minBytes, long maxBytes) implements ValueType<Long> {
        @Override
        public Long parse(String text) {
            return within(HumanSize.parse(text), minBytes, maxBytes);
        }

        @Override
        public String range() {
            return maxBytes == Long.MAX_VALUE
                    ? "a size, such as 4096, 64KiB or 10GiB"
                    : "a size from %s to %s".formatted(written(minBytes), written(maxBytes));
        }

        /** As one writes it. */
        private static String written(long bytes) {
            return HumanSize.format(bytes).replace(" ", "");
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

    /**
     * One of a few words. Immutable.
     *
     * @param words in lower case, with dashes; underscores and capitals are understood as well
     */
    record Word(List<String> words) implements ValueType<String> {
        public Word {
            words = List.copyOf(words);
        }

        @Override
        public String parse(String text) {
            String word = text.toLowerCase(Locale.ROOT).replace('_', '-');
            if (!words.contains(word)) {
                throw new IllegalArgumentException();
            }
            return word;
        }

        @Override
        public String range() {
            return "one of " + String.join(", ", words);
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

    private static long within(long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException();
        }
        return value;
    }
}
