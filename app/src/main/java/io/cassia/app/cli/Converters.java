package io.cassia.app.cli;

import io.cassia.app.cluster.MasterSettings;
import io.cassia.base.HumanDuration;
import io.cassia.base.HumanSize;
import io.cassia.master.core.EvictionPolicy;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
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

    /** {@code 5s}, and not 0: how long something may take. */
    static final class Limit implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            Duration limit = new Seconds().convert(text);
            if (limit.isZero()) {
                throw new TypeConversionException("'" + text + "' leaves no time; write 5s");
            }
            return limit;
        }
    }

    /** How many: at least one, at most what is sensible for parts of one process. */
    static final class Count implements ITypeConverter<Integer> {
        private static final int MOST = 1024;

        @Override
        public Integer convert(String text) {
            return whole(text, 1, MOST);
        }
    }

    /** {@code two-queues}, as the setting of a master. */
    static final class Policy implements ITypeConverter<EvictionPolicy> {
        @Override
        public EvictionPolicy convert(String text) {
            return Converters.convert(text, MasterSettings::policy);
        }
    }

    /** A whole number of a range, or a message that says so. */
    static int whole(String text, int least, int most) {
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Told below.
        }
        throw new TypeConversionException(
                "'%s' is not between %d and %d".formatted(text, least, most));
    }
}
