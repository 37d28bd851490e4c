package io.cassia.base;

import java.util.Optional;

/**
 * A host name or address literal with a port. Immutable.
 *
 * @param host without brackets, also for IPv6
 * @param port 1 to 65535
 */
public record HostPort(String host, int port) {
    public HostPort {
        if (host.isEmpty() || port < 1 || port > 65535) {
            throw new IllegalArgumentException("host '" + host + "' port " + port);
        }
    }

    /**
     * Reads {@code host:port}, {@code [v6]:port}, or a host or bare IPv6 literal with the default
     * port. Empty when the text is none of these.
     *
     * @param defaultPort port of a text without one; 0 when it must have one
     */
    public static Optional<HostPort> parse(String text, int defaultPort) {
        String host = text;
        String port = Integer.toString(defaultPort);
        if (text.startsWith("[")) {
            int close = text.indexOf(']');
            if (close < 0) {
                return Optional.empty();
            }
            host = text.substring(1, close);
            String rest = text.substring(close + 1);
            if (rest.startsWith(":")) {
                port = rest.substring(1);
            } else if (!rest.isEmpty()) {
                return Optional.empty();
            }
        } else if (text.indexOf(':') >= 0 && text.indexOf(':') == text.lastIndexOf(':')) {
            host = text.substring(0, text.indexOf(':'));
            port = text.substring(text.indexOf(':') + 1);
        }
        return of(host, port);
    }

    private static Optional<HostPort> of(String host, String port) {
        try {
            int number = Integer.parseInt(port);
            return host.isEmpty() || number < 1 || number > 65535
                    ? Optional.empty()
                    : Optional.of(new HostPort(host, number));
        } catch (NumberFormatException notANumber) {
            return Optional.empty();
        }
    }

    /** {@code host:port}, with brackets around an IPv6 literal. */
    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
