package io.cassia.transfer.metadata;

import io.cassia.base.HostPort;
import io.cassia.status.Done;
import io.cassia.status.Outcome;

/** How engines find each other: by asking the peer itself, or through a metadata store. Guarded. */
public sealed interface PeerDirectory extends AutoCloseable permits P2pDirectory, StoreDirectory {
    /**
     * What a peer has published. Immutable.
     *
     * @param descriptor its segment
     * @param rpc where its engine listens; its data port is on the same host
     */
    record Peer(SegmentDescriptor descriptor, HostPort rpc) {}

    /** Makes this engine's present descriptor known. */
    Outcome<Done> publish();

    /** Finds a peer by name, afresh. */
    Outcome<Peer> find(String name, long deadlineNanos);

    /** Withdraws what was published. */
    @Override
    void close();
}
