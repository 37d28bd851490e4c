package io.cassia.transfer.environment;

import io.cassia.base.config.ValueType;
import io.cassia.transfer.net.PeerFilter;
import io.cassia.transfer.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * All settings of an engine that its environment decides (spec 11), in the order of the page that
 * is made of them. Immutable.
 */
public final class EngineSettings {
    private static final Duration DAY = Duration.ofDays(1);
    private static final ValueType.Flag FLAG = new ValueType.Flag();
    private static final ValueType.Text HOST =
            text("[A-Za-z0-9:.%_-]{1,253}", "a host name or address, IPv6 without brackets");
    private static final ValueType.Text ANY = text("[^\\p{Cntrl}]{1,4096}", "any text");

    public static final Setting<Long> MIN_PORT =
            new Setting<>(
                    "min-port",
                    "MC_MIN_RPC_PORT",
                    List.of("MC_MIN_PRC_PORT"),
                    new ValueType.Whole(1024, 65_535),
                    "15000",
                    "Lower end of the range that the handshake and data ports are taken from; the"
                            + " range must lie outside 32768 to 60999, which the kernel gives to"
                            + " outgoing connections.");

    public static final Setting<Long> MAX_PORT =
            new Setting<>(
                    "max-port",
                    "MC_MAX_RPC_PORT",
                    List.of("MC_MAX_PRC_PORT"),
                    new ValueType.Whole(1024, 65_535),
                    "17000",
                    "Upper end of that range, inclusive.");

    public static final Setting<Boolean> LEGACY_PORT_BINDING =
            new Setting<>(
                    "legacy-port-binding",
                    "MC_LEGACY_RPC_PORT_BINDING",
                    List.of(),
                    FLAG,
                    "off",
                    "With a metadata store: the handshake port is that of the local name, and not"
                            + " one of the range.");

    public static final Setting<Long> HANDSHAKE_PORT =
            new Setting<>(
                    "handshake-port",
                    "MC_HANDSHAKE_PORT",
                    List.of(),
                    new ValueType.Whole(1, 65_535),
                    "12001",
                    "Handshake port of a local name without one, when legacy-port-binding is on.");

    public static final Setting<String> BIND_ADDRESS =
            new Setting<>(
                    "bind-address",
                    "MC_TCP_BIND_ADDRESS",
                    List.of(),
                    HOST,
                    "",
                    "Address to listen on, and, with a metadata store, to be reached under. None:"
                            + " all interfaces, and the address of the first one that is up.");

    public static final Setting<Boolean> USE_IPV6 =
            new Setting<>(
                    "use-ipv6",
                    "MC_USE_IPV6",
                    List.of(),
                    FLAG,
                    "off",
                    "Which address of the first interface is published. Peers are connected to"
                            + " under both families always.");

    public static final Setting<Long> HANDSHAKE_BACKLOG =
            new Setting<>(
                    "handshake-backlog",
                    "MC_HANDSHAKE_LISTEN_BACKLOG",
                    List.of(),
                    new ValueType.Whole(1, 65_535),
                    "512",
                    "Connections that the kernel accepts ahead of a listener.");

    public static final Setting<Duration> HANDSHAKE_CONNECT_TIMEOUT =
            new Setting<>(
                    "handshake-connect-timeout",
                    "MC_HANDSHAKE_CONNECT_TIMEOUT",
                    List.of(),
                    seconds(Duration.ofMillis(1), Duration.ofHours(1)),
                    "5s",
                    "For connecting to one address of a peer.");

    public static final Setting<Long> HANDSHAKE_MAX_LENGTH =
            new Setting<>(
                    "handshake-max-length",
                    "MC_HANDSHAKE_MAX_LENGTH",
                    List.of(),
                    new ValueType.Size(1 << 20, 128 << 20),
                    "1MiB",
                    "Longest handshake that is read from a peer.");

    public static final Setting<PeerFilter> PEERS =
            new Setting<>(
                    "peers",
                    "CASSIA_PEERS",
                    List.of(),
                    new Networks(),
                    "",
                    "Networks from which peers are served; others are refused with"
                            + " ERR_REJECT_HANDSHAKE. None: everybody is served.");

    public static final Setting<Boolean> FORCE_TCP =
            new Setting<>(
                    "force-tcp",
                    "MC_FORCE_TCP",
                    List.of(),
                    FLAG,
                    "off",
                    "Bytes go over TCP and nothing else: not through the memory of the host, and"
                            + " not over RDMA, whatever transports and force-rdma say.");

