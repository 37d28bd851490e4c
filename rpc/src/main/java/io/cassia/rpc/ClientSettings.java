package io.cassia.rpc;

import io.cassia.base.Clock;
import java.time.Duration;

/** What connections of a client have in common. Immutable. */
record ClientSettings(
        Duration connectTimeout,
        int maxInFlight,
        int maxBodyBytes,
        Clock clock,
        ClientMetrics metrics) {
    ClientSettings {
        if (maxInFlight < 1 || maxInFlight > 1 << 20) {
            throw new IllegalArgumentException("maxInFlight " + maxInFlight);
        }
        if (maxBodyBytes < 1024 || maxBodyBytes > 1 << 30) {
            throw new IllegalArgumentException("maxBodyBytes " + maxBodyBytes);
        }
    }
}
