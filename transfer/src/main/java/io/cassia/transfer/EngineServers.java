package io.cassia.transfer;

import io.cassia.transfer.handshake.HandshakeServer;
import io.cassia.transfer.handshake.Inbox;
import io.cassia.transfer.transport.tcp.DataServer;

/**
 * What an engine listens with. Immutable.
 *
 * @param inbox where the handshake port puts messages of peers
 */
record EngineServers(
        HandshakeServer handshakes, Inbox inbox, DataServer data, int rpcPort, int dataPort) {
    void close() {
        handshakes.close();
        data.close();
    }
}
