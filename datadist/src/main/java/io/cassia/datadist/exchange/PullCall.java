package io.cassia.datadist.exchange;

import io.cassia.base.Deadline;
import io.cassia.datadist.cache.CacheRef;
import io.cassia.datadist.cache.Geometry;
import io.cassia.datadist.cache.Pin;
import io.cassia.datadist.link.FrameType;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The reader's side of a pull. Immutable.
 *
 * <pre>
 *   PULL ──►  owner finds and holds the cache
 *   ◄── GRANT  or STATUS with the owner's code        no answer: LLM_WAIT_PROC_TIMEOUT, link broken
 *   read from the owner's memory                      late: LLM_TIMEOUT, failed: LLM_FAILED, broken
 *   DONE ──►  owner lets go, consumes the key
 *   ◄── STATUS (awaited only where a key is consumed) no answer: LLM_TIMEOUT, link broken
 * </pre>
 */
final class PullCall {
    private static final long ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ExchangeParts parts;
    private final LinkBreaker breaker;

    PullCall(ExchangeParts parts, LinkBreaker breaker) {
        this.parts = parts;
        this.breaker = breaker;
    }

    /** One batch of a peer's cache into one batch here. */
    Outcome<TransferReport> batch(
            CacheRef source, long dstCacheId, int dstBatch, TransferOptions options, Budget time) {
        return withPin(
                source,
                dstCacheId,
                options,
                time,
                geometry -> PullPlans.batch(geometry, dstBatch, options));
    }

    /** Blocks of a peer's cache, or one batch when {@code srcBlocks} is empty, into blocks here. */
    Outcome<TransferReport> blocks(
            CacheRef source,
            long dstCacheId,
            long[] srcBlocks,
            long[] dstBlocks,
            TransferOptions options,
            Budget time) {
        return withPin(
                source,
                dstCacheId,
                options,
                time,
                geometry ->
                        srcBlocks.length == 0
                                ? PullPlans.batchToBlocks(geometry, dstBlocks, options)
                                : PullPlans.blocks(geometry, srcBlocks, dstBlocks, options));
    }

    private interface Planner {
        Outcome<PullPlan> plan(Geometry geometry);
    }

    private Outcome<TransferReport> withPin(
            CacheRef source,
            long dstCacheId,
            TransferOptions options,
            Budget time,
            Planner planner) {
        return switch (parts.caches().pin(dstCacheId)) {
            case Outcome.Failed<Pin> failed -> failed.in("destination");
            case Outcome.Ok<Pin>(Pin pin) -> {
                try (pin) {
                    yield planner.plan(pin.geometry())
                            .then(
                                    plan ->
                                            requireOther(source)
                                                    .then(
                                                            ok ->
                                                                    linked(
                                                                            source, pin, plan,
                                                                            options, time)));
                }
            }
        };
    }

    private Outcome<Done> requireOther(CacheRef source) {
        return source.clusterId() == parts.clusterId()
                ? invalid("the source is this cluster itself: copy instead")
                : Outcome.done();
    }

    private Outcome<TransferReport> linked(
            CacheRef source, Pin pin, PullPlan plan, TransferOptions options, Budget time) {
        return breaker.use(
                source.clusterId(),
                OpKind.PULL,
                time,
                false,
                (link, waited) -> onLink(link, source, pin, plan, options, time, waited));
    }

    private Outcome<TransferReport> onLink(
            Link link,
            CacheRef source,
            Pin pin,
            PullPlan plan,
            TransferOptions options,
            Budget time,
            long waitNanos) {
        long start = parts.clock().nanos();
        Outcome<GrantMessage> grant = ask(link, source, plan, options, time);
        if (grant instanceof Outcome.Failed<GrantMessage> failed) {
            return failed.as();
        }
        GrantMessage granted = grant.orThrow();
        long asked = parts.clock().nanos();
        List<MemorySegment> tensors =
                pin.tensors()
                        .subList(
                                plan.tensors().first(),
                                plan.tensors().first() + plan.tensors().count());
        Outcome<Fetcher.Fetched> fetched =
                parts.fetcher()
                        .run(
                                new Fetch(link, granted, tensors, plan.pieces()),
                                time.deadlineNanos());
        long read = parts.clock().nanos();
        return finish(link, granted, fetched, time)
                .map(
                        moved -> {
                            parts.meters().moved(link.peerId(), OpKind.PULL, moved.bytes());
                            return new TransferReport(
                                    moved.bytes(),
                                    moved.requests(),
                                    waitNanos,
                                    asked - start + parts.clock().nanos() - read,
                                    read - asked);
                        });
    }

