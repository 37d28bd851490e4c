package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Immutable. Gives up one link, and tells the peer where that is asked for. */
final class Unlinker {
    private static final long WITHDRAW_NANOS = 20_000_000;
    private static final ByteString POLITE = new WireWriter().flag(false).toBody();
    private static final ByteString FAREWELL = new WireWriter().flag(true).toBody();

    private final LinkTable table;
    private final Dialer dialer;
    private final Clock clock;
    private final LinkEvents events;

    Unlinker(LinkTable table, Dialer dialer, Clock clock, LinkEvents events) {
        this.table = table;
        this.dialer = dialer;
        this.clock = clock;
        this.events = events;
    }

    /**
     * {@code LLM_NOT_YET_LINK} when there is no link, {@code LLM_LINK_BUSY} when it is in use (it
     * stays then), {@code LLM_PARAM_INVALID} when the address is not that of the link. In all other
     * cases this side is clean on return: {@code LLM_NOTIFY_PROMPT_UNLINK_FAILED} when the peer
     * could not be told, {@code LLM_UNLINK_FAILED} when it answered with an error.
     */
    Outcome<Done> unlink(ClusterInfo cluster, boolean force, long deadlineNanos) {
        Link link = table.find(cluster.remoteClusterId());
        if (link == null) {
            return Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, cluster + " is not linked");
        }
        if (!force && differs(cluster, link)) {
            return Outcome.failed(
                    LlmStatus.LLM_PARAM_INVALID,
                    "%s is linked at %s, not at %s"
                            .formatted(cluster, link.address(), cluster.remoteIps().getFirst()));
        }
        if (force) {
            drop(link, "unlinked by force");
            return Outcome.done();
        }
        return switch (link.state()) {
            case ACTIVE, UNLINKING -> politely(link, deadlineNanos);
            case BROKEN -> afterBreak(cluster, link, deadlineNanos);
            case CONNECTING -> {
                drop(link, "unlinked while it was being made");
                yield Outcome.done();
            }
            case CLOSED -> Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, cluster + " is not linked");
        };
    }

    private static boolean differs(ClusterInfo cluster, Link link) {
        return link.isDialed()
                && !cluster.remoteIps().isEmpty()
                && !cluster.remoteIps().getFirst().toString().equals(link.address());
    }

    private Outcome<Done> politely(Link link, long deadlineNanos) {
        if (link.beginUnlink() instanceof Outcome.Failed<Done> failed) {
            return failed;
        }
        Outcome<Outcome<Done>> answer =
                link.channel().ask(FrameType.UNLINK, POLITE, deadlineNanos, 0);
        Outcome<Done> told = answer.then(peers -> peers);
        if (answer.isOk()
                && told instanceof Outcome.Failed<Done> failed
                && failed.code() == LlmStatus.LLM_LINK_BUSY) {
            link.cancelUnlink();
            return failed.in("the peer");
        }
        drop(link, "unlinked");
        if (told instanceof Outcome.Failed<Done> failed) {
            return Outcome.failed(
                    answer.isOk()
                            ? LlmStatus.LLM_UNLINK_FAILED
                            : LlmStatus.LLM_NOTIFY_PROMPT_UNLINK_FAILED,
                    "%s: this side is clean, the peer %s: %s"
                            .formatted(
                                    link,
                                    answer.isOk() ? "answered with an error" : "could not be told",
                                    failed.detail()));
        }
        return told;
    }

    /** Who dialled tells the peer by dialling again; who listened has nobody to tell. */
    private Outcome<Done> afterBreak(ClusterInfo cluster, Link link, long deadlineNanos) {
        String why = link.whyBroken();
        drop(link, "unlinked");
        if (!link.isDialed()) {
            return Outcome.done();
        }
        ClusterInfo target = cluster.remoteIps().isEmpty() ? at(link) : cluster;
        if (target == null) {
            return Outcome.done();
        }
        return dialer.tellUnlinked(target, deadlineNanos) instanceof Outcome.Failed<Done> failed
                ? Outcome.failed(
                        LlmStatus.LLM_NOTIFY_PROMPT_UNLINK_FAILED,
                        "%s: this side is clean, the peer could not be told: %s (the link had broken: %s)"
                                .formatted(link, failed.detail(), why))
                : Outcome.done();
    }

    private static @Nullable ClusterInfo at(Link link) {
        return IpInfo.parse(link.address()) instanceof Outcome.Ok<IpInfo>(IpInfo address)
                ? ClusterInfo.of(link.peerId(), address.host(), address.port())
                : null;
    }

    private void drop(Link link, String why) {
        table.remove(link);
        if (link.retire(Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, why))) {
            events.changed(link);
        }
    }

    /** Tells all peers that this instance ends, without waiting for long, and drops the links. */
    void farewell(List<Link> links, long deadlineNanos) {
        List<Thread> threads =
                links.stream()
                        .map(link -> Thread.startVirtualThread(() -> farewell(link, deadlineNanos)))
                        .toList();
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void farewell(Link link, long deadlineNanos) {
        ControlChannel channel = link.channelOrNull();
        if (channel != null && link.state() == LinkState.ACTIVE && clock.nanos() < deadlineNanos) {
            // Whether it was heard makes no difference: this side ends either way.
            Outcome<Frame> ignored = channel.request(FrameType.UNLINK, FAREWELL, deadlineNanos);
        }
        drop(link, "this instance was closed");
    }

    /** Gives up a link that has just been made; the peer is told, and not waited for. */
    void withdraw(Link link, Outcome.Failed<?> reason) {
        link.channel().tell(FrameType.UNLINK, FAREWELL, clock.nanos() + WITHDRAW_NANOS);
        drop(link, reason.detail());
    }

    /** Whether an UNLINK of a peer is a farewell, which ends the link whatever runs on it. */
    static boolean isFarewell(Frame unlink) {
        return new WireReader(unlink.body()).flag();
    }
}
