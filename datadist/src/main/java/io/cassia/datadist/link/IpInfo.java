package io.cassia.datadist.link;

import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where a cluster listens, or which address to dial from. Immutable. Any text can be held; {@link
 * #check} says whether it is one.
 *
 * @param host IPv4 address, IPv6 address without brackets, or host name
 * @param port 1 to 65535; 0 where the port does not matter or any free one will do
 */
public record IpInfo(String host, int port) {
    private static final Pattern IPV4 =
            Pattern.compile("(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\\.(?!$)|$)){4}");
    private static final Pattern NUMERIC = Pattern.compile("[0-9.]+");
    private static final Pattern NAME =
            Pattern.compile(
                    "(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62})*\\.?");

    /** {@code host:port} or {@code [IPv6]:port}; {@code LLM_PARAM_INVALID} for anything else. */
    public static Outcome<IpInfo> parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon < 1) {
            return invalid("'" + text + "' is not host:port");
        }
        String host = text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            return invalid("'" + text + "': an IPv6 address stands in brackets");
        }
        String port = text.substring(colon + 1);
        if (!port.matches("[0-9]{1,5}")) {
            return invalid("'" + text + "': the port is not a number");
        }
        IpInfo info = new IpInfo(host, Integer.parseInt(port));
        return info.check().map(ok -> info);
    }

    /** {@code LLM_PARAM_INVALID} unless it can be dialled: a port from 1 to 65535 and a host. */
    public Outcome<Done> check() {
        if (port < 1 || port > 65535) {
            return invalid(this + ": the port is not in 1..65535");
        }
        return checkHost();
    }

    /** Like {@link #check()}, with any port. */
    public Outcome<Done> checkHost() {
        boolean valid =
                literal().isPresent()
                        || (!NUMERIC.matcher(host).matches() && NAME.matcher(host).matches());
        return valid ? Outcome.done() : invalid(this + ": the host is neither address nor name");
    }

    /** The address, when it is one and not a name. */
    public Optional<InetAddress> literal() {
        if (IPV4.matcher(host).matches()) {
            return Optional.of(Inet4Address.ofLiteral(host));
        }
        if (host.indexOf(':') < 0) {
            return Optional.empty();
        }
        try {
            return Optional.of(Inet6Address.ofLiteral(host));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }

    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
