package io.cassia.app.cluster;

import java.util.Map;

/**
 * Limits of the JDK's HTTP server, which by itself waits for ever for a request that never ends.
 * Immutable. They are properties of the process; those that its user has set stay.
 */
final class HttpLimits {
    private static final Map<String, String> PROPERTIES =
            Map.of(
                    "jdk.httpserver.maxConnections", "1024",
                    "sun.net.httpserver.maxIdleConnections", "256",
                    "sun.net.httpserver.idleInterval", "30",
                    // Seconds for a whole request, and for a whole response.
                    "sun.net.httpserver.maxReqTime", "60",
                    "sun.net.httpserver.maxRspTime", "600");

    private HttpLimits() {}

    /** To be called before the first server is made: the JDK reads them once. */
    static void apply() {
        PROPERTIES.forEach(
                (name, value) -> {
                    if (System.getProperty(name) == null) {
                        System.setProperty(name, value);
                    }
                });
    }
}
