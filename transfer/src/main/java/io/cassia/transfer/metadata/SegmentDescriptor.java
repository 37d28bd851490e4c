package io.cassia.transfer.metadata;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a segment's owner publishes (spec 5.5). Immutable.
 *
 * @param name published name
 * @param protocols transports it can be reached by; one, but for builds with several
 * @param tcpDataPort port of the data protocol; 0 when it has none
 * @param tcpProtoVersion version of the data protocol; 2 and above: acknowledged
 * @param buffers its memory, in order of registration
 * @param incarnation that of {@link RpcMeta}, to tell the segments of two starts of an engine
 *     apart; an extension, absent from other peers
 * @param host how processes of its host reach it without the network; an extension, too
 */
public record SegmentDescriptor(
        String name,
        List<String> protocols,
        int tcpDataPort,
        int tcpProtoVersion,
        List<Buffer> buffers,
        OptionalLong incarnation,
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
        Objects.requireNonNull(incarnation);
        Objects.requireNonNull(host);
    }

    /** The descriptor of an engine of this kind. */
    public static SegmentDescriptor tcp(String name, int dataPort, List<Buffer> buffers) {
        return new SegmentDescriptor(
                name,
                List.of(TCP),
                dataPort,
                ACKNOWLEDGED,
                buffers,
                OptionalLong.empty(),
                Optional.empty());
    }

    public SegmentDescriptor withIncarnation(long value) {
        return new SegmentDescriptor(
                name,
                protocols,
                tcpDataPort,
                tcpProtoVersion,
                buffers,
                OptionalLong.of(value),
                host);
    }

    public SegmentDescriptor withHost(Optional<HostAccess> value) {
        return new SegmentDescriptor(
                name, protocols, tcpDataPort, tcpProtoVersion, buffers, incarnation, value);
    }

    public boolean speaksTcp() {
        return protocols.contains(TCP) && tcpDataPort > 0;
    }

    /** Whether its owner answers with status frames. */
    public boolean isAcknowledged() {
        return tcpProtoVersion >= ACKNOWLEDGED;
    }
}
