package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.BlocksCacheKey;
import io.cassia.datadist.cache.Geometry;
import io.cassia.datadist.cache.LayerRange;
import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.cache.Pin;
import io.cassia.datadist.cache.TensorSelection;
import io.cassia.datadist.link.Frame;
import io.cassia.datadist.link.FrameType;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** The receiver's side of a push: checks, then fetches from the sender. Immutable. */
final class PushServer {
    private static final System.Logger LOG = System.getLogger(PushServer.class.getName());

    private final ExchangeParts parts;
    private final ExecutorService workers;

    PushServer(ExchangeParts parts, ExecutorService workers) {
        this.parts = parts;
        this.workers = workers;
    }

    /**
     * Where a push goes, held. Immutable.
     *
     * @param pin holds the cache
     * @param tensors which tensors of it
     * @param memory destination of each, cut to what may be written
     */
    private record Place(Pin pin, TensorSelection tensors, List<MemorySegment> memory) {}

    /**
     * A push that has come in. Immutable.
     *
     * @param link from where
     * @param frame what is answered
     * @param request its content
     * @param deadlineNanos when the bytes have to be here
     * @param told open until the sender was told that the push was accepted
     */
    private record Incoming(
            Link link, Frame frame, PushRequest request, long deadlineNanos, CountDownLatch told) {
        void answer(Outcome<Done> outcome) {
            link.channel().answer(frame, outcome);
        }
    }

    /**
     * On the reader thread as far as nothing has to be waited for: it answers while a worker begins
     * to fetch.
     */
    void serve(Link link, Frame frame) {
        PushRequest request = PushRequest.decode(frame.body());
        long deadline = parts.clock().nanos() + Budget.claimedNanos(request.budgetMicros());
        Incoming push = new Incoming(link, frame, request, deadline, new CountDownLatch(1));
        if (link.beginServing(OpKind.PUSH, false).isOk()) {
            admit(push);
        } else if (!work(() -> await(push))) {
            push.answer(tooMany());
        }
    }

    /** Waits a moment for an operation of this side to pass. */
    private void await(Incoming push) {
        if (push.link().beginServing(OpKind.PUSH, true) instanceof Outcome.Failed<Done> busy) {
            push.answer(busy);
        } else {
            admit(push);
        }
    }

    /** The link is counted as serving until the fetch has ended. */
    private void admit(Incoming push) {
        Outcome<Done> accepted = Outcome.failed(LlmStatus.LLM_FAILED, "unexpected at the receiver");
        try {
            accepted = place(push.request()).then(place -> hand(push, place));
        } finally {
            if (!accepted.isOk()) {
                push.link().endServing(OpKind.PUSH);
            }
            push.answer(accepted);
            push.told().countDown();
        }
    }

    private Outcome<Done> hand(Incoming push, Place place) {
        if (work(() -> receive(push, place))) {
            return Outcome.done();
        }
        place.pin().close();
        return tooMany();
    }

