package io.cassia.app.cli;

import io.cassia.base.HumanDuration;
import io.cassia.base.HumanSize;
import io.cassia.master.core.AllocationStrategy;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.function.Function;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Human values on the command line. Immutable. */
final class Converters {
    private Converters() {}

    private static <T> T convert(String text, Function<String, T> parse) {
        try {
            return parse.apply(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }

    /** {@code 2GiB}. */
    static final class Size implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return Converters.convert(text, HumanSize::parse);
        }
    }

    /** {@code 5s}; a plain number is seconds. */
    static final class Seconds implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return Converters.convert(
                    text, value -> HumanDuration.parse(value, ChronoUnit.SECONDS));
        }
    }

    /** {@code 5s}; a plain number is milliseconds, as upstream's flag of that name has it. */
    static final class Millis implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return Converters.convert(text, value -> HumanDuration.parse(value, ChronoUnit.MILLIS));
        }
    }

    /** A share between 0 and 1. */
    static final class Ratio implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            double ratio = Converters.convert(text, Double::parseDouble);
            if (!(ratio >= 0 && ratio <= 1)) {
                throw new TypeConversionException("'" + text + "' is not between 0 and 1");
            }
            return ratio;
        }
    }

    /** A port; 0 means any free one. */
    static final class Port implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            int port = Converters.convert(text, Integer::parseInt);
            if (port < 0 || port > 65535) {
                throw new TypeConversionException("'" + text + "' is not a port, 0 to 65535");
            }
            return port;
        }
    }

    /** A port, or {@code off} as -1. */
    static final class PortOrOff implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return text.equals("off") ? Integer.valueOf(-1) : new Port().convert(text);
        }
    }

    /** {@code free-ratio-first}, or with underscores as upstream writes it. */
    static final class Strategy implements ITypeConverter<AllocationStrategy> {
        @Override
        public AllocationStrategy convert(String text) {
            String name = text.toUpperCase(Locale.ROOT).replace('-', '_');
            for (AllocationStrategy strategy : AllocationStrategy.values()) {
                if (strategy.name().equals(name)) {
                    return strategy;
                }
            }
            throw new TypeConversionException(
                    "'" + text + "' is not random, free-ratio-first or local-first");
        }
    }

    /** How many: at least one, at most what is sensible for parts of one process. */
    static final class Count implements ITypeConverter<Integer> {
        private static final int MOST = 1024;

        @Override
        public Integer convert(String text) {
            int count = Converters.convert(text, Integer::parseInt);
            if (count < 1 || count > MOST) {
                throw new TypeConversionException("'" + text + "' is not between 1 and " + MOST);
            }
            return count;
        }
    }
}
