package io.cassia.transfer.metadata;

import java.util.Objects;
import java.util.OptionalInt;

/**
 * A host and a port, as they stand in names of engines (spec 5.8): {@code host:port}, {@code
 * [v6]:port}, or a host alone; a bare IPv6 literal has no port. Immutable.
 *
 * @param host name or address, IPv6 without brackets, maybe with {@code %scope}
 * @param port 1 to 65535
 */
public record HostPort(String host, int port) {
    /** The port of a name that has none. */
    public static final int DEFAULT_PORT = 12001;

    public HostPort {
        Objects.requireNonNull(host);
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("port " + port);
        }
    }

    /** Takes a name apart; a port that is none falls back to {@link #DEFAULT_PORT}. */
    public static HostPort parse(String name) {
        if (name.startsWith("[")) {
            int end = name.indexOf(']');
            if (end > 0) {
                String rest = name.substring(end + 1);
                String port = rest.startsWith(":") ? rest.substring(1) : "";
                return new HostPort(name.substring(1, end), portOr(port, DEFAULT_PORT));
            }
        }
        int colon = name.lastIndexOf(':');
        if (colon < 0 || name.indexOf(':') != colon) {
            return new HostPort(name, DEFAULT_PORT);
        }
        return new HostPort(
                name.substring(0, colon), portOr(name.substring(colon + 1), DEFAULT_PORT));
    }

    private static int portOr(String text, int otherwise) {
        OptionalInt port = port(text);
        return port.isPresent() ? port.getAsInt() : otherwise;
    }

    private static OptionalInt port(String text) {
        if (text.isEmpty()
                || text.length() > 5
                || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return OptionalInt.empty();
        }
        int port = Integer.parseInt(text);
        return port >= 1 && port <= 65535 ? OptionalInt.of(port) : OptionalInt.empty();
    }

    /** The name: IPv6 literals in brackets. */
    @Override
    public String toString() {
        return host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
    }
}
