package io.cassia.datadist.exchange;

import io.cassia.base.Clock;
import io.cassia.datadist.cache.CacheTable;
import io.cassia.datadist.link.Announcer;
import io.cassia.datadist.link.Frame;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.link.LinkMeters;
import io.cassia.datadist.link.LinkRequests;
import io.cassia.datadist.link.LinkTable;
import io.cassia.datadist.link.WireReader;
import io.cassia.datadist.memory.DataPlane;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.cassia.transfer.SegmentHandle;
import java.time.Duration;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** Moves caches over links, for this side and for its peers. Guarded by its parts. */
public final class Exchange implements LinkRequests, AutoCloseable {
    private static final int MAX_FETCHES = 64;

    private final ExchangeParts parts;
    private final SegmentCache segments;
    private final PullServer pulls;
    private final PushServer pushes;
    private final DoneServer ends;
    private final ThreadPoolExecutor workers;

    public Exchange(
            long clusterId,
            CacheTable caches,
            DataPlane plane,
            Clock clock,
            LinkMeters meters,
            Announcer announcer) {
        this.segments = new SegmentCache(plane, clock);
        this.parts =
                new ExchangeParts(
                        clusterId,
                        caches,
                        clock,
                        meters,
                        new LeaseTable(clock, meters.dropped("lease-expired")),
                        new Fetcher(plane, segments, clock),
                        new TransferEvents(meters.dropped("event-queue-full"), announcer));
        this.workers = workers();
        this.pulls = new PullServer(parts);
        this.pushes = new PushServer(parts, workers);
        this.ends = new DoneServer(parts);
    }

    private static ThreadPoolExecutor workers() {
        return new ThreadPoolExecutor(
                0,
                MAX_FETCHES,
                30,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                Thread.ofPlatform().daemon().name("datadist-fetch-", 0).factory());
    }

    /** The calls of this side, over these links. */
    public Transfers transfers(LinkTable links, BiConsumer<Link, Outcome.Failed<?>> breakDown) {
        LinkBreaker breaker = new LinkBreaker(links, parts.clock(), parts.meters(), breakDown);
        return new Transfers(
                parts.clock(), new PullCall(parts, breaker), new PushCall(parts, breaker));
    }

    public TransferEvents events() {
        return parts.events();
    }

    /** Leases of peers that are open. */
    public int leases() {
        return parts.leases().size();
    }

    /** Lets go what no peer came back for; to be called every few dozen milliseconds. */
    public void tick() {
        parts.leases().expire();
    }

    @Override
    public void onOpen(Link link) {
        segments.prefetch(link);
    }

    @Override
    public Outcome<Done> awaitReady(Link link, long deadlineNanos) {
        return switch (segments.require(link, deadlineNanos)) {
            case Outcome.Ok<SegmentHandle> ok -> Outcome.done();
            case Outcome.Failed<SegmentHandle>(Code code, String detail) ->
                    Outcome.failed(
                            code == LlmStatus.LLM_TIMEOUT ? code : LlmStatus.LLM_LINK_FAILED,
                            detail + "; is the data port of the peer reachable from here?");
        };
    }

    @Override
    public void onRequest(Link link, Frame request) {
        switch (request.type()) {
            case PULL -> pulls.serve(link, request);
            case PUSH -> pushes.serve(link, request);
            case DONE -> ends.serve(link, request);
            case HELLO, CHALLENGE, PROOF, READY, CONFIRM, PING, UNLINK, STATUS, GRANT ->
                    throw new WireReader.Malformed(request.type() + " is no transfer");
        }
    }

    @Override
    public void onEnd(Link link) {
        segments.forget(link);
        parts.leases().linkEnded(link);
        parts.caches().wake();
    }

    /** Waits for reading that is under way, so long at most, and lets all leases go. */
    public void close(Duration patience) {
        workers.shutdown();
        try {
            if (!workers.awaitTermination(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                workers.shutdownNow().forEach(never -> {});
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        parts.leases().clear();
    }

    @Override
    public void close() {
        close(Duration.ofSeconds(1));
    }
}
