package io.cassia.transfer.transport.shm;

import io.cassia.base.Clock;
import io.cassia.transfer.memory.ProcessCalls;
import io.cassia.transfer.transport.TransferMetrics;

/**
 * What all routes to processes of this host share. Immutable.
 *
 * @param calls of the kernel
 */
record HostContext(ProcessCalls calls, Clock clock, TransferMetrics metrics) {}
