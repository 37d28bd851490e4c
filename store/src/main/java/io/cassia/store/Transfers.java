package io.cassia.store;

import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.status.TransferCode;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Copies between the caller's memory and replicas. Thread-safe. A failure of the engine becomes
 * TRANSFER_FAIL, or WRITE_FAIL when the node no longer lends the memory, with the engine's own code
 * in the detail; the node comes under suspicion.
 */
final class Transfers {
    /**
     * One copy of a part of one replica.
     *
     * @param item position of its object in the batch
     * @param buffer where the replica is
     * @param offsetBytes of the part in the object
     * @param memory the caller's side; as long as the part
     */
    record Piece(int item, BufferDescriptor buffer, long offsetBytes, MemorySegment memory) {}

    private final TransferEngine engine;
    private final Peers peers;

    Transfers(TransferEngine engine, Peers peers) {
        this.engine = engine;
        this.peers = peers;
    }

    Peers peers() {
        return peers;
    }

    /**
     * One outcome per piece, in order; on return nothing writes to the caller's memory any more.
     */
    List<Outcome<Done>> run(Opcode opcode, List<Piece> pieces, Duration timeout) {
        List<Outcome<Done>> outcomes = new ArrayList<>(pieces.size());
        List<TransferRequest> requests = new ArrayList<>(pieces.size());
        boolean allOpen = true;
        for (Piece piece : pieces) {
            BufferDescriptor buffer = piece.buffer;
            switch (peers.open(buffer.transportEndpoint())) {
                case Outcome.Ok<SegmentHandle>(SegmentHandle handle) -> {
                    requests.add(
                            new TransferRequest(
                                    opcode,
                                    piece.memory,
                                    handle,
                                    buffer.address() + piece.offsetBytes));
                    outcomes.add(Outcome.done());
                }
                case Outcome.Failed<SegmentHandle> failed -> {
                    allOpen = false;
                    outcomes.add(failure(opcode, piece, failed));
                }
            }
        }
        if (requests.isEmpty()) {
            return outcomes;
        }
        List<Outcome<Done>> moved = engine.transfer(requests, timeout);
        int next = 0;
        for (int i = 0; i < outcomes.size(); i++) {
            if (allOpen || outcomes.get(i).isOk()) {
                if (moved.get(next++) instanceof Outcome.Failed<Done> failed) {
                    outcomes.set(i, failure(opcode, pieces.get(i), failed));
                } else {
                    peers.trust(pieces.get(i).buffer.transportEndpoint());
                }
            }
        }
        return outcomes;
    }

    private Outcome<Done> failure(Opcode opcode, Piece piece, Outcome.Failed<?> failed) {
        BufferDescriptor buffer = piece.buffer;
        peers.suspect(buffer.transportEndpoint());
        return Outcome.failed(
                codeOf(opcode, failed.code()),
                "%d bytes at 0x%x of %s: %s: %s"
                        .formatted(
                                piece.memory.byteSize(),
                                buffer.address() + piece.offsetBytes,
                                buffer.transportEndpoint(),
                                failed.code().label(),
                                failed.detail()));
    }

    /** Neither network nor file: the memory that the master had allotted is not there any more. */
    private static StoreCode codeOf(Opcode opcode, Code engineCode) {
        return opcode == Opcode.WRITE && engineCode == TransferCode.ERR_ADDRESS_NOT_REGISTERED
                ? StoreCode.WRITE_FAIL
                : StoreCode.TRANSFER_FAIL;
    }
}
