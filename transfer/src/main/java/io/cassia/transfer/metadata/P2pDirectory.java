package io.cassia.transfer.metadata;

import io.cassia.base.HostPort;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.handshake.HandshakeClient;
import java.util.function.Supplier;

/** Peers are asked on the handshake port that their name tells (spec 5.4). Guarded. */
public final class P2pDirectory implements PeerDirectory {
    private final HandshakeClient client;
    private final Supplier<String> own;

    /**
     * A directory.
     *
     * @param own text of this engine's descriptor
     */
    public P2pDirectory(HandshakeClient client, Supplier<String> own) {
        this.client = client;
        this.own = own;
    }

    /** Nothing to do: peers ask for the descriptor when they want it. */
    @Override
    public Outcome<Done> publish() {
        return Outcome.done();
    }

    @Override
    public Outcome<Peer> find(String name, long deadlineNanos) {
        return EngineName.address(name).then(address -> find(name, address, deadlineNanos));
    }

    private Outcome<Peer> find(String name, HostPort address, long deadlineNanos) {
        return client.metadata(address, own.get(), deadlineNanos)
                .then(text -> DescriptorCodec.decode(text, "segment " + name))
                .map(descriptor -> new Peer(descriptor, address));
    }

    @Override
    public void close() {}
}
