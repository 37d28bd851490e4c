package io.cassia.transfer.environment;

import io.cassia.base.Entropy;
import io.cassia.base.HostPort;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.metadata.MetadataAddress;
import io.cassia.transfer.metadata.MetadataOptions;
import io.cassia.transfer.net.PeerFilter;
import io.cassia.transfer.topology.DeviceFilter;
import io.cassia.transfer.topology.DeviceSelector;
import io.cassia.transfer.topology.NetworkLink;
import io.cassia.transfer.topology.PeerAffinity;
import io.cassia.transfer.topology.TopologySource;
import io.cassia.transfer.transport.Transport;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * What the environment says about an engine (spec 11). Immutable.
 *
 * <p>A bad value stops the start and is named: unlike upstream, which logs a warning and goes on
 * with the default, nothing runs otherwise than it was told to. An empty value counts as none.
 */
public final class EngineEnvironment {
    /** The kernel's range for outgoing connections, in which ports vanish by chance. */
    private static final int EPHEMERAL_MIN = 32_768;

    private static final int EPHEMERAL_MAX = 60_999;

    private final Map<Setting<?>, Object> values;
    private final PeerAffinity affinity;

    private EngineEnvironment(Map<Setting<?>, Object> values, PeerAffinity affinity) {
        this.values = Map.copyOf(values);
        this.affinity = affinity;
    }

    /** That of environment variables alone. */
    public static Outcome<EngineEnvironment> read(Map<String, String> variables) {
        return read(Map.of(), variables, Map.of());
    }

    /**
     * The settings of a configuration file, of the environment, and of flags; the later wins. File
     * and flags use Cassia's own names. ERR_INVALID_ARGUMENT names the variable or setting, the
     * value and the range; of an unknown setting, the nearest known one.
     */
    public static Outcome<EngineEnvironment> read(
            Map<String, String> file, Map<String, String> variables, Map<String, String> flags) {
        Optional<String> unknown = Names.unknown(file).or(() -> Names.unknown(flags));
        if (unknown.isPresent()) {
            return invalid(unknown.get());
        }
        Map<Setting<?>, Object> values = new HashMap<>();
        for (Setting<?> setting : EngineSettings.ALL) {
            Optional<Map.Entry<String, String>> given =
                    named(setting.name(), flags)
                            .or(() -> variable(setting, variables))
                            .or(() -> named(setting.name(), file));
            String source = given.map(Map.Entry::getKey).orElse(setting.name());
            String text = given.map(Map.Entry::getValue).orElse(setting.initial());
            if (!text.isEmpty()) {
                switch (setting.type().read(source, text, TransferCode.ERR_INVALID_ARGUMENT)) {
                    case Outcome.Ok<?>(Object value) -> values.put(setting, value);
                    case Outcome.Failed<?> failed -> {
                        return failed.as();
                    }
                }
            }
        }
        return affinity(values).then(affinity -> checked(new EngineEnvironment(values, affinity)));
    }

    private static Optional<Map.Entry<String, String>> named(
            String name, Map<String, String> texts) {
        return Optional.ofNullable(texts.get(name))
                .filter(text -> !text.isBlank())
                .map(text -> Map.entry(name, text));
    }