    public static final Setting<Set<String>> TRANSPORTS =
            new Setting<>(
                    "transports",
                    "CASSIA_TRANSPORTS",
                    List.of(),
                    new ValueType.Words(
                            Arrays.stream(Transport.values()).map(Transport::label).toList()),
                    Arrays.stream(Transport.values())
                            .map(Transport::label)
                            .collect(Collectors.joining(",")),
                    "What may carry bytes, the fastest that fits being taken: a copy inside the"
                            + " process; shared memory, a copy by the kernel, or a socket between"
                            + " processes of one user and host; TCP.");

    public static final Setting<Boolean> FORCE_RDMA =
            new Setting<>(
                    "force-rdma",
                    "MC_FORCE_HCA",
                    List.of(),
                    FLAG,
                    "off",
                    "The engine starts with RDMA or not at all: ERR_DEVICE_NOT_FOUND without a"
                            + " device, ERR_CONTEXT when it cannot be opened, ERR_NOT_IMPLEMENTED"
                            + " when it can.");

    public static final Setting<Long> LANES_PER_PEER =
            new Setting<>(
                    "lanes-per-peer",
                    "MC_TCP_LANES_PER_PEER",
                    List.of("MC_TCP_MAX_CONNECTIONS_PER_PEER"),
                    new ValueType.Whole(1, 64),
                    "4",
                    "Connections kept to one peer at most.");

    public static final Setting<Duration> STALL_TIMEOUT =
            new Setting<>(
                    "stall-timeout",
                    "MC_TCP_STATUS_TIMEOUT_SEC",
                    List.of(),
                    seconds(Duration.ofMillis(1), DAY),
                    "30s",
                    "A connection with work to do that moves no byte for so long is given up.");

    public static final Setting<Long> TCP_PROTOCOL =
            new Setting<>(
                    "tcp-protocol",
                    "MC_TCP_PROTO",
                    List.of(),
                    new ValueType.Whole(1, 2),
                    "2",
                    "Version of the data protocol spoken at most. With 1 a write that has completed"
                            + " has left this host, and nothing more.");

    public static final Setting<Duration> TRANSFER_TIMEOUT =
            new Setting<>(
                    "transfer-timeout",
                    "MC_TRANSFER_TIMEOUT",
                    List.of(),
                    seconds(Duration.ofSeconds(5), DAY),
                    "60s",
                    "For a task of a batch, from its submission.");

    public static final Setting<String> METADATA_CLUSTER =
            new Setting<>(
                    "metadata-cluster",
                    "MC_METADATA_CLUSTER_ID",
                    List.of(),
                    ANY,
                    "",
                    "Part of the keys in the metadata store: engines of other clusters are not"
                            + " seen.");

    public static final Setting<Duration> METADATA_REFRESH_INTERVAL =
            new Setting<>(
                    "metadata-refresh-interval",
                    "MC_TE_METADATA_REFRESH_INTERVAL_SECONDS",
                    List.of(),
                    seconds(Duration.ZERO, DAY),
                    "0",
                    "How often descriptors of opened segments are read again; 0: only when a"
                            + " connection fails.");

    public static final Setting<Duration> METADATA_HEARTBEAT =
            new Setting<>(
                    "metadata-heartbeat",
                    "CASSIA_METADATA_HEARTBEAT",
                    List.of(),
                    seconds(Duration.ofMillis(100), Duration.ofHours(1)),
                    "10s",
                    "How often an engine looks after its entries in the metadata store. What the"
                            + " store lost is written again within that time.");

    public static final Setting<Duration> METADATA_ENTRY_TTL =
            new Setting<>(
                    "metadata-entry-ttl",
                    "CASSIA_METADATA_ENTRY_TTL",
                    List.of(),
                    seconds(Duration.ofSeconds(1), DAY),
                    "35s",
                    "Entries vanish from etcd and Redis so long after the last heartbeat; at least"
                            + " two heartbeats.");

    public static final Setting<Duration> METADATA_CONNECT_TIMEOUT =
            new Setting<>(
                    "metadata-connect-timeout",
                    "CASSIA_METADATA_CONNECT_TIMEOUT",
                    List.of(),
                    seconds(Duration.ofMillis(10), Duration.ofMinutes(1)),
                    "1500ms",
                    "For a connection to the metadata store.");

    public static final Setting<Duration> METADATA_REQUEST_TIMEOUT =
            new Setting<>(
                    "metadata-request-timeout",
                    "CASSIA_METADATA_REQUEST_TIMEOUT",
                    List.of(),
                    seconds(Duration.ofMillis(10), Duration.ofMinutes(1)),
                    "5s",
                    "For one request to the metadata store, connecting included.");

