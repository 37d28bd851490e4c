package io.cassia.app.cluster;

import java.util.Map;

/**
 * Limits of the JDK's HTTP server, which by itself keeps any number of connections. Immutable. They
 * are properties of the process; those that its user has set stay.
 *
 * <p>Times for requests and answers are each server's own affair: those of the JDK would be the
 * same for all of a process, and cut off long uploads to the REST service.
 */
final class HttpLimits {
    private static final Map<String, String> PROPERTIES =
            Map.of(
                    "jdk.httpserver.maxConnections", "1024",
                    "sun.net.httpserver.maxIdleConnections", "256",
                    "sun.net.httpserver.idleInterval", "30");

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