    private Outcome<GrantMessage> ask(
            Link link, CacheRef source, PullPlan plan, TransferOptions options, Budget time) {
        long left = time.leftNanos();
        // The owner has to answer before this side gives it up, also when both are busy.
        long margin = Math.max(left / 5, Math.min(left / 2, ANSWER_NANOS));
        long keyWait = Math.min(Deadline.nanos(options.keyWait()), left - margin);
        PullRequest request =
                new PullRequest(
                        source,
                        options.srcLayers(),
                        options.tensorsPerLayer(),
                        plan.tensors().count(),
                        plan.shape(),
                        plan.mayConsume(),
                        TimeUnit.NANOSECONDS.toMicros(left),
                        Math.max(0, TimeUnit.NANOSECONDS.toMicros(keyWait)));
        long bytes = plan.pieces().totalBytes() * plan.tensors().count();
        int tensors = plan.tensors().count();
        return switch (link.channel()
                .request(
                        FrameType.PULL,
                        request.encode(),
                        time.deadlineNanos(),
                        Budget.awakeNanos(bytes),
                        frame -> GrantMessage.answer(frame, tensors))) {
            case Outcome.Failed<?> failed -> breaker.lost(link, "asking the owner", failed);
            case Outcome.Ok<Outcome<GrantMessage>>(Outcome<GrantMessage> grant) ->
                    grant instanceof Outcome.Failed<GrantMessage> refused
                            ? refused.in("the owner, " + link)
                            : grant;
        };
    }

    private Outcome<Fetcher.Fetched> finish(
            Link link, GrantMessage grant, Outcome<Fetcher.Fetched> fetched, Budget time) {
        return switch (fetched) {
            case Outcome.Failed<Fetcher.Fetched> failed -> {
                DoneMessage done = new DoneMessage(grant.leaseId(), 0, 0, failed.as());
                link.channel().tell(FrameType.DONE, done.encode(), time.graceNanos());
                yield breaker.lost(link, "reading from the owner", failed);
            }
            case Outcome.Ok<Fetcher.Fetched>(Fetcher.Fetched moved) -> {
                DoneMessage done =
                        new DoneMessage(
                                grant.leaseId(), moved.bytes(), moved.requests(), Outcome.done());
                yield grant.confirm()
                        ? confirm(link, done, time).then(ok -> fetched)
                        : unconfirmed(link, done, fetched, time);
            }
        };
    }

    /**
     * The owner keeps the lease for longer than this side's time, in which the bytes came: nothing
     * else has to be known.
     */
    private static Outcome<Fetcher.Fetched> unconfirmed(
            Link link, DoneMessage done, Outcome<Fetcher.Fetched> fetched, Budget time) {
        link.channel().tell(FrameType.DONE, done.encode(), time.graceNanos());
        return fetched;
    }

    private Outcome<Done> confirm(Link link, DoneMessage done, Budget time) {
        return switch (link.channel()
                .ask(
                        FrameType.DONE,
                        done.encode(),
                        time.deadlineNanos(),
                        Budget.awakeNanos(done.bytes()))) {
            case Outcome.Failed<?> failed -> {
                boolean silent = failed.code() == LlmStatus.LLM_WAIT_PROC_TIMEOUT;
                Outcome.Failed<?> cause =
                        silent ? Outcome.failed(LlmStatus.LLM_TIMEOUT, failed.detail()) : failed;
                yield breaker.lost(link, "the owner's confirmation", cause);
            }
            case Outcome.Ok<Outcome<Done>>(Outcome<Done> confirmed) ->
                    confirmed instanceof Outcome.Failed<Done> refused
                            ? refused.in("the owner, " + link)
                            : confirmed;
        };
    }

    private static <T> Outcome<T> invalid(String detail) {
        return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, detail);
    }
}
