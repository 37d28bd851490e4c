package io.cassia.datadist.exchange;

import io.cassia.base.Clock;
import io.cassia.datadist.link.Link;
import io.cassia.datadist.link.LinkMeters;
import io.cassia.datadist.link.LinkTable;
import io.cassia.datadist.link.OpKind;
import io.cassia.status.Code;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.function.BiConsumer;

/**
 * Uses links for operations, and ends those that an operation has left in doubt. Immutable.
 *
 * <p>Once a request has been sent, a timeout or an I/O failure breaks the link: what is still under
 * way on it cannot be told from what comes next.
 */
final class LinkBreaker {
    private final LinkTable links;
    private final Clock clock;
    private final LinkMeters meters;
    private final BiConsumer<Link, Outcome.Failed<?>> breakDown;

    LinkBreaker(
            LinkTable links,
            Clock clock,
            LinkMeters meters,
            BiConsumer<Link, Outcome.Failed<?>> breakDown) {
        this.links = links;
        this.clock = clock;
        this.meters = meters;
        this.breakDown = breakDown;
    }

    /** What is done with a link that was taken. */
    interface Use<T> {
        Outcome<T> run(Link link, long waitedNanos);
    }

    /**
     * Takes the link of a peer for one operation and releases it after. {@code LLM_NOT_YET_LINK},
     * {@code LLM_LINK_BUSY} as {@link Link#acquire} says.
     */
    <T> Outcome<T> use(long peerId, OpKind kind, Budget time, boolean patient, Use<T> use) {
        long start = clock.nanos();
        return links.require(peerId)
                .then(
                        link ->
                                link.acquire(kind, time.deadlineNanos(), patient)
                                        .then(ok -> taken(link, kind, start, use)));
    }

    private <T> Outcome<T> taken(Link link, OpKind kind, long start, Use<T> use) {
        long begin = clock.nanos();
        meters.waited(link.peerId(), kind, begin - start);
        try {
            Outcome<T> outcome = use.run(link, begin - start);
            meters.operation(link.peerId(), kind, outcome, clock.nanos() - begin);
            return outcome;
        } finally {
            link.release(kind);
        }
    }

    /**
     * Breaks the link for a failure in a phase, and says what the operation failed with: the code
     * of the link's end when that was the reason (the link was given up by either side), else that
     * of the failure.
     */
    <T> Outcome<T> lost(Link link, String phase, Outcome.Failed<?> failed) {
        Outcome.Failed<?> reason = link.end().orElse(failed);
        Code code = reason.code();
        String detail = phase + ", " + link + ": " + reason.detail();
        breakDown.accept(link, Outcome.failed(code, phase + ": " + failed.detail()));
        String remedy =
                code == LlmStatus.LLM_NOT_YET_LINK
                        ? ""
                        : "; the link is broken: unlink and link again";
        return Outcome.failed(code, detail + remedy);
    }
}
