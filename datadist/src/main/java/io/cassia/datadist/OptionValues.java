package io.cassia.datadist;

import io.cassia.datadist.link.IpInfo;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.transport.Transport;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.regex.Pattern;

/** Immutable. Reads the values of options. */
final class OptionValues {
    private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,19}");

    private OptionValues() {}

    /** A whole decimal number in a range. */
    static Outcome<Long> number(String text, long min, long max) {
        if (!DECIMAL.matcher(text).matches()) {
            return invalid("is not a whole number: '" + text + "'");
        }
        try {
            long value = Long.parseLong(text);
            return value < min || value > max
                    ? invalid("%d is not in %d..%d".formatted(value, min, max))
                    : Outcome.ok(value);
        } catch (NumberFormatException e) {
            return invalid(text + " exceeds 2^63-1");
        }
    }

    static Outcome<Long> number(String text, long min, long max, LongPredicate rule, String words) {
        return number(text, min, max)
                .then(
                        value ->
                                rule.test(value)
                                        ? Outcome.ok(value)
                                        : invalid(value + " is not " + words));
    }

    /** "0" or "1". */
    static Outcome<Boolean> flag(String text) {
        return switch (text) {
            case "0" -> Outcome.ok(false);
            case "1" -> Outcome.ok(true);
            default -> invalid("is neither 0 nor 1: '" + text + "'");
        };
    }

    /** An address to listen on: no host name but localhost, for one that does not resolve yet. */
    static Outcome<IpInfo> listen(String text) {
        return IpInfo.parse(text)
                .then(
                        info ->
                                info.literal().isPresent() || info.host().equals("localhost")
                                        ? Outcome.ok(info)
                                        : invalid(
                                                "'%s': an IPv4 address, an IPv6 address in brackets, or localhost"
                                                        .formatted(text)));
    }

    /** A number between 0 and 1. */
    static Outcome<Done> fraction(String text) {
        try {
            double value = Double.parseDouble(text);
            return value >= 0 && value <= 1 ? Outcome.done() : invalid(text + " is not in 0..1");
        } catch (NumberFormatException e) {
            return invalid("is not a number: '" + text + "'");
        }
    }

    /** Names of transports, with commas between them. */
    static Outcome<Set<Transport>> transports(String text) {
        Set<Transport> chosen = EnumSet.noneOf(Transport.class);
        for (String name : text.split(",", -1)) {
            Optional<Transport> known =
                    Arrays.stream(Transport.values())
                            .filter(transport -> transport.label().equals(name.strip()))
                            .findFirst();
            if (known.isEmpty()) {
                return invalid("'" + name + "' is not local, shm, process-vm, uds or tcp");
            }
            chosen.add(known.get());
        }
        return Outcome.ok(chosen);
    }

    static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
