package io.cassia.transfer.transport.tcp;

import io.cassia.base.Clock;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.net.Watchdog;
import io.cassia.transfer.net.tls.Gate;
import io.cassia.transfer.transport.TransferMetrics;

/**
 * What all connections of a data server share. Immutable.
 *
 * @param gate where each connection begins
 * @param stallNanos how long a peer may keep a request waiting without moving a byte
 */
record ServerContext(
        BufferTable buffers,
        TransferMetrics metrics,
        Gate gate,
        Watchdog watchdog,
        Clock clock,
        long stallNanos) {}
