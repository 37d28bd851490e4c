package io.cassia.gateways.rest;

import io.cassia.base.HumanDuration;
import io.cassia.status.Outcome;
import io.cassia.store.PutOptions;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * How an uploaded value is stored, from the request. Immutable.
 *
 * <pre>
 *   ?replicas=2          on so many nodes
 *   ?hard_pin            never evicted
 *   ?soft_pin=30s        evicted after the others for so long; a plain number is milliseconds
 *   ?preferred=a,b       segments to be tried first
 *   If-Match: "7"        only over version 7, which ETag told
 *   If-None-Match: *     only when the key is free
 * </pre>
 */
final class UploadOptions {
    private static final int MOST_REPLICAS = 1024;

    private UploadOptions() {}

    /** INVALID_PARAMS names what is wrong. */
    static Outcome<PutOptions> of(RestExchange exchange, PutOptions base) {
        return replicas(exchange, base)
                .then(options -> softPin(exchange, options))
                .map(options -> exchange.flag("hard_pin") ? options.withHardPin() : options)
                .map(options -> preferred(exchange, options))
                .then(options -> condition(exchange, options));
    }

    private static Outcome<PutOptions> replicas(RestExchange exchange, PutOptions options) {
        Optional<String> text = exchange.parameter("replicas");
        if (text.isEmpty()) {
            return Outcome.ok(options);
        }
        try {
            int count = Integer.parseInt(text.get());
            if (count >= 1 && count <= MOST_REPLICAS) {
                return Outcome.ok(options.withReplicas(count));
            }
        } catch (NumberFormatException e) {
            return notReplicas(text.get());
        }
        return notReplicas(text.get());
    }

    private static Outcome<PutOptions> notReplicas(String text) {
        return Documents.invalid(
                "replicas=" + text + " is not a number between 1 and " + MOST_REPLICAS);
    }

    private static Outcome<PutOptions> softPin(RestExchange exchange, PutOptions options) {
        Optional<String> text = exchange.parameter("soft_pin");
        if (text.isEmpty()) {
            return Outcome.ok(options);
        }
        try {
            Duration time = HumanDuration.parse(text.get(), ChronoUnit.MILLIS);
            return Outcome.ok(options.withSoftPin(time));
        } catch (IllegalArgumentException e) {
            return Documents.invalid("soft_pin: " + e.getMessage());
        }
    }

    private static PutOptions preferred(RestExchange exchange, PutOptions options) {
        return exchange.parameter("preferred")
                .map(names -> options.withPreferred(List.of(names.split(",", -1))))
                .orElse(options);
    }

    private static Outcome<PutOptions> condition(RestExchange exchange, PutOptions options) {
        Optional<String> version = exchange.header("If-Match");
        if (version.isPresent()) {
            String digits = version.get().strip().replace("\"", "");
            return digits.matches("-?\\d{1,18}")
                    ? Outcome.ok(options.ifVersion(Long.parseLong(digits)))
                    : Documents.invalid("If-Match: " + version.get() + " is not a version");
        }
        return Outcome.ok(
                exchange.header("If-None-Match").filter("*"::equals).isPresent()
                        ? options.ifAbsent()
                        : options);
    }

    /** Whether the request set a condition, whose failure is 412. */
    static boolean isConditional(RestExchange exchange) {
        return exchange.header("If-Match").isPresent()
                || exchange.header("If-None-Match").isPresent();
    }
}
