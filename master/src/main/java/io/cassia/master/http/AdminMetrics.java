package io.cassia.master.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** What the admin server counts. Immutable; the counters are the registry's. */
final class AdminMetrics {
    /** Why a request was turned away before an endpoint saw it. */
    enum Refused {
        UNKNOWN_PATH,
        WRONG_METHOD,
        BODY_TOO_LARGE,
        TOO_MANY_REQUESTS,
        FAILED
    }

    private final Counter requests;
    private final Map<Refused, Counter> refused = new EnumMap<>(Refused.class);

    AdminMetrics(MeterRegistry meters) {
        requests =
                Counter.builder("cassia.admin.requests")
                        .description("Requests to the admin server")
                        .register(meters);
        for (Refused reason : Refused.values()) {
            refused.put(
                    reason,
                    Counter.builder("cassia.admin.refused")
                            .description("Requests that no endpoint answered, by reason")
                            .tag("reason", reason.name().toLowerCase(Locale.ROOT))
                            .register(meters));
        }
    }

    void request() {
        requests.increment();
    }

    void refused(Refused reason) {
        Objects.requireNonNull(refused.get(reason)).increment();
    }
}
