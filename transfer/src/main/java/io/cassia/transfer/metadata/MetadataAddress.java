package io.cassia.transfer.metadata;

import io.cassia.base.HostPort;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Where engines find each other, as a connection string tells it (spec 5.1). Immutable.
 *
 * <pre>
 *   P2PHANDSHAKE                     the peers themselves
 *   http://host:8080/metadata        a metadata server; https too
 *   etcd://host:2379,host:2379       an etcd cluster; the bare list of host:port too
 *   redis://host:6379                a Redis server
 * </pre>
 */
public sealed interface MetadataAddress {
    /** The connection string of peers that ask each other. */
    String P2P = "P2PHANDSHAKE";

    /** A name or IPv4 literal, or an IPv6 literal with an optional scope. */
    Pattern HOST = Pattern.compile("[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+(%[A-Za-z0-9._-]+)?");

    /** The peers themselves: no store. Immutable. */
    record Peers() implements MetadataAddress {
        @Override
        public String toString() {
            return P2P;
        }
    }

    /**
     * A metadata server over HTTP. Immutable.
     *
     * @param uri with path, to which {@code ?key=} is appended
     */
    record Http(String uri) implements MetadataAddress {
        @Override
        public String toString() {
            return uri;
        }
    }

    /**
     * An etcd cluster. Immutable.
     *
     * @param members at least one
     */
    record Etcd(List<HostPort> members) implements MetadataAddress {
        static final int DEFAULT_PORT = 2379;

        public Etcd {
            members = List.copyOf(members);
            if (members.isEmpty()) {
                throw new IllegalArgumentException("an etcd cluster without members");
            }
        }

        @Override
        public String toString() {
            return members.stream()
                    .map(HostPort::toString)
                    .collect(Collectors.joining(",", "etcd://", ""));
        }
    }

    /**
     * A Redis server. Immutable.
     *
     * @param server its address
     */
    record Redis(HostPort server) implements MetadataAddress {
        static final int DEFAULT_PORT = 6379;

        @Override
        public String toString() {
            return "redis://" + server;
        }
    }

    /**
     * Reads a connection string. ERR_INVALID_ARGUMENT names what is wrong with it, an unknown
     * scheme among others, and lists the forms.
     */
    static Outcome<MetadataAddress> parse(String connection) {
        if (connection.equals(P2P)) {
            return Outcome.ok(new Peers());
        }
        int colon = connection.indexOf("://");
        if (colon < 0) {
            // A bare name would be a mistyped keyword far more often than an etcd host.
            return etcd(connection, connection, 0);
        }
        String rest = connection.substring(colon + 3);
        return switch (connection.substring(0, colon)) {
            case "http", "https" -> http(connection);
            case "etcd" -> etcd(connection, rest, Etcd.DEFAULT_PORT);
            case "redis" -> redis(connection, rest);
            case String scheme ->
                    invalid(connection, "the scheme \"%s\" is unknown".formatted(scheme));
        };
    }

    private static Outcome<MetadataAddress> http(String connection) {
        try {
            if (URI.create(connection).getHost() != null) {
                return Outcome.ok(new Http(connection));
            }
        } catch (IllegalArgumentException e) {
            return invalid(connection, String.valueOf(e.getMessage()));
        }
        return invalid(connection, "the host is missing");
    }

    private static Outcome<MetadataAddress> etcd(String connection, String list, int defaultPort) {
        List<HostPort> members = new ArrayList<>();
        for (String member : list.split(",", -1)) {
            Optional<HostPort> address = address(member, defaultPort);
            if (address.isEmpty()) {
                return invalid(connection, "\"%s\" is no host:port".formatted(member));
            }
            members.add(address.get());
        }
        return Outcome.ok(new Etcd(members));
    }

    private static Outcome<MetadataAddress> redis(String connection, String rest) {
        if (rest.indexOf('@') >= 0) {
            return invalid(
                    "redis://...",
                    "name and password do not belong there, but in MC_REDIS_USERNAME and"
                            + " MC_REDIS_PASSWORD");
        }
        return address(rest, Redis.DEFAULT_PORT)
                .<Outcome<MetadataAddress>>map(server -> Outcome.ok(new Redis(server)))
                .orElseGet(() -> invalid(connection, "\"%s\" is no host[:port]".formatted(rest)));
    }

    private static Optional<HostPort> address(String text, int defaultPort) {
        return HostPort.parse(text.strip(), defaultPort)
                .filter(address -> HOST.matcher(address.host()).matches());
    }

    private static Outcome<MetadataAddress> invalid(String connection, String why) {
        return Outcome.failed(
                TransferCode.ERR_INVALID_ARGUMENT,
                "metadata \"%s\": %s; it is P2PHANDSHAKE, http(s)://host:port/path,"
                                .formatted(connection, why)
                        + " etcd://host:port,... (or the bare list) or redis://host[:port]");
    }
}
