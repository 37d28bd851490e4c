package io.cassia.transfer;

import io.cassia.base.HostPort;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.handshake.HandshakeClient;
import io.cassia.transfer.metadata.EngineName;
import io.cassia.transfer.metadata.PeerDirectory;

/** Speaks to the handshake ports of peers: messages and probes. Guarded: holds no state. */
final class Notifier {
    private final EngineParts parts;
    private final HandshakeClient handshake;

    Notifier(EngineParts parts, HandshakeClient handshake) {
        this.parts = parts;
        this.handshake = handshake;
    }

    /** Pushes a message to a segment's engine, by the segment's name. */
    Outcome<Done> send(String segment, Notification notification) {
        return address(segment)
                .then(
                        peer ->
                                handshake.notify(
                                        peer,
                                        notification.name(),
                                        notification.message(),
                                        deadline()));
    }

    /** Asks a segment's engine whether it is alive. */
    Outcome<Done> probe(String segment) {
        return address(segment).then(peer -> handshake.probe(peer, deadline()));
    }

    private Outcome<HostPort> address(String segment) {
        if (segment.isEmpty()) {
            return Outcome.failed(TransferCode.ERR_INVALID_ARGUMENT, "the segment name is empty");
        }
        return parts.config().isP2p()
                ? EngineName.address(segment)
                : parts.directory().find(segment, deadline()).map(PeerDirectory.Peer::rpc);
    }

    private long deadline() {
        return parts.clock().nanos() + parts.config().timeouts().stall().toNanos();
    }
}