    private static Optional<Map.Entry<String, String>> variable(
            Setting<?> setting, Map<String, String> variables) {
        return setting.variables()
                .map(variable -> named(variable, variables))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static Outcome<PeerAffinity> affinity(Map<Setting<?>, Object> values) {
        boolean sameName = Boolean.TRUE.equals(values.get(EngineSettings.SAME_NAME_AFFINITY));
        boolean table = Boolean.TRUE.equals(values.get(EngineSettings.PEER_AFFINITY));
        if (sameName && table) {
            return invalid(
                    "MC_ENABLE_DEST_DEVICE_AFFINITY and MC_ENABLE_HCA_PEER_AFFINITY exclude each"
                            + " other");
        }
        if (!table) {
            return Outcome.ok(sameName ? new PeerAffinity.SameName() : new PeerAffinity.None());
        }
        Object text = values.get(EngineSettings.DEVICE_AFFINITY);
        return text == null
                ? invalid("MC_ENABLE_HCA_PEER_AFFINITY needs MC_NIC_PEER_AFFINITY")
                : switch (PeerAffinity.parse(text.toString())) {
                    case Outcome.Ok<PeerAffinity> ok -> ok;
                    case Outcome.Failed<PeerAffinity> failed -> failed.in("MC_NIC_PEER_AFFINITY");
                };
    }

    private static Outcome<EngineEnvironment> checked(EngineEnvironment read) {
        int min = read.number(EngineSettings.MIN_PORT);
        int max = read.number(EngineSettings.MAX_PORT);
        if (min > max || (min <= EPHEMERAL_MAX && max >= EPHEMERAL_MIN)) {
            return invalid(
                    "MC_MIN_RPC_PORT=%d, MC_MAX_RPC_PORT=%d: it is a range outside %d to %d"
                            .formatted(min, max, EPHEMERAL_MIN, EPHEMERAL_MAX));
        }
        if (read.require(EngineSettings.METADATA_ENTRY_TTL)
                        .compareTo(read.require(EngineSettings.METADATA_HEARTBEAT).multipliedBy(2))
                < 0) {
            return invalid(
                    "metadata-entry-ttl=%s: it is at least two of metadata-heartbeat=%s"
                            .formatted(
                                    read.require(EngineSettings.METADATA_ENTRY_TTL),
                                    read.require(EngineSettings.METADATA_HEARTBEAT)));
        }
        return Outcome.ok(read);
    }

    private static <T> Outcome<T> invalid(String why) {
        return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, why);
    }

    /** The value of a setting; nothing when it has no default and was not set. */
    @SuppressWarnings("unchecked") // The setting's own type has made the value.
    public <T> Optional<T> find(Setting<T> setting) {
        return Optional.ofNullable((T) values.get(setting));
    }

    private <T> T require(Setting<T> setting) {
        return find(setting).orElseThrow();
    }

    /** One whose range is that of an int. */
    private int number(Setting<Long> setting) {
        return Math.toIntExact(require(setting));
    }

    /** Where the priority matrix comes from. */
    public TopologySource topology() {
        return TopologySource.of(find(EngineSettings.CUSTOM_TOPOLOGY));
    }

    /** RDMA devices that may be used. */
    public DeviceFilter devices() {
        return DeviceFilter.parse(find(EngineSettings.DEVICE_FILTER).orElse(""));
    }

    /** How one of several equally good RDMA devices is taken. */
    public DeviceSelector.Pick pick(Entropy entropy) {
        return require(EngineSettings.PATH_ROUND_ROBIN)
                ? DeviceSelector.Pick.roundRobin()
                : DeviceSelector.Pick.random(entropy);
    }

    /** Which devices of a peer a local RDMA device prefers. */
    public PeerAffinity affinity() {
        return affinity;
    }

    /** How the metadata store is used. */
    public MetadataOptions metadata() {
        return new MetadataOptions(
                find(EngineSettings.METADATA_CLUSTER).orElse(""),
                new MetadataOptions.RedisLogin(
                        find(EngineSettings.REDIS_USERNAME).orElse(""),
                        find(EngineSettings.REDIS_PASSWORD).orElse(""),
                        number(EngineSettings.REDIS_DATABASE)),
                require(EngineSettings.METADATA_CONNECT_TIMEOUT),
                require(EngineSettings.METADATA_REQUEST_TIMEOUT),
                require(EngineSettings.METADATA_ENTRY_TTL),
                require(EngineSettings.METADATA_HEARTBEAT));
    }

