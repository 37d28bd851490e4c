package io.cassia.transfer;

import io.cassia.transfer.transport.Transport;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/**
 * How an engine presents itself and how patient it is. Immutable; start from {@link #p2p} or {@link
 * #of} and change with the {@code with} methods.
 *
 * @param metadata {@link #P2P}, or {@code http://host:port/metadata}
 * @param localHost host name or address under which peers reach this process; IPv6 without brackets
 * @param segmentName published name with a metadata server; empty: {@code localHost:rpcPort}, which
 *     it always is with P2P
 * @param ports where it listens
 * @param lanesPerPeer persistent connections kept to one peer at most
 * @param stripes lanes that one large call is spread over; {@link #AUTO}: by the processors
 * @param transports what may carry requests, the fastest that fits being taken; what is said of
 *     processes of the same host is also offered to them. TCP is served to peers in any case
 * @param timeouts how long it waits for what
 */
public record TransferConfig(
        String metadata,
        String localHost,
        String segmentName,
        Ports ports,
        int lanesPerPeer,
        int stripes,
        Set<Transport> transports,
        Timeouts timeouts) {
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
        Objects.requireNonNull(segmentName);
        Objects.requireNonNull(ports);
        Objects.requireNonNull(timeouts);
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

    public TransferConfig withSegmentName(String value) {
        return new TransferConfig(
                metadata, localHost, value, ports, lanesPerPeer, stripes, transports, timeouts);
    }

    /** Fixed ports; 0 for any. */
    public TransferConfig withPorts(int rpc, int data) {
        return withPorts(new Ports(rpc, data, ports.min(), ports.max()));
    }

    public TransferConfig withPorts(Ports value) {
        return new TransferConfig(
                metadata,
                localHost,
                segmentName,
                value,
                lanesPerPeer,
                stripes,
                transports,
                timeouts);
    }

    public TransferConfig withLanesPerPeer(int value) {
        int fitting = Math.min(stripes, value);
        return new TransferConfig(
                metadata, localHost, segmentName, ports, value, fitting, transports, timeouts);
    }

    public TransferConfig withStripes(int value) {
        return new TransferConfig(
                metadata, localHost, segmentName, ports, lanesPerPeer, value, transports, timeouts);
    }

    /** Only these; {@code withTransports(Set.of(Transport.TCP))} forces TCP. */
    public TransferConfig withTransports(Set<Transport> value) {
        return new TransferConfig(
                metadata, localHost, segmentName, ports, lanesPerPeer, stripes, value, timeouts);
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
        return new TransferConfig(
                metadata, localHost, segmentName, ports, lanesPerPeer, stripes, transports, value);
    }
}
