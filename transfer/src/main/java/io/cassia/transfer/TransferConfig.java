package io.cassia.transfer;

import io.cassia.transfer.metadata.MetadataOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * How an engine presents itself and how patient it is. Immutable; start from {@link #p2p} or {@link
 * #of} and change with the {@code with} methods.
 *
 * @param metadata where peers are found: {@link #P2P}, {@code http://host:port/metadata}, {@code
 *     etcd://host:port,...} or {@code redis://host:port}
 * @param metadataOptions how that is used
 * @param localHost host name or address under which peers reach this process; IPv6 without brackets
 * @param segmentName published name with a metadata server; empty: {@code localHost:rpcPort}, which
 *     it always is with P2P
 * @param ports where it listens
 * @param lanesPerPeer persistent connections kept to one peer at most
 * @param stripes lanes that one large call is spread over; {@link #AUTO}: by the processors
 * @param localCopies whether targets inside this process are reached by a memory copy instead of a
 *     socket
 * @param protocol what it speaks to peers; only {@link #TCP} moves bytes
 * @param security how peers prove who they are
 * @param timeouts how long it waits for what
 */
public record TransferConfig(
        String metadata,
        MetadataOptions metadataOptions,
        String localHost,
        String segmentName,
        Ports ports,
        int lanesPerPeer,
        int stripes,
        boolean localCopies,
        String protocol,
        Security security,
        Timeouts timeouts) {
    /** Metadata of peers that ask each other. */
    public static final String P2P = "P2PHANDSHAKE";

    /** The protocol that every host has. */
    public static final String TCP = "tcp";

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
     * @param connect for one address of a peer
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

    public TransferConfig {
        Objects.requireNonNull(metadata);
        Objects.requireNonNull(metadataOptions);
        Objects.requireNonNull(protocol);
        Objects.requireNonNull(security);
        Objects.requireNonNull(segmentName);
        Objects.requireNonNull(ports);
        Objects.requireNonNull(timeouts);
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
                MetadataOptions.DEFAULT,
                localHost,
                "",
                Ports.DEFAULT,
                4,
                AUTO,
                true,
                TCP,
                Security.PLAIN,
                Timeouts.DEFAULT);
    }

    /** Defaults of an engine without a metadata server. */
    public static TransferConfig p2p(String localHost) {
        return of(P2P, localHost);
    }

    /** Whether peers ask each other for descriptors. */
    public boolean isP2p() {
        return metadata.equals(P2P);
    }

    /** The components, to be changed one at a time. Confined to a {@code with} method. */
    private static final class Draft {
        private final TransferConfig from;
        private MetadataOptions metadataOptions;
        private String segmentName;
        private Ports ports;
        private int lanesPerPeer;
        private int stripes;
        private boolean localCopies;
        private String protocol;
        private Security security;
        private Timeouts timeouts;

        Draft(TransferConfig from) {
            this.from = from;
            metadataOptions = from.metadataOptions;
            segmentName = from.segmentName;
            ports = from.ports;
            lanesPerPeer = from.lanesPerPeer;
            stripes = from.stripes;
            localCopies = from.localCopies;
            protocol = from.protocol;
            security = from.security;
            timeouts = from.timeouts;
        }
    }

    private TransferConfig with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return new TransferConfig(
                draft.from.metadata,
                draft.metadataOptions,
                draft.from.localHost,
                draft.segmentName,
                draft.ports,
                draft.lanesPerPeer,
                Math.min(draft.stripes, draft.lanesPerPeer),
                draft.localCopies,
                draft.protocol,
                draft.security,
                draft.timeouts);
    }

    public TransferConfig withMetadataOptions(MetadataOptions value) {
        return with(draft -> draft.metadataOptions = value);
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
        return with(draft -> draft.lanesPerPeer = value);
    }

    public TransferConfig withStripes(int value) {
        if (value > lanesPerPeer) {
            throw new IllegalArgumentException("stripes " + value + " of " + lanesPerPeer);
        }
        return with(draft -> draft.stripes = value);
    }

    public TransferConfig withLocalCopies(boolean value) {
        return with(draft -> draft.localCopies = value);
    }

    public TransferConfig withProtocol(String value) {
        return with(draft -> draft.protocol = value);
    }

    public TransferConfig withSecurity(Security value) {
        return with(draft -> draft.security = value);
    }

    public TransferConfig withTimeouts(Timeouts value) {
        return with(draft -> draft.timeouts = value);
    }
}