    /**
     * The configuration of an engine (spec 2.2). Among peers that ask each other it is called as
     * its local name's host and its actual port. With a store it is called by the local name, and
     * reached under the bind address, else the first address of the first interface that is up;
     * with legacy port binding under host and port of the local name.
     *
     * <p>ERR_INVALID_ARGUMENT when the connection string or the local name is none, or no interface
     * is up.
     *
     * @param metadata connection string
     * @param localName {@code host:port} or any name
     * @param links interfaces of the host, asked for when one is needed
     */
    public Outcome<TransferConfig> config(
            String metadata, String localName, Supplier<List<NetworkLink>> links) {
        Optional<HostPort> local = HostPort.parse(localName, number(EngineSettings.HANDSHAKE_PORT));
        if (localName.isBlank() || local.isEmpty()) {
            return invalid("local name \"%s\": it is host:port or a name".formatted(localName));
        }
        return MetadataAddress.parse(metadata)
                .then(
                        address ->
                                switch (address) {
                                    case MetadataAddress.Peers() ->
                                            Outcome.ok(TransferConfig.p2p(local.get().host()));
                                    case MetadataAddress.Http _,
                                            MetadataAddress.Etcd _,
                                            MetadataAddress.Redis _ ->
                                            inStore(metadata, localName, local.get(), links);
                                })
                .map(this::furnished);
    }

    private Outcome<TransferConfig> inStore(
            String metadata, String localName, HostPort local, Supplier<List<NetworkLink>> links) {
        if (require(EngineSettings.LEGACY_PORT_BINDING)) {
            return Outcome.ok(
                    TransferConfig.of(metadata, local.host())
                            .withSegmentName(localName)
                            .withPorts(local.port(), 0));
        }
        return find(EngineSettings.BIND_ADDRESS)
                .filter(address -> !address.equals("0.0.0.0") && !address.equals("::"))
                .<Outcome<String>>map(Outcome::ok)
                .orElseGet(() -> firstAddress(links.get()))
                .map(host -> TransferConfig.of(metadata, host).withSegmentName(localName));
    }

    private Outcome<String> firstAddress(List<NetworkLink> links) {
        boolean six = require(EngineSettings.USE_IPV6);
        return links.stream()
                .filter(link -> link.up() && !link.loopback())
                .flatMap(link -> link.addresses().stream())
                .filter(address -> address.indexOf(':') >= 0 == six)
                // Such an address says nothing to another host.
                .filter(address -> !InetAddress.ofLiteral(address).isLinkLocalAddress())
                .findFirst()
                .<Outcome<String>>map(Outcome::ok)
                .orElseGet(
                        () ->
                                invalid(
                                        "no interface of this host is up with an IPv%d address;"
                                                        .formatted(six ? 6 : 4)
                                                + " set MC_TCP_BIND_ADDRESS"));
    }

    private TransferConfig furnished(TransferConfig config) {
        TransferConfig.Ports ports =
                new TransferConfig.Ports(
                        config.ports().rpc(),
                        config.ports().data(),
                        number(EngineSettings.MIN_PORT),
                        number(EngineSettings.MAX_PORT));
        return config.withPorts(ports)
                .withLanesPerPeer(number(EngineSettings.LANES_PER_PEER))
                .withTransports(transports())
                .withTimeouts(
                        config.timeouts()
                                .withConnect(require(EngineSettings.HANDSHAKE_CONNECT_TIMEOUT))
                                .withStall(require(EngineSettings.STALL_TIMEOUT))
                                .withBatch(require(EngineSettings.TRANSFER_TIMEOUT)))
                .withNetwork(network())
                .withStore(metadata());
    }

    private Set<Transport> transports() {
        if (require(EngineSettings.FORCE_TCP)) {
            return Set.of(Transport.TCP);
        }
        Set<String> labels = require(EngineSettings.TRANSPORTS);
        return Arrays.stream(Transport.values())
                .filter(transport -> labels.contains(transport.label()))
                .collect(Collectors.toSet());
    }

    private TransferConfig.Network network() {
        boolean rdma = require(EngineSettings.FORCE_RDMA) && !require(EngineSettings.FORCE_TCP);
        return new TransferConfig.Network(
                rdma ? TransferConfig.Protocol.RDMA : TransferConfig.Protocol.TCP,
                devices(),
                find(EngineSettings.BIND_ADDRESS),
                number(EngineSettings.HANDSHAKE_BACKLOG),
                number(EngineSettings.HANDSHAKE_MAX_LENGTH),
                number(EngineSettings.TCP_PROTOCOL),
                require(EngineSettings.METADATA_REFRESH_INTERVAL),
                find(EngineSettings.PEERS).orElse(PeerFilter.ALL));
    }
}
