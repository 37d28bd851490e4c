package io.cassia.transfer.transport.tcp;

import io.cassia.base.Clock;
import io.cassia.transfer.net.Dialer;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.net.tls.Gate;
import io.cassia.transfer.transport.TransferMetrics;

/**
 * What all routes of an engine over one kind of socket share. Immutable.
 *
 * @param gate where each connection begins
 * @param flows what moves over them
 * @param lanesPerPeer connections to one peer at most
 * @param stallNanos how long a peer may keep a request waiting without moving a byte
 */
public record ClientContext(
        Dialer dialer,
        Gate gate,
        Watchdog watchdog,
        Clock clock,
        TransferMetrics metrics,
        TransferMetrics.Flows flows,
        int lanesPerPeer,
        long stallNanos) {
    /** The same for another kind of socket. */
    public ClientContext withFlows(TransferMetrics.Flows value) {
        return new ClientContext(
                dialer, gate, watchdog, clock, metrics, value, lanesPerPeer, stallNanos);
    }
}
