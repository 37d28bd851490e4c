package io.cassia.transfer.metadata;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What a segment's owner publishes (spec 5.5). Immutable.
 *
 * @param name published name
 * @param protocols transports it can be reached by; one, but for builds with several
 * @param tcpDataPort port of the data protocol; 0 when it has none
 * @param tcpProtoVersion version of the data protocol; 2 and above: acknowledged
 * @param buffers its memory, in order of registration
 * @param host how processes of its host reach it without the network; an extension, absent from
 *     other peers, who ignore it
 */
public record SegmentDescriptor(
        String name,
        List<String> protocols,
        int tcpDataPort,
        int tcpProtoVersion,
        List<Buffer> buffers,
        Optional<HostAccess> host) {
    /** The protocol that this engine speaks. */
    public static final String TCP = "tcp";

    /** First version of the data protocol with status frames. */
    public static final int ACKNOWLEDGED = 2;

    /**
     * One published range. Immutable.
     *
     * @param name for TCP the segment's own name
     * @param address unsigned 64-bit address, not 0
     * @param lengthBytes unsigned 64-bit length, not 0
     */
    public record Buffer(String name, long address, long lengthBytes) {
        public Buffer {
            Objects.requireNonNull(name);
        }
    }

    public SegmentDescriptor {
        Objects.requireNonNull(name);
        protocols = List.copyOf(protocols);
        buffers = List.copyOf(buffers);
        Objects.requireNonNull(host);
    }

    /** The descriptor of an engine of this kind. */
    public static SegmentDescriptor tcp(String name, int dataPort, List<Buffer> buffers) {
        return new SegmentDescriptor(
                name, List.of(TCP), dataPort, ACKNOWLEDGED, buffers, Optional.empty());
    }

    /** The same, for processes of the host too. */
    public SegmentDescriptor withHost(Optional<HostAccess> access) {
        return new SegmentDescriptor(
                name, protocols, tcpDataPort, tcpProtoVersion, buffers, access);
    }

    public boolean speaksTcp() {
        return protocols.contains(TCP) && tcpDataPort > 0;
    }

    /** Whether its owner answers with status frames. */
    public boolean isAcknowledged() {
        return tcpProtoVersion >= ACKNOWLEDGED;
    }
}
