package io.cassia.transfer.transport.local;

import io.cassia.status.TransferCode;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.transport.Route;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transfer;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.Transport;
import java.lang.foreign.MemorySegment;

/** To memory of this process, by a copy, under the same rules as for a remote peer. Guarded. */
public final class LocalRoute implements Route {
    private final BufferTable target;
    private final TransferMetrics metrics;

    public LocalRoute(BufferTable target, TransferMetrics metrics) {
        this.target = target;
        this.metrics = metrics;
    }

    @Override
    public void carry(Run run) {
        while (!run.isDone()) {
            Transfer head = run.head();
            Registration range =
                    target.hold(head.remoteAddress(), head.lengthBytes(), head.isWrite());
            if (range == null) {
                run.failHead(
                        TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                        "rejected by an engine of this process: "
                                + target.why(
                                                head.remoteAddress(),
                                                head.lengthBytes(),
                                                head.isWrite())
                                        .label(),
                        false);
                continue;
            }
            try {
                copy(head, range);
            } catch (IllegalStateException e) {
                run.lose(Run.Stop.MEMORY_GONE, TransferCode.ERR_INVALID_ARGUMENT, e.toString());
                return;
            } finally {
                range.release();
            }
            metrics.client(Transport.LOCAL).of(head.isWrite()).add(1, head.lengthBytes());
            run.completeHead();
        }
    }

    private static void copy(Transfer transfer, Registration range) {
        MemorySegment local = transfer.local();
        long offset = transfer.remoteAddress() - range.address();
        if (transfer.isWrite()) {
            MemorySegment.copy(local, 0, range.memory(), offset, transfer.lengthBytes());
        } else {
            MemorySegment.copy(range.memory(), offset, local, 0, transfer.lengthBytes());
        }
    }

    @Override
    public void close() {}
}
