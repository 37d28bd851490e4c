package io.cassia.transfer.metadata;

import io.cassia.base.HostPort;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.util.Optional;

/**
 * The address in the name of an engine whose peers ask each other (spec 5.8). Immutable.
 *
 * <p>Peers of other kinds made the name, so it is read as they read it: what stands where a port
 * should and is none counts for nothing. Addresses that people configure are read strictly instead
 * ({@link HostPort#parse}): a mistyped port must stop the start.
 */
public final class EngineName {
    /** The port of a name that has none. */
    public static final int DEFAULT_PORT = 12001;

    private EngineName() {}

    /**
     * Where the engine of that name answers handshakes: {@code host:port}, {@code [v6]:port}, a
     * bare IPv6 literal, or a host alone. ERR_INVALID_ARGUMENT when the host is missing.
     */
    public static Outcome<HostPort> address(String name) {
        Optional<HostPort> exact = HostPort.parse(name, DEFAULT_PORT);
        return exact.isPresent() ? Outcome.ok(exact.get()) : withoutPort(name);
    }

    private static Outcome<HostPort> withoutPort(String name) {
        int close = name.startsWith("[") ? name.indexOf(']') : -1;
        int colon = name.lastIndexOf(':');
        String host = name;
        if (close > 0) {
            host = name.substring(1, close);
        } else if (colon >= 0 && name.indexOf(':') == colon) {
            host = name.substring(0, colon);
        }
        return host.isEmpty()
                ? Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        "segment name \"%s\" has no host".formatted(name))
                : Outcome.ok(new HostPort(host, DEFAULT_PORT));
    }
}
