package io.cassia.datadist.link;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Looks after links that nobody uses: heartbeats, silence, writes that do not end, connections that
 * the peer should have closed. Confined to the instance's ticker thread, but for what is
 * concurrent.
 */
final class LinkWatch {
    private static final long LINGER_NANOS = Duration.ofSeconds(2).toNanos();

    private final LinkTable table;
    private final SocketGuard guard;
    private final Clock clock;
    private final long heartbeatNanos;
    private final long silenceNanos;
    private final BiConsumer<Link, Outcome.Failed<?>> breaker;
    private final Map<ControlChannel, Long> lingering = new ConcurrentHashMap<>();
    private final Map<Link, Long> asked = new ConcurrentHashMap<>();
    private long lastTickNanos;

    LinkWatch(
            LinkTable table,
            SocketGuard guard,
            Clock clock,
            LinkConfig config,
            BiConsumer<Link, Outcome.Failed<?>> breaker) {
        this.table = table;
        this.guard = guard;
        this.clock = clock;
        this.heartbeatNanos = config.heartbeat().toNanos();
        this.silenceNanos = heartbeatNanos * config.heartbeatMisses();
        this.breaker = breaker;
        this.lastTickNanos = clock.nanos();
    }

    /** Closes a connection a little later, when the peer has not done so. */
    void linger(ControlChannel channel) {
        lingering.put(channel, clock.nanos() + LINGER_NANOS);
    }

    void forget(Link link) {
        asked.remove(link);
    }

    void tick() {
        long now = clock.nanos();
        // Who was stopped himself has heard nothing, and may not blame the peer for it.
        boolean stalled = now - lastTickNanos > heartbeatNanos;
        lastTickNanos = now;
        guard.closeOverdue(now);
        lingering.forEach((channel, deadline) -> closeLingering(channel, deadline, now));
        for (Link link : table.links()) {
            ControlChannel channel = link.channelOrNull();
            if (channel != null) {
                watch(link, channel, now, stalled);
            }
        }
    }

    private void closeLingering(ControlChannel channel, long deadline, long now) {
        if (channel.isClosed() || now - deadline > 0) {
            lingering.remove(channel);
            channel.close(Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, "the link was given up"));
        }
    }

    private void watch(Link link, ControlChannel channel, long now, boolean stalled) {
        channel.closeIfOverdue(now);
        if (link.state() != LinkState.ACTIVE) {
            return;
        }
        if (stalled) {
            channel.forgiveSilence(now);
        }
        long silence = now - channel.lastReceivedNanos();
        if (silence > silenceNanos) {
            breaker.accept(
                    link,
                    Outcome.failed(
                            LlmStatus.LLM_FAILED,
                            "no sign of life from %s for %d ms"
                                    .formatted(link, Duration.ofNanos(silence).toMillis())));
        } else if (silence > heartbeatNanos
                && now - asked.getOrDefault(link, now - heartbeatNanos - 1) > heartbeatNanos) {
            asked.put(link, now);
            if (link.state() != LinkState.ACTIVE) {
                // It ended just now, and was forgotten before it was noted.
                asked.remove(link);
            }
            Thread.startVirtualThread(() -> ask(channel, now + heartbeatNanos));
        }
    }

    private static void ask(ControlChannel channel, long deadlineNanos) {
        // The answer has done its work by arriving.
        Outcome<Frame> ignored = channel.request(FrameType.PING, ByteString.EMPTY, deadlineNanos);
    }
}
