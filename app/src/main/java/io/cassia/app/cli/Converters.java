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

    /** {@code two-queues}, as the setting of a master. */
    static final class Policy implements ITypeConverter<EvictionPolicy> {
        @Override
        public EvictionPolicy convert(String text) {
            return Converters.convert(text, MasterSettings::policy);
        }
    }
}
