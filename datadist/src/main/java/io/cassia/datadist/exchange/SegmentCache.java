package io.cassia.datadist.exchange;

import io.cassia.base.Clock;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.memory.DataPlane;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.SegmentHandle;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Peers' memory that is open on the data plane, one per link. Guarded. It is opened when the link
 * is made, and again when the peer has added memory since.
 */
final class SegmentCache {
    private final DataPlane plane;
    private final Clock clock;
    private final Map<Link, CompletableFuture<Outcome<SegmentHandle>>> opened =
            new ConcurrentHashMap<>();

    SegmentCache(DataPlane plane, Clock clock) {
        this.plane = plane;
        this.clock = clock;
    }

    /** Begins to open the peer's memory, so that the first transfer finds it open. */
    void prefetch(Link link) {
        CompletableFuture<Outcome<SegmentHandle>> ignored = open(link);
    }

    /**
     * The peer's memory. {@code LLM_TIMEOUT} when it could not be opened by the deadline, {@code
     * LLM_FAILED} when it cannot be opened at all.
     */
    Outcome<SegmentHandle> require(Link link, long deadlineNanos) {
        CompletableFuture<Outcome<SegmentHandle>> segment = open(link);
        try {
            Outcome<SegmentHandle> outcome =
                    segment.get(Math.max(1, deadlineNanos - clock.nanos()), TimeUnit.NANOSECONDS);
            if (!outcome.isOk()) {
                forget(link);
            }
            return outcome;
        } catch (TimeoutException e) {
            return Outcome.failed(
                    LlmStatus.LLM_TIMEOUT,
                    "the memory of %s (%s) did not open in time"
                            .formatted(link, link.peer().segmentName()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Outcome.failed(LlmStatus.LLM_FAILED, "interrupted while opening memory");
        } catch (ExecutionException e) {
            throw new IllegalStateException("segments never complete exceptionally", e);
        }
    }

    private CompletableFuture<Outcome<SegmentHandle>> open(Link link) {
        return opened.computeIfAbsent(
                link,
                key -> {
                    CompletableFuture<Outcome<SegmentHandle>> segment = new CompletableFuture<>();
                    String name = link.peer().segmentName();
                    Thread.startVirtualThread(() -> segment.complete(openNow(name)));
                    return segment;
                });
    }

    private Outcome<SegmentHandle> openNow(String name) {
        try {
            return plane.open(name);
        } catch (RuntimeException e) {
            return Outcome.failed(LlmStatus.LLM_FAILED, "opening " + name + ": unexpected: " + e);
        }
    }

    void forget(Link link) {
        opened.remove(link);
    }
}
