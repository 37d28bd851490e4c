package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.tcp.ClientContext;

/**
 * What the opened segments of an engine share. Immutable.
 *
 * @param tcp parts of routes over TCP
 */
record EngineParts(
        TransferConfig config,
        Clock clock,
        TransferMetrics metrics,
        PeerDirectory directory,
        ClientContext tcp,
        Runners runners) {}
