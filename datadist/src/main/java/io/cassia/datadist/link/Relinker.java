package io.cassia.datadist.link;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.System.Logger.Level;
import java.time.Duration;

/** Immutable. Dials into the place of a link: a new one, or one that has broken. */
final class Relinker {
    private static final System.Logger LOG = System.getLogger(Relinker.class.getName());
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LAST_PAUSE = Duration.ofSeconds(5);
    private static final Duration BUDGET = Duration.ofSeconds(3);

    private final LinkTable table;
    private final Dialer dialer;
    private final Clock clock;
    private final int tries;
    private final Rest rest;
    private final LinkEvents events;

    Relinker(LinkTable table, Dialer dialer, Clock clock, int tries, Rest rest, LinkEvents events) {
        this.table = table;
        this.dialer = dialer;
        this.clock = clock;
        this.tries = tries;
        this.rest = rest;
        this.events = events;
    }

    /** Makes a reserved link active, or frees its place again. */
    Outcome<Done> dialInto(Link link, ClusterInfo cluster, long deadlineNanos) {
        return switch (dialer.link(cluster, deadlineNanos)) {
            case Outcome.Failed<Dialer.Dialed> failed -> {
                table.remove(link);
                link.retire(failed);
                yield failed.as();
            }
            case Outcome.Ok<Dialer.Dialed>(Dialer.Dialed dialed) -> {
                if (!link.activate(dialed.channel(), dialed.peer(), true)) {
                    Outcome.Failed<Done> lost =
                            Outcome.failed(
                                    LlmStatus.LLM_ALREADY_LINK,
                                    "%s: the place was taken, or given up, during the handshake"
                                            .formatted(cluster));
                    dialed.channel().close(lost);
                    yield lost;
                }
                events.opened(link);
                yield Outcome.done();
            }
        };
    }

    /** Begins to dial again when the link is one that this side dialled and that is to be kept. */
    void considerBroken(Link broken) {
        if (tries > 0 && broken.isDialed() && broken.state() == LinkState.BROKEN) {
            Thread.startVirtualThread(() -> relink(broken));
        }
    }

    private void relink(Link broken) {
        Duration pause = FIRST_PAUSE;
        for (int i = 1; i <= tries; i++) {
            if (!rest.pause(pause.toNanos())) {
                return;
            }
            pause = longer(pause);
            if (!(table.replaceBroken(broken) instanceof Outcome.Ok<Link>(Link link))) {
                return;
            }
            if (tryOnce(broken, link)) {
                LOG.log(Level.INFO, "link-again peer=%s try=%d".formatted(broken, i));
                return;
            }
        }
        LOG.log(Level.WARNING, "link-again gave up peer=%s tries=%d".formatted(broken, tries));
    }

    private boolean tryOnce(Link broken, Link link) {
        Outcome<Dialer.Dialed> dialed =
                IpInfo.parse(broken.address())
                        .then(
                                at ->
                                        dialer.link(
                                                ClusterInfo.of(
                                                        broken.peerId(), at.host(), at.port()),
                                                clock.nanos() + BUDGET.toNanos()));
        if (dialed instanceof Outcome.Ok<Dialer.Dialed>(Dialer.Dialed open)) {
            if (link.activate(open.channel(), open.peer(), true)) {
                events.opened(link);
            } else {
                open.channel()
                        .close(Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, "given up meanwhile"));
            }
            return true;
        }
        table.restore(broken, link);
        return false;
    }

    private static Duration longer(Duration pause) {
        Duration twice = pause.multipliedBy(2);
        return twice.compareTo(LAST_PAUSE) < 0 ? twice : LAST_PAUSE;
    }
}
