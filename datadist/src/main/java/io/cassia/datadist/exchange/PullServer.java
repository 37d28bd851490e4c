package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.BlocksCacheKey;
import io.cassia.datadist.cache.CacheIndex;
import io.cassia.datadist.cache.CacheKey;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.cache.Geometry;
import io.cassia.datadist.cache.Pin;
import io.cassia.datadist.cache.TensorSelection;
import io.cassia.datadist.link.Frame;
import io.cassia.datadist.link.FrameType;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/** The owner's side of a pull: finds the cache, checks, and grants. Immutable. */
final class PullServer {
    private static final int MAX_WAITING = 1024;

    private final ExchangeParts parts;
    private final Semaphore waiting = new Semaphore(MAX_WAITING);

    PullServer(ExchangeParts parts) {
        this.parts = parts;
    }

    /** Answers a request; on the reader thread unless it has to wait for a key. */
    void serve(Link link, Frame frame) {
        PullRequest request = PullRequest.decode(frame.body());
        long start = parts.clock().nanos();
        boolean there = request.keyWaitMicros() <= 0 || parts.caches().exists(request.source());
        if (there && answer(link, frame, request, start, start, false)) {
            return;
        }
        if (!waiting.tryAcquire()) {
            link.channel()
                    .answer(
                            frame,
                            Outcome.failed(
                                    LlmStatus.LLM_LINK_BUSY,
                                    "%d pulls wait for keys there already".formatted(MAX_WAITING)));
            return;
        }
        long until = there ? start : start + Budget.claimedNanos(request.keyWaitMicros());
        Thread.startVirtualThread(
                () -> {
                    try {
                        boolean answered = answer(link, frame, request, start, until, true);
                        assert answered;
                    } finally {
                        waiting.release();
                    }
                });
    }

    /** False when this side uses the link for something else, and there was no leave to wait. */
    private boolean answer(
            Link link,
            Frame frame,
            PullRequest request,
            long start,
            long keyUntil,
            boolean mayWait) {
        long deadline = start + Budget.claimedNanos(request.budgetMicros());
        Outcome<GrantMessage> grant =
                parts.caches()
                        .awaitPin(request.source(), keyUntil, () -> link.end().isPresent())
                        .then(pin -> grant(link, request, pin, deadline, mayWait));
        switch (grant) {
            case Outcome.Ok<GrantMessage>(GrantMessage message) ->
                    link.channel().answer(frame, FrameType.GRANT, message.encode());
            case Outcome.Failed<GrantMessage> failed -> {
                if (failed.code() == LlmStatus.LLM_LINK_BUSY && !mayWait) {
                    return false;
                }
                link.channel().answer(frame, failed);
            }
        }
        return true;
    }

    /** The pin goes into the lease, or is let go. */
    private Outcome<GrantMessage> grant(
            Link link, PullRequest request, Pin pin, long deadlineNanos, boolean mayWait) {
        return pin.keptFor(
                () ->
                        selection(request, pin)
                                .then(
                                        tensors ->
                                                base(request, pin)
                                                        .then(
                                                                base ->
                                                                        lease(
                                                                                link,
                                                                                request,
                                                                                pin,
                                                                                tensors,
                                                                                base,
                                                                                deadlineNanos,
                                                                                mayWait))));
    }

    private Outcome<GrantMessage> lease(
            Link link,
            PullRequest request,
            Pin pin,
            TensorSelection tensors,
            long base,
            long deadlineNanos,
            boolean mayWait) {
        if (parts.leases().isFull()) {
            return Outcome.failed(
                    LlmStatus.LLM_LINK_BUSY, "the owner serves too many readers at once");
        }
        if (link.beginServing(OpKind.PULL, mayWait) instanceof Outcome.Failed<Done> busy) {
            return busy.as();
        }
        boolean consumes =
                request.mayConsume()
                        && pin.holdsKey()
                        && !(request.shape() instanceof Shape.Blocks);
        long budget = deadlineNanos - parts.clock().nanos();
        Lease lease = parts.leases().open(link, OpKind.PULL, pin, tensors, consumes, budget);
        return Outcome.ok(
                new GrantMessage(lease.id(), consumes, addresses(pin.tensors(), tensors, base)));
    }

    static List<Long> addresses(List<MemorySegment> all, TensorSelection tensors, long base) {
        List<Long> addresses = new ArrayList<>(tensors.count());
        for (int i = 0; i < tensors.count(); i++) {
            addresses.add(all.get(tensors.first() + i).address() + base);
        }
        return addresses;
    }

    private static Outcome<TensorSelection> selection(PullRequest request, Pin pin) {
        return TensorSelection.of(
                        pin.geometry().numTensors(),
                        request.tensorsPerLayer(),
                        request.layers(),
                        false)
                .then(
                        tensors ->
                                tensors.count() == request.tensors()
                                        ? Outcome.ok(tensors)
                                        : invalid(
                                                "%d tensors of the source for %d of the destination"
                                                        .formatted(
                                                                tensors.count(),
                                                                request.tensors())));
    }

    /** Where in each tensor the reading begins. */
    private static Outcome<Long> base(PullRequest request, Pin pin) {
        Geometry geometry = pin.geometry();
        long stride = geometry.strideBytes();
        long batchStart = pin.batchIndex() * stride;
        CacheRef source = request.source();
        return switch (request.shape()) {
            case Shape.Span(long offset, long size) -> {
                if (source instanceof BlocksCacheKey) {
                    yield invalid("a block cache cannot be pulled into a batch");
                }
                yield offset < 0 || size < 1 || offset > stride - size
                        ? invalid(
                                "%d bytes from offset %d are not inside the source batch of %d bytes"
                                        .formatted(size, offset, stride))
                        : Outcome.ok(batchStart + offset);
            }
            case Shape.Blocks(long blockBytes, long maxBlock) -> {
                if (source instanceof CacheKey
                        || (source instanceof CacheIndex index && index.batchIndex() != 0)) {
                    yield invalid(
                            "blocks are pulled from " + source + "; only whole caches have them");
                }
                if (blockBytes != stride) {
                    yield invalid(
                            "blocks of %d bytes there, of %d bytes here"
                                    .formatted(stride, blockBytes));
                }
                yield maxBlock < 0 || maxBlock >= geometry.batches()
                        ? invalid(
                                "source block %d is not in 0..%d"
                                        .formatted(maxBlock, geometry.batches() - 1))
                        : Outcome.ok(0L);
            }
            case Shape.BatchToBlocks(long extent, long blockBytes, long maxBlock) ->
                    source instanceof BlocksCacheKey || extent < 1 || extent > stride
                            ? invalid(
                                    "%d bytes are not inside one batch of %d bytes of %s"
                                            .formatted(extent, stride, source))
                            : Outcome.ok(batchStart);
        };
    }

    private static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
