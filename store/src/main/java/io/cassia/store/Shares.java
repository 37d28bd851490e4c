package io.cassia.store;

import io.cassia.base.Deadline;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Copies inside the host, cut into shares that the caller and a sum worker take in turn: each
 * copies its share and takes the checksums of the same bytes while they are in its cache. Guarded:
 * a share is one thread's, and the caller looks at the outcomes when all are done.
 */
final class Shares {
    /**
     * Fits into any core's cache beside its copy, and is long beside the cost of a call of the
     * engine. A multiple of the chunk, as all lengths of shares.
     */
    static final int SHARE_BYTES = 2 * Checksums.CHUNK_BYTES;

    /** As many of much data, and no longer than that what was copied is still in the caches. */
    private static final int MANY = 16;

    private static final long LONG_SHARE_BYTES = 1 << 20;

    /**
     * The JDK's copy of so much writes past the caches. That is faster where the sums are those of
     * the source; what was read has to be summed where it was written to.
     */
    private static final long STREAMED_BYTES = 4 << 20;

    private final TransferEngine engine;
    private final Opcode opcode;
    private final List<TransferRequest> requests;
    private final List<@Nullable Chunks> chunks;
    private final Deadline deadline;
    private final long shareBytes;
    private final List<List<Part>> shares = new ArrayList<>();

    /** Why a request failed; those of its parts that nobody has begun are left out then. */
    private final AtomicReferenceArray<Outcome.@Nullable Failed<Done>> failures;

    /** A part of a request. Immutable. */
    private record Part(int request, long fromBytes, long toBytes) {}

    /**
     * Shares of some requests.
     *
     * @param chunks of each request, in the same order
     */
    Shares(
            TransferEngine engine,
            Opcode opcode,
            List<TransferRequest> requests,
            List<@Nullable Chunks> chunks,
            Deadline deadline) {
        this.engine = engine;
        this.opcode = opcode;
        this.requests = requests;
        this.chunks = chunks;
        this.deadline = deadline;
        this.failures = new AtomicReferenceArray<>(requests.size());
        this.shareBytes = shareBytes();
        cut();
    }

    private long shareBytes() {
        long all = 0;
        long longest = 0;
        for (TransferRequest request : requests) {
            all += request.lengthBytes();
            longest = Math.max(longest, request.lengthBytes());
        }
        if (opcode == Opcode.WRITE && longest >= 4 * STREAMED_BYTES) {
            return STREAMED_BYTES;
        }
        return Math.clamp(all / MANY & -Checksums.CHUNK_BYTES, SHARE_BYTES, LONG_SHARE_BYTES);
    }

    /** Each share is of one peer, so that the engine needs no further thread for it. */
    private void cut() {
        Map<SegmentHandle, List<Integer>> byTarget = new LinkedHashMap<>();
        for (int i = 0; i < requests.size(); i++) {
            byTarget.computeIfAbsent(requests.get(i).target(), _ -> new ArrayList<>()).add(i);
        }
        byTarget.values().forEach(this::cut);
    }

    private void cut(List<Integer> ofOnePeer) {
        List<Part> share = new ArrayList<>();
        long room = shareBytes;
        for (int request : ofOnePeer) {
            long length = requests.get(request).lengthBytes();
            long from = 0;
            do {
                // Cut at chunks only: what is left of a share's room may be less than one.
                long most = Math.max(Checksums.CHUNK_BYTES, room & -Checksums.CHUNK_BYTES);
                long to = Math.min(length, from + most);
                share.add(new Part(request, from, to));
                room -= to - from;
                if (room <= 0) {
                    shares.add(share);
                    share = new ArrayList<>();
                    room = shareBytes;
                }
                from = to;
            } while (from < length);
        }
        if (!share.isEmpty()) {
            shares.add(share);
        }
    }

    /** One outcome per request. On return nobody touches their memory any more. */
    List<Outcome<Done>> run(SumWorkers workers, long bytes) {
        List<MemorySegment> memory = new ArrayList<>(requests.size());
        requests.forEach(request -> memory.add(request.local()));
        workers.share(shares.size(), workers.worth(memory, bytes), this::carry);
        List<Outcome<Done>> outcomes = new ArrayList<>(requests.size());
        for (int i = 0; i < requests.size(); i++) {
            Outcome.Failed<Done> failure = failures.get(i);
            outcomes.add(failure == null ? Outcome.done() : failure);
        }
        return outcomes;
    }

    private void carry(int number) {
        List<Part> parts = wanted(shares.get(number));
        List<TransferRequest> moves = new ArrayList<>(parts.size());
        for (Part part : parts) {
            moves.add(request(part));
            if (opcode == Opcode.WRITE) {
                look(part);
            }
        }
        List<Outcome<Done>> moved = engine.transfer(moves, deadline.remaining());
        for (int i = 0; i < moved.size(); i++) {
            Part part = parts.get(i);
            if (moved.get(i) instanceof Outcome.Failed<Done> failed) {
                failures.compareAndSet(part.request, null, failed);
            } else if (opcode == Opcode.READ) {
                look(part);
            }
        }
    }

    private List<Part> wanted(List<Part> share) {
        for (Part part : share) {
            if (failures.get(part.request) != null) {
                return share.stream().filter(p -> failures.get(p.request) == null).toList();
            }
        }
        return share;
    }

    private TransferRequest request(Part part) {
        TransferRequest whole = requests.get(part.request);
        return part.toBytes - part.fromBytes == whole.lengthBytes()
                ? whole
                : new TransferRequest(
                        opcode,
                        whole.local().asSlice(part.fromBytes, part.toBytes - part.fromBytes),
                        whole.target(),
                        whole.targetAddress() + part.fromBytes);
    }

    private void look(Part part) {
        Chunks looked = chunks.get(part.request);
        if (looked != null) {
            looked.look(part.fromBytes, part.toBytes);
        }
    }
}
