package io.cassia.transfer;

import io.cassia.transfer.metadata.MetadataOptions;
import io.cassia.transfer.net.PeerFilter;
import io.cassia.transfer.topology.DeviceFilter;
import io.cassia.transfer.transport.Transport;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * How an engine presents itself and how patient it is. Immutable; start from {@link #p2p} or {@link
 * #of} and change with the {@code with} methods.
 *
 * @param metadata {@link #P2P}, or a store: {@code http://host:port/metadata}, {@code
 *     etcd://host:port,...}, {@code redis://host:port} ({@link
 *     io.cassia.transfer.metadata.MetadataAddress})
 * @param localHost host name or address under which peers reach this process; IPv6 without brackets
 * @param segmentName published name with a metadata server; empty: {@code localHost:rpcPort}, which
 *     it always is with P2P
 * @param ports where it listens
 * @param lanesPerPeer persistent connections kept to one peer at most
 * @param stripes lanes that one large call is spread over; {@link #AUTO}: by the processors
 * @param transports what may carry requests, the fastest that fits being taken; what is said of
 *     processes of the same host is also offered to them. TCP is served to peers in any case
 * @param timeouts how long it waits for what
 * @param network how it listens, and what it speaks
 * @param store how the metadata store is used
 * @param security how peers prove who they are
 */
public record TransferConfig(
        String metadata,
        String localHost,
        String segmentName,
        Ports ports,
        int lanesPerPeer,
        int stripes,
        Set<Transport> transports,
        Timeouts timeouts,
        Network network,
        MetadataOptions store,
        Security security) {
    /** Metadata of peers that ask each other. */
    public static final String P2P = "P2PHANDSHAKE";

    /** The engine chooses. */
    public static final int AUTO = 0;

    /**
     * Ports of an engine. Immutable.
     *
     * @param rpc handshake port; 0: any free one of the range
     * @param data data port; 0: any free one of the range
     * @param min lower end of the range
     * @param max upper end of the range, inclusive
     */
    public record Ports(int rpc, int data, int min, int max) {
        /** The range that upstream uses, and that firewalls are told to open. */
        public static final Ports DEFAULT = new Ports(0, 0, 15000, 17000);

        public Ports {
            if (min < 1 || max > 65535 || min > max) {
                throw new IllegalArgumentException("port range " + min + ".." + max);
            }
            if (rpc < 0 || rpc > 65535 || data < 0 || data > 65535) {
                throw new IllegalArgumentException("ports: rpc " + rpc + ", data " + data);
            }
        }
    }

    /**
     * Limits of waiting. Immutable.
     *
     * @param connect for one address of a peer; twice this for a whole handshake of a peer with us
     * @param stall a connection with work to do that moves no byte for so long is given up
     * @param drain how long unregister lets transfers in progress run before it aborts them
     * @param batch for a task of a {@link Batch}, from its submission
     */
    public record Timeouts(Duration connect, Duration stall, Duration drain, Duration batch) {
        public static final Timeouts DEFAULT =
                new Timeouts(
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(60));

        public Timeouts {
            requirePositive("connect", connect);
            requirePositive("stall", stall);
            requirePositive("drain", drain);
            requirePositive("batch", batch);
        }

        private static void requirePositive(String name, Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException(name + " timeout " + value);
            }
        }

        public Timeouts withConnect(Duration value) {
            return new Timeouts(value, stall, drain, batch);
        }

        public Timeouts withStall(Duration value) {
            return new Timeouts(connect, value, drain, batch);
        }

        public Timeouts withDrain(Duration value) {
            return new Timeouts(connect, stall, value, batch);
        }

        public Timeouts withBatch(Duration value) {
            return new Timeouts(connect, stall, drain, value);
        }
    }

    /** What moves the bytes. */
    public enum Protocol {
        TCP,
        RDMA
    }

    /**
     * How an engine listens, and what it speaks. Immutable.
     *
     * @param protocol what moves the bytes; with RDMA an engine needs a device, and then fails with
     *     ERR_NOT_IMPLEMENTED
     * @param devices RDMA devices that may be used
     * @param bindAddress address to listen on; empty: all, or the loopback interface when {@code
     *     localHost} is an address of it
     * @param backlog connections that the kernel accepts ahead of each listener
     * @param handshakeBytes longest handshake that is read
     * @param tcpVersion version of the data protocol spoken at most: 1 gives up the acknowledgement
     *     of writes, for peers that must be met without it
     * @param refresh how often descriptors of opened segments are read again; zero: when a
     *     connection fails
     * @param peers from which networks peers are served; others are told so and sent away
     */
    public record Network(
            Protocol protocol,
            DeviceFilter devices,
            Optional<String> bindAddress,
            int backlog,
            int handshakeBytes,
            int tcpVersion,
            Duration refresh,
            PeerFilter peers) {
        /** Longest handshake that can be allowed. */
        public static final int MAX_HANDSHAKE_BYTES = 128 << 20;

        public static final Network DEFAULT =
                new Network(
                        Protocol.TCP,
                        DeviceFilter.ALL,
                        Optional.empty(),
                        512,
                        1 << 20,
                        2,
                        Duration.ZERO,
                        PeerFilter.ALL);

        public Network {
            Objects.requireNonNull(protocol);
            Objects.requireNonNull(devices);
            Objects.requireNonNull(bindAddress);
            Objects.requireNonNull(peers);
            if (backlog < 1 || backlog > 65_535) {
                throw new IllegalArgumentException("backlog " + backlog);
            }
            if (handshakeBytes < 1024 || handshakeBytes > MAX_HANDSHAKE_BYTES) {
                throw new IllegalArgumentException("handshakes of " + handshakeBytes + " bytes");
            }
            if (tcpVersion != 1 && tcpVersion != 2) {
                throw new IllegalArgumentException("data protocol " + tcpVersion);
            }
            if (refresh.isNegative()) {
                throw new IllegalArgumentException("refresh " + refresh);
            }
        }

        public Network withProtocol(Protocol value) {
            return new Network(
                    value,
                    devices,
                    bindAddress,
                    backlog,
                    handshakeBytes,
                    tcpVersion,
                    refresh,
                    peers);
        }

        public Network withDevices(DeviceFilter value) {
            return new Network(
                    protocol,
                    value,
                    bindAddress,
                    backlog,
                    handshakeBytes,
                    tcpVersion,
                    refresh,
                    peers);
        }

        public Network withBindAddress(Optional<String> value) {
            return new Network(
                    protocol, devices, value, backlog, handshakeBytes, tcpVersion, refresh, peers);
        }

        public Network withBacklog(int value) {
            return new Network(
                    protocol,
                    devices,
                    bindAddress,
                    value,
                    handshakeBytes,
                    tcpVersion,
                    refresh,
                    peers);
        }

        public Network withHandshakeBytes(int value) {
            return new Network(
                    protocol, devices, bindAddress, backlog, value, tcpVersion, refresh, peers);
        }

        public Network withTcpVersion(int value) {
            return new Network(
                    protocol, devices, bindAddress, backlog, handshakeBytes, value, refresh, peers);
        }

        public Network withRefresh(Duration value) {
            return new Network(
                    protocol,
                    devices,
                    bindAddress,
                    backlog,
                    handshakeBytes,
                    tcpVersion,
                    value,
                    peers);
        }

        public Network withPeers(PeerFilter value) {
            return new Network(
                    protocol,
                    devices,
                    bindAddress,
                    backlog,
                    handshakeBytes,
                    tcpVersion,
                    refresh,
                    value);
        }
    }

    public TransferConfig {
        Objects.requireNonNull(metadata);
        Objects.requireNonNull(segmentName);
        Objects.requireNonNull(ports);
        Objects.requireNonNull(timeouts);
        Objects.requireNonNull(network);
        Objects.requireNonNull(store);
        Objects.requireNonNull(security);
        if (transports.isEmpty()) {
            throw new IllegalArgumentException("no transport is allowed");
        }
        transports = Collections.unmodifiableSet(EnumSet.copyOf(transports));
        if (localHost.isEmpty()) {
            throw new IllegalArgumentException("localHost is empty");
        }
        if (lanesPerPeer < 1 || lanesPerPeer > 64) {
            throw new IllegalArgumentException("lanesPerPeer " + lanesPerPeer + " not in 1..64");
        }
        if (stripes < 0 || stripes > lanesPerPeer) {
            throw new IllegalArgumentException("stripes " + stripes + " of " + lanesPerPeer);
        }
    }

    /** Defaults with any metadata. */
    public static TransferConfig of(String metadata, String localHost) {
        return new TransferConfig(
                metadata,
                localHost,
                "",
                Ports.DEFAULT,
                4,
                AUTO,
                EnumSet.allOf(Transport.class),
                Timeouts.DEFAULT,
                Network.DEFAULT,
                MetadataOptions.DEFAULT,
                Security.PLAIN);
    }

    /** Defaults of an engine without a metadata server. */
    public static TransferConfig p2p(String localHost) {
        return of(P2P, localHost);
    }

    /** Whether peers ask each other for descriptors. */
    public boolean isP2p() {
        return metadata.equals(P2P);
    }

    /** The components that can be changed. Confined to a {@code with} method. */
    private static final class Draft {
        private String segmentName;
        private Ports ports;
        private int lanesPerPeer;
        private int stripes;
        private Set<Transport> transports;
        private Timeouts timeouts;
        private Network network;
        private MetadataOptions store;
        private Security security;

        Draft(TransferConfig from) {
            segmentName = from.segmentName;
            ports = from.ports;
            lanesPerPeer = from.lanesPerPeer;
            stripes = from.stripes;
            transports = from.transports;
            timeouts = from.timeouts;
            network = from.network;
            store = from.store;
            security = from.security;
        }
    }

    private TransferConfig with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return new TransferConfig(
                metadata,
                localHost,
                draft.segmentName,
                draft.ports,
                draft.lanesPerPeer,
                draft.stripes,
                draft.transports,
                draft.timeouts,
                draft.network,
                draft.store,
                draft.security);
    }

    public TransferConfig withSegmentName(String value) {
        return with(draft -> draft.segmentName = value);
    }

    /** Fixed ports; 0 for any. */
    public TransferConfig withPorts(int rpc, int data) {
        return withPorts(new Ports(rpc, data, ports.min(), ports.max()));
    }

    public TransferConfig withPorts(Ports value) {
        return with(draft -> draft.ports = value);
    }

    /** Fewer lanes than stripes make fewer stripes. */
    public TransferConfig withLanesPerPeer(int value) {
        return with(
                draft -> {
                    draft.lanesPerPeer = value;
                    draft.stripes = Math.min(stripes, value);
                });
    }

    public TransferConfig withStripes(int value) {
        return with(draft -> draft.stripes = value);
    }

    /** Only these; {@code withTransports(Set.of(Transport.TCP))} forces TCP. */
    public TransferConfig withTransports(Set<Transport> value) {
        return with(draft -> draft.transports = value);
    }

    /** Whether targets inside this process are reached by a copy. */
    public TransferConfig withLocalCopies(boolean value) {
        Set<Transport> changed = EnumSet.copyOf(transports);
        boolean _ = value ? changed.add(Transport.LOCAL) : changed.remove(Transport.LOCAL);
        return withTransports(changed);
    }

    /** Whether a transport may carry requests. */
    public boolean allows(Transport transport) {
        return transports.contains(transport);
    }

    public TransferConfig withTimeouts(Timeouts value) {
        return with(draft -> draft.timeouts = value);
    }

    public TransferConfig withNetwork(Network value) {
        return with(draft -> draft.network = value);
    }

    public TransferConfig withStore(MetadataOptions value) {
        return with(draft -> draft.store = value);
    }

    public TransferConfig withSecurity(Security value) {
        return with(draft -> draft.security = value);
    }

    /**
     * Within it a name means one engine, and engines of a process trust each other: two stores, or
     * two clusters in one, may use the same name, and a copy must not pass by what a peer over the
     * network has to prove.
     */
    String nameSpace() {
        return String.join(" ", metadata, store.cluster(), security.realm());
    }
}
