package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.status.TransferCode;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.Progress;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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
     * @param chunks of the memory, to be looked at on the way where that costs least; null for none
     */
    record Piece(
            int item,
            BufferDescriptor buffer,
            long offsetBytes,
            MemorySegment memory,
            @Nullable Chunks chunks) {
        Piece(int item, BufferDescriptor buffer, long offsetBytes, MemorySegment memory) {
            this(item, buffer, offsetBytes, memory, null);
        }
    }

    private static final Outcome<Done> TOO_LATE =
            Outcome.failed(
                    StoreCode.TRANSFER_FAIL,
                    "the time for it was over before it began, so nothing was written");

    private final TransferEngine engine;
    private final Peers peers;
    private final SumWorkers workers;
    private final Clock clock;

    Transfers(TransferEngine engine, Peers peers, SumWorkers workers, Clock clock) {
        this.engine = engine;
        this.peers = peers;
        this.workers = workers;
        this.clock = clock;
    }

    Peers peers() {
        return peers;
    }

    /**
     * What became of a write.
     *
     * @param outcomes one per piece, in order
     * @param adrift whether bytes of a piece that failed may still arrive: its node did not answer
     *     in time, and may be stopped with them in its socket
     */
    record Written(List<Outcome<Done>> outcomes, boolean adrift) {}

    /**
     * Writes until a moment, when the space may be another object's. This process may have been
     * stopped since it got the space: nothing is written once the moment has passed, and no node
     * comes under suspicion for it.
     */
    Written write(List<Piece> pieces, Deadline limit) {
        if (limit.hasPassed()) {
            return new Written(Collections.nCopies(pieces.size(), TOO_LATE), false);
        }
        long beganNanos = clock.nanos();
        List<Outcome<Done>> outcomes = run(Opcode.WRITE, pieces, limit);
        boolean gaveUp =
                limit.hasPassed()
                        || clock.nanos() - beganNanos >= engine.stallTimeout().toNanos()
                        || Thread.currentThread().isInterrupted();
        return new Written(outcomes, gaveUp && !outcomes.stream().allMatch(Outcome::isOk));
    }

    /**
     * One outcome per piece, in order; on return nothing writes to the caller's memory any more.
     * The deadline is that of all of it: nodes that are met for the first time may take long to
     * open.
     */
    List<Outcome<Done>> run(Opcode opcode, List<Piece> pieces, Deadline deadline) {
        Map<String, Outcome<SegmentHandle>> met = Map.of();
        List<Outcome<Done>> outcomes = new ArrayList<>(pieces.size());
        List<TransferRequest> requests = new ArrayList<>(pieces.size());
        List<@Nullable Chunks> chunks = new ArrayList<>(pieces.size());
        boolean allOpen = true;
        for (Piece piece : pieces) {
            BufferDescriptor buffer = piece.buffer;
            SegmentHandle known = peers.known(buffer.transportEndpoint());
            if (known == null && met.isEmpty()) {
                met = meet(buffer.transportEndpoint(), pieces, deadline.remaining());
            }
            switch (target(known, buffer.transportEndpoint(), met)) {
                case Outcome.Ok<SegmentHandle>(SegmentHandle handle) -> {
                    requests.add(
                            new TransferRequest(
                                    opcode,
                                    piece.memory,
                                    handle,
                                    buffer.address() + piece.offsetBytes));
                    chunks.add(piece.chunks);
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
        List<Outcome<Done>> moved = carry(opcode, requests, chunks, deadline);
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

    private static Outcome<SegmentHandle> target(
            @Nullable SegmentHandle known,
            String endpoint,
            Map<String, Outcome<SegmentHandle>> met) {
        return known == null ? Objects.requireNonNull(met.get(endpoint)) : Outcome.ok(known);
    }

    /**
     * Meets the nodes that this client does not know. One that does not answer may take half of the
     * time at most when there are others, which need the rest.
     */
    private Map<String, Outcome<SegmentHandle>> meet(
            String first, List<Piece> pieces, Duration timeout) {
        Set<String> unknown = new HashSet<>(Set.of(first));
        boolean others = false;
        for (Piece piece : pieces) {
            String endpoint = piece.buffer.transportEndpoint();
            others |= !endpoint.equals(first);
            if (peers.known(endpoint) == null) {
                unknown.add(endpoint);
            }
        }
        return peers.open(unknown, others ? timeout.dividedBy(2) : timeout);
    }

    private List<Outcome<Done>> carry(
            Opcode opcode,
            List<TransferRequest> requests,
            List<@Nullable Chunks> chunks,
            Deadline deadline) {
        long bytes = 0;
        boolean looks = false;
        for (int i = 0; i < requests.size(); i++) {
            bytes += requests.get(i).lengthBytes();
            looks |= chunks.get(i) != null;
        }
        if (!looks) {
            return engine.transfer(requests, deadline.remaining());
        }
        if (isNear(requests)) {
            // What is small stays in the caches until all has come.
            return bytes <= Shares.SHARE_BYTES
                    ? engine.transfer(requests, deadline.remaining())
                    : new Shares(engine, opcode, requests, chunks, deadline).run(workers, bytes);
        }
        return engine.transfer(requests, deadline.remaining(), new Looks(requests, chunks));
    }

    /** Whether all are copies inside the host. */
    private boolean isNear(List<TransferRequest> requests) {
        SegmentHandle last = null;
        for (TransferRequest request : requests) {
            SegmentHandle target = request.target();
            if (!target.equals(last) && !peers.isNear(target.name())) {
                return false;
            }
            last = target;
        }
        return true;
    }

    /** Looks at chunks as they come in or go out. Each request is one thread's. */
    static final class Looks implements Progress {
        private final List<TransferRequest> requests;
        private final List<@Nullable Chunks> chunks;

        /** How far those that are under way were looked at. */
        private final long[] looked;

        Looks(List<TransferRequest> requests, List<@Nullable Chunks> chunks) {
            this.requests = requests;
            this.chunks = chunks;
            this.looked = new long[requests.size()];
        }

        @Override
        public void reached(int request, long bytes) {
            Chunks own = chunks.get(request);
            if (own == null) {
                return;
            }
            if (bytes < looked[request]) {
                own.forget();
                looked[request] = 0;
            }
            boolean all = bytes == requests.get(request).lengthBytes();
            long whole = all ? bytes : bytes / Checksums.CHUNK_BYTES * Checksums.CHUNK_BYTES;
            if (whole > looked[request]) {
                own.look(looked[request], whole);
                looked[request] = whole;
            }
        }
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
