package io.cassia.datadist.exchange;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.memory.DataPlane;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferRequest;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads granted memory of a peer into memory of this side. Immutable.
 *
 * <p>Every movement of bytes between instances is such a read by the side that receives: only the
 * owner of memory ever writes to it, so no peer that was stopped can write into it late.
 */
final class Fetcher {
    /**
     * Bytes handed to the data plane at once. Between two such steps a transfer can be given up,
     * and the lanes run dry: a step of a quarter of this costs a fifth of the rate.
     */
    static final long STEP_BYTES = 256L << 20;

    /** Ranges handed to the data plane at once. */
    static final int STEP_REQUESTS = 65_536;

    private final DataPlane plane;
    private final SegmentCache segments;
    private final Clock clock;

    Fetcher(DataPlane plane, SegmentCache segments, Clock clock) {
        this.plane = plane;
        this.segments = segments;
        this.clock = clock;
    }

    /**
     * What was read. Immutable.
     *
     * @param bytes bytes
     * @param requests contiguous ranges
     */
    record Fetched(long bytes, long requests) {}

    /**
     * Reads all pieces of all tensors. {@code LLM_TIMEOUT} when that did not end by the deadline,
     * {@code LLM_FAILED} when the data plane failed, the code of the link's end when it was given
     * up meanwhile. Nothing writes to the destination after return.
     */
    Outcome<Fetched> run(Fetch fetch, long deadlineNanos) {
        return segments.require(fetch.link(), deadlineNanos)
                .then(segment -> new Run(fetch, segment, deadlineNanos).all());
    }

    /** Confined to one thread. One fetch under way. */
    private final class Run {
        private final Fetch fetch;
        private final SegmentHandle segment;
        private final long deadlineNanos;
        private final List<TransferRequest> step = new ArrayList<>();
        private long stepBytes;
        private long bytes;
        private long requests;

        Run(Fetch fetch, SegmentHandle segment, long deadlineNanos) {
            this.fetch = fetch;
            this.segment = segment;
            this.deadlineNanos = deadlineNanos;
        }

        Outcome<Fetched> all() {
            for (int t = 0; t < fetch.tensors().size(); t++) {
                if (tensor(t) instanceof Outcome.Failed<Done> failed) {
                    return failed.as();
                }
            }
            return flush(fetch.tensors().size()).then(done -> inTime());
        }

        /** What came too late does not count: the owner may have given the memory to others. */
        private Outcome<Fetched> inTime() {
            return clock.nanos() - deadlineNanos > 0
                    ? late(fetch.tensors().size(), "")
                    : Outcome.ok(new Fetched(bytes, requests));
        }

        private Outcome<Done> tensor(int t) {
            MemorySegment local = fetch.tensors().get(t);
            long remote = fetch.grant().addresses().get(t);
            Pieces pieces = fetch.pieces();
            for (int p = 0; p < pieces.count(); p++) {
                long length = pieces.lengthBytes(p);
                for (long done = 0; done < length; done += STEP_BYTES) {
                    long part = Math.min(STEP_BYTES, length - done);
                    if (stepBytes + part > STEP_BYTES || step.size() == STEP_REQUESTS) {
                        if (flush(t) instanceof Outcome.Failed<Done> failed) {
                            return failed;
                        }
                    }
                    step.add(
                            new TransferRequest(
                                    Opcode.READ,
                                    local.asSlice(pieces.dstOffset(p) + done, part),
                                    segment,
                                    remote + pieces.srcOffset(p) + done));
                    stepBytes += part;
                }
            }
            return Outcome.done();
        }

        private Outcome<Done> flush(int tensor) {
            if (step.isEmpty()) {
                return Outcome.done();
            }
            Optional<Outcome.Failed<?>> given = fetch.link().end();
            if (given.isPresent()) {
                return given.get().in(progress(tensor));
            }
            long left = deadlineNanos - clock.nanos();
            if (left <= 0) {
                return late(tensor, "");
            }
            for (Outcome<Done> one : plane.transfer(step, Duration.ofNanos(left))) {
                if (one instanceof Outcome.Failed<Done> failed) {
                    return failure(tensor, failed);
                }
            }
            bytes += stepBytes;
            requests += step.size();
            step.clear();
            stepBytes = 0;
            return Outcome.done();
        }

        private Outcome<Done> failure(int tensor, Outcome.Failed<Done> failed) {
            Code code = failed.code();
            String cause = code.label() + ": " + failed.detail();
            if (clock.nanos() - deadlineNanos >= 0) {
                return late(tensor, cause);
            }
            Optional<Outcome.Failed<?>> given = fetch.link().end();
            return given.isPresent()
                    ? given.get().in(progress(tensor))
                    : Outcome.failed(LlmStatus.LLM_FAILED, progress(tensor) + ": " + cause);
        }

        private <T> Outcome<T> late(int tensor, String cause) {
            return Outcome.failed(
                    LlmStatus.LLM_TIMEOUT,
                    progress(tensor)
                            + ": the time is over"
                            + (cause.isEmpty() ? "" : " (" + cause + ")"));
        }

        private String progress(int tensor) {
            return "moving bytes: %d bytes had arrived, it ended near tensor %d of %d"
                    .formatted(bytes, tensor, fetch.tensors().size());
        }
    }
}
