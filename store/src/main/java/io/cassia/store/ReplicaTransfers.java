package io.cassia.store;

import io.cassia.base.Deadline;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Copies between the caller's memory and replicas. Thread-safe. A failure of the engine becomes
 * TRANSFER_FAIL with the engine's own code in the detail.
 */
final class ReplicaTransfers {
    /**
     * One copy of one replica.
     *
     * @param item position of the object in the caller's batch
     * @param buffer where the replica is
     * @param memory the caller's side; as long as the object
     */
    record Piece(int item, BufferDescriptor buffer, MemorySegment memory) {}

    private final TransferEngine engine;
    private final PeerSegments segments;

    ReplicaTransfers(TransferEngine engine) {
        this.engine = engine;
        this.segments = new PeerSegments(engine);
    }

    /** Whether this endpoint's memory belongs to this very engine. */
    boolean isLocal(String endpoint) {
        return engine.localName().equals(endpoint);
    }

    /**
     * One outcome per piece, in order; on return nothing writes to the caller's memory any more.
     */
    List<Outcome<Done>> run(Opcode opcode, List<Piece> pieces, Deadline deadline) {
        List<Outcome<Done>> outcomes = new ArrayList<>(pieces.size());
        List<TransferRequest> requests = new ArrayList<>(pieces.size());
        for (Piece piece : pieces) {
            switch (segments.open(piece.buffer.transportEndpoint())) {
                case Outcome.Ok<SegmentHandle>(SegmentHandle handle) -> {
                    requests.add(
                            new TransferRequest(
                                    opcode, piece.memory, handle, piece.buffer.address()));
                    outcomes.add(Outcome.done());
                }
                case Outcome.Failed<SegmentHandle> failed -> outcomes.add(failure(piece, failed));
            }
        }
        List<Outcome<Done>> moved = engine.transfer(requests, deadline.remaining());
        int next = 0;
        for (int i = 0; i < outcomes.size(); i++) {
            if (outcomes.get(i).isOk()) {
                Outcome<Done> outcome = moved.get(next++);
                if (outcome instanceof Outcome.Failed<Done> failed) {
                    outcomes.set(i, failure(pieces.get(i), failed));
                }
            }
        }
        return outcomes;
    }

    private static Outcome<Done> failure(Piece piece, Outcome.Failed<?> failed) {
        BufferDescriptor buffer = piece.buffer;
        return Outcome.failed(
                StoreCode.TRANSFER_FAIL,
                "%d bytes at 0x%x of %s: %s: %s"
                        .formatted(
                                piece.memory.byteSize(),
                                buffer.address(),
                                buffer.transportEndpoint(),
                                failed.code().label(),
                                failed.detail()));
    }
}
