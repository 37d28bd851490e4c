package io.cassia.datadist.exchange;

import io.cassia.datadist.cache.Geometry;
import io.cassia.datadist.cache.Pieces;
import io.cassia.datadist.cache.Pin;
import io.cassia.datadist.link.ControlChannel;
import io.cassia.datadist.link.FrameType;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The sender's side of a push. Immutable.
 *
 * <pre>
 *   PUSH ──►  receiver finds and holds the destination
 *   ◄── STATUS  success, or the receiver's code       no answer: LLM_WAIT_PROC_TIMEOUT, link broken
 *             receiver reads from this side's memory
 *   ◄── DONE    how that went                         late: LLM_TIMEOUT, failed: its code, broken
 *   STATUS ──►  it counts, or came too late
 * </pre>
 */
final class PushCall {
    private static final int MAX_VARINT_BYTES = 10;
    private static final int RESERVED_BYTES = 1024;

    private final ExchangeParts parts;
    private final LinkBreaker breaker;

    PushCall(ExchangeParts parts, LinkBreaker breaker) {
        this.parts = parts;
        this.breaker = breaker;
    }

    /** Makes a plan from the sizes of the source. */
    interface Planner {
        Outcome<PushPlan> plan(Geometry geometry);
    }

    /**
     * Pushes; the codes are those of the drawing, and {@code LLM_KV_CACHE_NOT_EXIST}, {@code
     * LLM_PARAM_INVALID}, {@code LLM_NOT_YET_LINK}, {@code LLM_LINK_BUSY} before anything is sent.
     *
     * @param patient whether to queue behind operations of other kinds
     */
    Outcome<TransferReport> run(
            long peerId, long srcCacheId, Planner planner, boolean patient, Budget time) {
        return switch (parts.caches().pin(srcCacheId)) {
            case Outcome.Failed<Pin> failed -> failed.in("source");
            case Outcome.Ok<Pin>(Pin pin) -> {
                try (pin) {
                    yield planner.plan(pin.geometry())
                            .then(plan -> requireOther(peerId, plan))
                            .then(
                                    plan ->
                                            breaker.use(
                                                    peerId,
                                                    OpKind.PUSH,
                                                    time,
                                                    patient,
                                                    (link, waited) ->
                                                            onLink(link, srcCacheId, plan, time)
                                                                    .map(r -> waited(r, waited))));
                }
            }
        };
    }

    private static TransferReport waited(TransferReport report, long nanos) {
        return report.plus(new TransferReport(0, 0, nanos, 0, 0));
    }

    private Outcome<PushPlan> requireOther(long peerId, PushPlan plan) {
        return peerId == parts.clusterId()
                ? Outcome.failed(
                        LlmStatus.LLM_PARAM_INVALID,
                        "the destination is this cluster itself: copy instead")
                : Outcome.ok(plan);
    }

    private Outcome<TransferReport> onLink(Link link, long srcCacheId, PushPlan plan, Budget time) {
        TransferReport sum = new TransferReport(0, 0, 0, 0, 0);
        int most = maxPieces(plan.tensors().count());
        for (int from = 0; from < plan.pieces().count(); from += most) {
            int to = Math.min(plan.pieces().count(), from + most);
            Outcome<TransferReport> part =
                    part(link, srcCacheId, plan, plan.pieces().slice(from, to), time);
            switch (part) {
                case Outcome.Ok<TransferReport>(TransferReport report) -> sum = sum.plus(report);
                case Outcome.Failed<TransferReport> failed -> {
                    return from == 0
                            ? failed
                            : failed.in("%d bytes were pushed before".formatted(sum.bytes()));
                }
            }
        }
        return Outcome.ok(sum);
    }

    /** Pieces that fit into one message beside the addresses, every number at its longest. */
    static int maxPieces(int tensors) {
        int free = ControlChannel.MAX_BODY_BYTES - RESERVED_BYTES - tensors * MAX_VARINT_BYTES;
        return Math.max(1, free / (3 * MAX_VARINT_BYTES));
    }

    /** The lease has a hold of its own on the memory: it may outlast the call. */
    private Outcome<TransferReport> part(
            Link link, long srcCacheId, PushPlan plan, Pieces pieces, Budget time) {
        return parts.caches()
                .pin(srcCacheId)
                .then(
                        pin -> {
                            Lease lease =
                                    parts.leases()
                                            .open(
                                                    link,
                                                    OpKind.PUSH,
                                                    pin,
                                                    plan.tensors(),
                                                    false,
                                                    time.leftNanos());
                            return leased(link, lease, plan, pieces, time);
                        });
    }

    private Outcome<TransferReport> leased(
            Link link, Lease lease, PushPlan plan, Pieces pieces, Budget time) {
        long start = parts.clock().nanos();
        GrantMessage grant =
                new GrantMessage(
                        lease.id(),
                        true,
                        PullServer.addresses(lease.pin().tensors(), plan.tensors(), plan.base()));
        PushRequest request =
                new PushRequest(
                        plan.target(),
                        plan.shape(),
                        pieces,
                        grant,
                        TimeUnit.NANOSECONDS.toMicros(Math.max(0, time.leftNanos())));
        Outcome<Outcome<Done>> answer =
                link.channel().ask(FrameType.PUSH, request.encode(), time.deadlineNanos(), 0);
        if (answer instanceof Outcome.Failed<?> failed) {
            boolean ignored = lease.revoke();
            return breaker.lost(link, "asking the receiver", failed);
        }
        if (answer.orThrow() instanceof Outcome.Failed<Done> refused) {
            parts.leases().cancel(lease);
            return refused.in("the receiver, " + link);
        }
        long asked = parts.clock().nanos();
        return await(link, lease, time)
                .map(
                        done -> {
                            parts.meters().moved(link.peerId(), OpKind.PUSH, done.bytes());
                            return new TransferReport(
                                    done.bytes(),
                                    done.requests(),
                                    0,
                                    asked - start,
                                    parts.clock().nanos() - asked);
                        });
    }

    private Outcome<DoneMessage> await(Link link, Lease lease, Budget time) {
        Outcome<DoneMessage> end;
        try {
            end = lease.end().get(Math.max(1, time.leftNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            if (lease.revoke()) {
                end = Outcome.failed(LlmStatus.LLM_TIMEOUT, "the receiver did not end in time");
            } else {
                // The reader's word has just come in; it is being handed over.
                end = lease.end().join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            boolean ignored = lease.revoke();
            end = Outcome.failed(LlmStatus.LLM_FAILED, "interrupted");
        } catch (ExecutionException e) {
            throw new IllegalStateException("leases never complete exceptionally", e);
        }
        return switch (end) {
            case Outcome.Failed<DoneMessage> failed ->
                    breaker.lost(link, "while the receiver read", failed);
            case Outcome.Ok<DoneMessage>(DoneMessage done) ->
                    done.outcome() instanceof Outcome.Failed<Done> failed
                            ? breaker.lost(link, "at the receiver", failed)
                            : end;
        };
    }
}