    /** False when all workers have something to do, or the instance is closing. */
    private boolean work(Runnable task) {
        try {
            workers.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private static Outcome<Done> tooMany() {
        return Outcome.failed(
                LlmStatus.LLM_LINK_BUSY, "the receiver fetches for too many senders at once");
    }

    private void receive(Incoming push, Place place) {
        try {
            Outcome<Fetcher.Fetched> fetched;
            try {
                fetched = fetch(push, place);
            } finally {
                // Before the sender hears of the end: it may use the link at once then.
                push.link().endServing(OpKind.PUSH);
            }
            conclude(push, place, fetched);
        } finally {
            place.pin().close();
        }
    }

    private Outcome<Fetcher.Fetched> fetch(Incoming push, Place place) {
        PushRequest request = push.request();
        Fetch fetch = new Fetch(push.link(), request.grant(), place.memory(), request.pieces());
        try {
            return parts.fetcher().run(fetch, push.deadlineNanos());
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "push-fetch failed peer=" + push.link(), e);
            return Outcome.failed(LlmStatus.LLM_FAILED, "unexpected at the receiver: " + e);
        }
    }

    /** The word for the end never comes before the one for the beginning. */
    private void conclude(Incoming push, Place place, Outcome<Fetcher.Fetched> fetched) {
        Fetcher.Fetched moved =
                fetched instanceof Outcome.Ok<Fetcher.Fetched>(Fetcher.Fetched all)
                        ? all
                        : new Fetcher.Fetched(0, 0);
        Outcome<Done> outcome = fetched.map(all -> Done.DONE);
        DoneMessage done =
                new DoneMessage(
                        push.request().grant().leaseId(), moved.bytes(), moved.requests(), outcome);
        // The grace lets the sender's word for the end arrive, which alone makes it a success.
        long deadline = push.deadlineNanos() + TimeUnit.MILLISECONDS.toNanos(100);
        Outcome<Done> confirmed =
                awaitTold(push, deadline)
                        .then(
                                ok ->
                                        push.link()
                                                .channel()
                                                .ask(FrameType.DONE, done.encode(), deadline, 0))
                        .then(senders -> senders);
        publish(push.link(), place, moved.bytes(), outcome.isOk() ? confirmed : outcome);
    }

    private Outcome<Done> awaitTold(Incoming push, long deadlineNanos) {
        try {
            long left = Math.max(1, deadlineNanos - parts.clock().nanos());
            return push.told().await(left, TimeUnit.NANOSECONDS)
                    ? Outcome.done()
                    : Outcome.failed(
                            LlmStatus.LLM_WAIT_PROC_TIMEOUT, "the sender takes no answers");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(LlmStatus.LLM_FAILED, "interrupted");
        }
    }

    private void publish(Link link, Place place, long bytes, Outcome<Done> outcome) {
        parts.meters().moved(link.peerId(), OpKind.PUSH, bytes);
        parts.events()
                .publish(
                        new TransferEvent(
                                OpKind.PUSH,
                                link.peerId(),
                                place.pin().cacheId(),
                                place.pin().batchIndex(),
                                place.tensors().first(),
                                place.tensors().count(),
                                bytes,
                                false,
                                outcome));
    }

    private Outcome<Place> place(PushRequest request) {
        Outcome<Pin> pinned =
                switch (request.target()) {
                    case PushTarget.ToCache target -> parts.caches().pin(target.ref());
                    case PushTarget.ToAddresses target ->
                            parts.caches().pinRanges(target.starts(), target.lengthBytes());
                };
        return pinned.then(
                pin ->
                        pin.keptFor(
                                () ->
                                        switch (request.target()) {
                                            case PushTarget.ToCache target ->
                                                    inCache(request, target, pin);
                                            case PushTarget.ToAddresses target ->
                                                    atAddresses(request, target, pin);
                                        }));
    }

    private static Outcome<Place> inCache(PushRequest request, PushTarget.ToCache target, Pin pin) {
        LayerRange layers = new LayerRange(target.firstLayer(), target.lastLayer());
        Geometry geometry = pin.geometry();
        return TensorSelection.of(geometry.numTensors(), target.tensorsPerLayer(), layers, true)
                .then(
                        tensors -> {
                            int granted = request.grant().addresses().size();
                            if (tensors.count() != granted) {
                                return invalid(
                                        "%d tensors of the source for %d of the destination"
                                                .formatted(granted, tensors.count()));
                            }
                            return window(request, target, pin)
                                    .then(
                                            window ->
                                                    cut(
                                                            request,
                                                            pin,
                                                            tensors,
                                                            window.base(),
                                                            window.limit()));
                        });
    }

    /** The part of each tensor that may be written. Immutable. */
    private record Window(long base, long limit) {}

    private static Outcome<Window> window(PushRequest request, PushTarget.ToCache target, Pin pin) {
        Geometry geometry = pin.geometry();
        long stride = geometry.strideBytes();
        return switch (request.shape()) {
            case Shape.Span(long offset, long size) ->
                    target.ref() instanceof BlocksCacheKey || size > stride - offset
                            ? invalid(
                                    "%d bytes do not fit a batch of %d bytes of %s"
                                            .formatted(size, stride, target.ref()))
                            : Outcome.ok(new Window(pin.batchIndex() * stride, stride));
            case Shape.Blocks(long blockBytes, long maxBlock) ->
                    blocks(blockBytes, maxBlock, geometry);
            case Shape.BatchToBlocks(long extent, long blockBytes, long maxBlock) ->
                    blocks(blockBytes, maxBlock, geometry);
        };
    }

    private static Outcome<Window> blocks(long blockBytes, long maxBlock, Geometry geometry) {
        if (blockBytes != geometry.strideBytes()) {
            return invalid(
                    "blocks of %d bytes there, of %d bytes here"
                            .formatted(geometry.strideBytes(), blockBytes));
        }
        return maxBlock < 0 || maxBlock >= geometry.batches()
                ? invalid(
                        "destination block %d is not in 0..%d"
                                .formatted(maxBlock, geometry.batches() - 1))
                : Outcome.ok(new Window(0, geometry.tensorBytes()));
    }

    private static Outcome<Place> cut(
            PushRequest request, Pin pin, TensorSelection tensors, long base, long limit) {
        Outcome<Done> fits = requireFit(request.pieces(), limit);
        return fits.map(
                ok -> {
                    List<MemorySegment> memory = new ArrayList<>(tensors.count());
                    for (int i = 0; i < tensors.count(); i++) {
                        memory.add(pin.tensors().get(tensors.first() + i).asSlice(base, limit));
                    }
                    return new Place(pin, tensors, memory);
                });
    }

    private static Outcome<Place> atAddresses(
            PushRequest request, PushTarget.ToAddresses target, Pin pin) {
        if (target.starts().size() != request.grant().addresses().size()) {
            return invalid(
                    "%d addresses for %d tensors"
                            .formatted(target.starts().size(), request.grant().addresses().size()));
        }
        return requireFit(request.pieces(), target.lengthBytes())
                .map(
                        ok -> {
                            List<MemorySegment> memory = new ArrayList<>();
                            int first = Integer.MAX_VALUE;
                            for (long start : target.starts()) {
                                int t = tensorAt(pin, start);
                                MemorySegment tensor = pin.tensors().get(t);
                                first = Math.min(first, t);
                                memory.add(
                                        tensor.asSlice(
                                                start - tensor.address(), target.lengthBytes()));
                            }
                            return new Place(
                                    pin, new TensorSelection(first, memory.size()), memory);
                        });
    }

    private static int tensorAt(Pin pin, long address) {
        for (int t = 0; t < pin.tensors().size(); t++) {
            MemorySegment tensor = pin.tensors().get(t);
            if (address >= tensor.address() && address - tensor.address() < tensor.byteSize()) {
                return t;
            }
        }
        throw new IllegalStateException("a pinned range is in no tensor");
    }

    private static Outcome<Done> requireFit(Pieces pieces, long limit) {
        for (int i = 0; i < pieces.count(); i++) {
            if (pieces.lengthBytes(i) > limit - pieces.dstOffset(i)) {
                return invalid(
                        "bytes %d..%d are not inside the destination of %d bytes"
                                .formatted(
                                        pieces.dstOffset(i),
                                        pieces.dstOffset(i) + pieces.lengthBytes(i) - 1,
                                        limit));
            }
        }
        return Outcome.done();
    }

    private static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