    public static final Setting<String> REDIS_USERNAME =
            new Setting<>(
                    "redis-username",
                    "MC_REDIS_USERNAME",
                    List.of(),
                    ANY,
                    "",
                    "User of a Redis metadata store; none: its default user.");

    public static final Setting<String> REDIS_PASSWORD =
            new Setting<>(
                    "redis-password",
                    "MC_REDIS_PASSWORD",
                    List.of(),
                    new ValueType.Text(Pattern.compile("[^\\p{Cntrl}]{1,4096}"), "any text", true),
                    "",
                    "Password of that user. It is never shown.");

    public static final Setting<Long> REDIS_DATABASE =
            new Setting<>(
                    "redis-database",
                    "MC_REDIS_DB_INDEX",
                    List.of(),
                    new ValueType.Whole(0, 65_535),
                    "0",
                    "Number of the database in a Redis metadata store.");

    public static final Setting<Path> CUSTOM_TOPOLOGY =
            new Setting<>(
                    "custom-topology",
                    "MC_CUSTOM_TOPO_JSON",
                    List.of(),
                    new ValueType.File(),
                    "",
                    "File with the priority matrix of RDMA devices, instead of the host's own.");

    public static final Setting<String> DEVICE_FILTER =
            new Setting<>(
                    "device-filter",
                    "MC_TE_FILTERS",
                    List.of(),
                    text("[A-Za-z0-9_.:, -]{1,4096}", "a comma list of device names"),
                    "",
                    "RDMA devices that may be used; none: all.");

    public static final Setting<Boolean> PATH_ROUND_ROBIN =
            new Setting<>(
                    "path-round-robin",
                    "MC_PATH_ROUNDROBIN",
                    List.of(),
                    FLAG,
                    "off",
                    "Equally good RDMA devices are taken in turn, and not at random.");

    public static final Setting<Boolean> SAME_NAME_AFFINITY =
            new Setting<>(
                    "same-name-affinity",
                    "MC_ENABLE_DEST_DEVICE_AFFINITY",
                    List.of(),
                    FLAG,
                    "off",
                    "An RDMA device prefers the peer's device of the same name.");

    public static final Setting<Boolean> PEER_AFFINITY =
            new Setting<>(
                    "peer-affinity",
                    "MC_ENABLE_HCA_PEER_AFFINITY",
                    List.of(),
                    FLAG,
                    "off",
                    "An RDMA device prefers the peer's devices of device-affinity; not together"
                            + " with same-name-affinity.");

    public static final Setting<String> DEVICE_AFFINITY =
            new Setting<>(
                    "device-affinity",
                    "MC_NIC_PEER_AFFINITY",
                    List.of(),
                    text("[A-Za-z0-9_.:,;= -]{1,65536}", "<local>=<peer>,<peer>;<local>=<peer>"),
                    "",
                    "The table of peer-affinity.");

    /** All of them. */
    public static final List<Setting<?>> ALL =
            List.of(
                    MIN_PORT,
                    MAX_PORT,
                    LEGACY_PORT_BINDING,
                    HANDSHAKE_PORT,
                    BIND_ADDRESS,
                    USE_IPV6,
                    HANDSHAKE_BACKLOG,
                    HANDSHAKE_CONNECT_TIMEOUT,
                    HANDSHAKE_MAX_LENGTH,
                    PEERS,
                    FORCE_TCP,
                    TRANSPORTS,
                    FORCE_RDMA,
                    LANES_PER_PEER,
                    STALL_TIMEOUT,
                    TCP_PROTOCOL,
                    TRANSFER_TIMEOUT,
                    METADATA_CLUSTER,
                    METADATA_REFRESH_INTERVAL,
                    METADATA_HEARTBEAT,
                    METADATA_ENTRY_TTL,
                    METADATA_CONNECT_TIMEOUT,
                    METADATA_REQUEST_TIMEOUT,
                    REDIS_USERNAME,
                    REDIS_PASSWORD,
                    REDIS_DATABASE,
                    CUSTOM_TOPOLOGY,
                    DEVICE_FILTER,
                    PATH_ROUND_ROBIN,
                    SAME_NAME_AFFINITY,
                    PEER_AFFINITY,
                    DEVICE_AFFINITY);

    private EngineSettings() {}

    private static ValueType.Text text(String form, String description) {
        return new ValueType.Text(Pattern.compile(form), description, false);
    }

    private static ValueType.Span seconds(Duration min, Duration max) {
        return new ValueType.Span(ChronoUnit.SECONDS, min, max);
    }
}
