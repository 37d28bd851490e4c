package io.cassia.base;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them. Immutable. */
public final class HumanDuration {
    private static final Pattern SYNTAX =
            Pattern.compile("(\\d{1,19}(?:\\.\\d{1,9})?)\\s*(ns|us|µs|ms|s|m|min|h|d)?");
    private static final BigDecimal MAX = BigDecimal.valueOf(Long.MAX_VALUE);

    private HumanDuration() {}

    /**
     * The duration that a text such as {@code 200ms}, {@code 5s}, {@code 1.5h} stands for.
     *
     * @param plainUnit the unit of a number without one; options inherited from upstream differ in
     *     it, so each says which
     * @throws IllegalArgumentException when it is no duration, is negative, or is longer than
     *     2^63-1 nanoseconds (292 years); the message is for people
     */
    public static Duration parse(String text, ChronoUnit plainUnit) {
        Matcher matcher = SYNTAX.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a duration; write for example 200ms, 5s, 10m or 1h");
        }
        String unit = matcher.group(2);
        long unitNanos = (unit == null ? plainUnit : unit(unit)).getDuration().toNanos();
        BigDecimal nanos = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(unitNanos));
        if (nanos.compareTo(MAX) > 0) {
            throw new IllegalArgumentException("'" + text + "' is longer than 292 years");
        }
        return Duration.ofNanos(nanos.setScale(0, RoundingMode.DOWN).longValueExact());
    }

    /** For people, three significant digits or so: {@code 12.3 ms}, {@code 4.56 s}. */
    public static String format(Duration duration) {
        return formatNanos(duration.toNanos());
    }

    /** As {@link #format}, from nanoseconds. */
    public static String formatNanos(long nanos) {
        if (nanos < 0) {
            throw new IllegalArgumentException("negative duration " + nanos + " ns");
        }
        if (nanos < 1_000) {
            return nanos + " ns";
        }
        if (nanos < 1_000_000) {
            return number(nanos / 1e3) + " us";
        }
        if (nanos < 1_000_000_000) {
            return number(nanos / 1e6) + " ms";
        }
        if (nanos < 120_000_000_000L) {
            return number(nanos / 1e9) + " s";
        }
        long seconds = nanos / 1_000_000_000;
        return seconds < 7200
                ? "%d min %d s".formatted(seconds / 60, seconds % 60)
                : "%d h %d min".formatted(seconds / 3600, seconds / 60 % 60);
    }

    private static String number(double value) {
        int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    private static ChronoUnit unit(String name) {
        return switch (name) {
            case "ns" -> ChronoUnit.NANOS;
            case "us", "µs" -> ChronoUnit.MICROS;
            case "ms" -> ChronoUnit.MILLIS;
            case "s" -> ChronoUnit.SECONDS;
            case "m", "min" -> ChronoUnit.MINUTES;
            case "h" -> ChronoUnit.HOURS;
            case "d" -> ChronoUnit.DAYS;
            default -> throw new IllegalArgumentException(name);
        };
    }
}
