package io.cassia.datadist.exchange;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.memory.DataPlane;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.SegmentHandle;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Peers' memory that is open on the data plane. Guarded. It is opened when a link is made, and let
 * go when the last link to that peer has ended: connections and mappings of peers that are gone
 * would otherwise stay for ever.
 */
final class SegmentCache {
    private final DataPlane plane;
    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<String, Opened> byName = new HashMap<>();

    @GuardedBy("lock")
    private final Map<Link, Opened> byLink = new HashMap<>();

    /** What is being let go, which has to be over before the same name is opened again. */
    @GuardedBy("lock")
    private final Map<String, CompletableFuture<?>> closing = new HashMap<>();

    /** Guarded by the lock around it. Memory of one name and the links that use it. */
    private static final class Opened {
        final String name;
        final CompletableFuture<Outcome<SegmentHandle>> segment = new CompletableFuture<>();
        final Set<Link> links = new HashSet<>();

        Opened(String name) {
            this.name = name;
        }
    }

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
     * LLM_FAILED} when it cannot be opened at all, and why the link ended when it has.
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
        lock.lock();
        try {
            Opened known = byLink.get(link);
            if (known != null) {
                return known.segment;
            }
            // A link's end is told once: what were opened after it would never be let go.
            if (link.end().isPresent()) {
                return CompletableFuture.completedFuture(link.end().get().as());
            }
            String name = link.peer().segmentName();
            Opened opened = byName.get(name);
            if (opened == null) {
                opened = new Opened(name);
                byName.put(name, opened);
                begin(opened);
            }
            opened.links.add(link);
            byLink.put(link, opened);
            return opened.segment;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void begin(Opened opened) {
        @Nullable CompletableFuture<?> before = closing.get(opened.name);
        Thread.startVirtualThread(
                () -> {
                    if (before != null) {
                        before.join();
                    }
                    opened.segment.complete(openNow(opened.name));
                });
    }

    private Outcome<SegmentHandle> openNow(String name) {
        try {
            return plane.open(name);
        } catch (RuntimeException e) {
            return Outcome.failed(LlmStatus.LLM_FAILED, "opening " + name + ": unexpected: " + e);
        }
    }

    /** The link has ended, or its memory did not open: with the last one the memory is let go. */
    void forget(Link link) {
        lock.lock();
        try {
            Opened opened = byLink.remove(link);
            if (opened == null || !opened.links.remove(link) || !opened.links.isEmpty()) {
                return;
            }
            byName.remove(opened.name, opened);
            String name = opened.name;
            CompletableFuture<?> over = new CompletableFuture<>();
            closing.put(name, over);
            Thread.startVirtualThread(
                    () -> {
                        try {
                            if (opened.segment.join()
                                    instanceof Outcome.Ok<SegmentHandle>(var segment)) {
                                plane.letGo(segment);
                            }
                        } finally {
                            over.complete(null);
                            closed(name, over);
                        }
                    });
        } finally {
            lock.unlock();
        }
    }

    private void closed(String name, CompletableFuture<?> over) {
        lock.lock();
        try {
            closing.remove(name, over);
        } finally {
            lock.unlock();
        }
    }
}
