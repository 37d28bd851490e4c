package io.cassia.transfer.transport.local;

import io.cassia.base.Clock;
import io.cassia.status.TransferCode;
import io.cassia.transfer.memory.BufferTable;
import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.memory.Rejection;
import io.cassia.transfer.transport.Route;
import io.cassia.transfer.transport.Run;
import io.cassia.transfer.transport.Transfer;
import io.cassia.transfer.transport.TransferMetrics;
import io.cassia.transfer.transport.Transport;
import java.lang.foreign.MemorySegment;

/** To memory of this process, by a copy, under the same rules as for a remote peer. Guarded. */
public final class LocalRoute implements Route {
    private static final long PIECE_BYTES = 16L << 20;

    private final BufferTable target;
    private final Clock clock;
    private final TransferMetrics metrics;

    public LocalRoute(BufferTable target, Clock clock, TransferMetrics metrics) {
        this.target = target;
        this.clock = clock;
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
                switch (copy(head, range)) {
                    case WHOLE -> {}
                    case UNWANTED -> {
                        run.endUnwanted();
                        continue;
                    }
                    case LATE -> {
                        run.failHead(
                                TransferCode.ERR_SOCKET,
                                "an engine of this process: the deadline is over",
                                true);
                        continue;
                    }
                    case LOST -> {
                        run.failHead(
                                TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                                "rejected by an engine of this process: " + Rejection.LOST.label(),
                                false);
                        continue;
                    }
                }
            } catch (IllegalStateException e) {
                run.lose(Run.Stop.MEMORY_GONE, TransferCode.ERR_INVALID_ARGUMENT, e.toString());
                return;
            } catch (InternalError e) {
                // The host has no memory for a page that is touched for the first time.
                run.failHead(TransferCode.ERR_MEMORY, e.toString(), false);
                continue;
            } finally {
                range.release();
            }
            metrics.client(Transport.LOCAL).of(head.isWrite()).add(1, head.lengthBytes());
            run.completeHead();
        }
    }

    /** How a copy ended. */
    private enum End {
        WHOLE,
        UNWANTED,
        LATE,
        LOST
    }

    /**
     * Piece by piece, so that a transfer that was given up ends soon; what is written later than
     * its deadline may be another one's memory by then.
     */
    private End copy(Transfer transfer, Registration range) {
        MemorySegment local = transfer.local();
        MemorySegment remote = range.memory();
        long offset = transfer.remoteAddress() - range.address();
        long length = transfer.lengthBytes();
        for (long at = 0; at < length; at += PIECE_BYTES) {
            if (transfer.isUnwanted()) {
                return End.UNWANTED;
            }
            if (transfer.deadlineNanos() - clock.nanos() <= 0) {
                return End.LATE;
            }
            long piece = Math.min(PIECE_BYTES, length - at);
            if (range.isLent()) {
                if (!range.copyLent(transfer.isWrite(), offset + at, local.asSlice(at, piece))) {
                    return End.LOST;
                }
            } else if (transfer.isWrite()) {
                MemorySegment.copy(local, at, remote, offset + at, piece);
            } else {
                MemorySegment.copy(remote, offset + at, local, at, piece);
            }
        }
        return End.WHOLE;
    }

    @Override
    public void close() {}
}
