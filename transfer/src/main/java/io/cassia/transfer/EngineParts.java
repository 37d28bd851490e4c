package io.cassia.transfer;

import io.cassia.base.Clock;
import io.cassia.transfer.metadata.PeerDirectory;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.shm.SameHost;
import io.cassia.transfer.transport.tcp.ClientContext;
import java.util.concurrent.Executor;

/**
 * What the opened segments of an engine share. Immutable.
 *
 * @param host ways to processes of the same host
 * @param tcp parts of routes over TCP
 * @param uds parts of routes over sockets of the same host
 */
record EngineParts(
        TransferConfig config,
        Clock clock,
        TransferMetrics metrics,
        PeerDirectory directory,
        SameHost host,
        ClientContext tcp,
        ClientContext uds,
        Executor runners) {}
