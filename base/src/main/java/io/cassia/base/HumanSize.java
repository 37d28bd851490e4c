package io.cassia.base;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sizes in bytes as people write them. Immutable.
 *
 * <p>{@code KB}, {@code MB}, {@code GB}, {@code TB} are powers of 1024 like {@code KiB} to {@code
 * TiB}: upstream's configuration files say "10GB" and mean that (spec mooncake-store 9).
 */
public final class HumanSize {
    private static final Pattern SYNTAX =
            Pattern.compile("(\\d{1,19}(?:\\.\\d{1,9})?)\\s*([kmgt]?)(?:i?b)?");
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};
    private static final BigDecimal MAX = BigDecimal.valueOf(Long.MAX_VALUE);

    private HumanSize() {}

    /**
     * The bytes that a text such as {@code 2GiB}, {@code 64 KB}, {@code 1.5g} or {@code 4096}
     * stands for.
     *
     * @throws IllegalArgumentException when it is no size, is negative, is beyond 2^63-1 or is not
     *     a whole number of bytes; the message says which, for people
     */
    public static long parse(String text) {
        Matcher matcher = SYNTAX.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a size; write for example 4096, 64KiB, 1.5GB or 2GiB");
        }
        int shift = 10 * ("kmgt".indexOf(matcher.group(2)) + 1);
        if (matcher.group(2).isEmpty()) {
            shift = 0;
        }
        BigDecimal bytes =
                new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(1L << shift));
        if (bytes.compareTo(MAX) > 0) {
            throw new IllegalArgumentException("'" + text + "' is more than 2^63-1 bytes");
        }
        if (shift == 0 && bytes.stripTrailingZeros().scale() > 0) {
            throw new IllegalArgumentException("'" + text + "' is not a whole number of bytes");
        }
        return bytes.setScale(0, RoundingMode.DOWN).longValueExact();
    }

    /** For people: the largest unit that keeps the number at or above one, {@code 1.50 GiB}. */
    public static String format(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("negative size " + bytes);
        }
        int unit =
                bytes == 0
                        ? 0
                        : Math.min(UNITS.length - 1, (63 - Long.numberOfLeadingZeros(bytes)) / 10);
        if (unit == 0) {
            return bytes + " B";
        }
        long one = 1L << (10 * unit);
        return bytes % one == 0
                ? bytes / one + " " + UNITS[unit]
                : String.format(Locale.ROOT, "%.2f %s", (double) bytes / one, UNITS[unit]);
    }
}
