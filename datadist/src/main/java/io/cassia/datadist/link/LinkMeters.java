package io.cassia.datadist.link;

import io.cassia.status.Code;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * What the links of an instance count, by peer; the tag {@code cluster} is the instance itself.
 * Guarded by the registry.
 *
 * <p>Names: {@code cassia.datadist.operations} (timer by peer, kind, code), {@code
 * cassia.datadist.bytes} (by peer and kind), {@code cassia.datadist.link.wait} (time until the link
 * was free), {@code cassia.datadist.links} (attempts by outcome), {@code cassia.datadist.broken}
 * (by peer), {@code cassia.datadist.dropped} (by reason).
 */
public final class LinkMeters {
    /** More peers than this share one label, so that labels stay bounded. */
    private static final int MAX_PEERS = 1024;

    private final MeterRegistry registry;
    private final String own;
    private final Counter lateAnswers;
    private final Counter lostAnswers;
    private final Counter refusedHandshakes;
    private final Map<Long, String> peers = new ConcurrentHashMap<>();
    private final Map<String, Timer> timers = new ConcurrentHashMap<>();
    private final Map<String, DistributionSummary> bytes = new ConcurrentHashMap<>();

    public LinkMeters(MeterRegistry registry, long clusterId) {
        this.registry = registry;
        this.own = Long.toUnsignedString(clusterId);
        this.lateAnswers = dropped("late-answer");
        this.lostAnswers = dropped("answer-to-lost-peer");
        this.refusedHandshakes = dropped("handshake");
    }

    /** A counter of something that is dropped, and why. */
    public Counter dropped(String reason) {
        return Counter.builder("cassia.datadist.dropped")
                .tag("cluster", own)
                .tag("reason", reason)
                .register(registry);
    }

    void lateAnswer() {
        lateAnswers.increment();
    }

    void lostAnswer() {
        lostAnswers.increment();
    }

    void refusedHandshake() {
        refusedHandshakes.increment();
    }

    /** One finished operation on a link. */
    public void operation(long peerId, OpKind kind, Outcome<?> outcome, long nanos) {
        String peer = label(peerId);
        String code = codeName(outcome);
        timers.computeIfAbsent(
                        peer + ' ' + kind + ' ' + code,
                        key ->
                                Timer.builder("cassia.datadist.operations")
                                        .tag("cluster", own)
                                        .tag("peer", peer)
                                        .tag("kind", text(kind))
                                        .tag("code", code)
                                        .register(registry))
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    /** Bytes that one operation moved. */
    public void moved(long peerId, OpKind kind, long count) {
        String peer = label(peerId);
        bytes.computeIfAbsent(
                        peer + ' ' + kind,
                        key ->
                                DistributionSummary.builder("cassia.datadist.bytes")
                                        .baseUnit("bytes")
                                        .tag("cluster", own)
                                        .tag("peer", peer)
                                        .tag("kind", text(kind))
                                        .register(registry))
                .record((double) count);
    }

    /** Time that an operation waited for its link. */
    public void waited(long peerId, OpKind kind, long nanos) {
        String peer = label(peerId);
        timers.computeIfAbsent(
                        "wait " + peer + ' ' + kind,
                        key ->
                                Timer.builder("cassia.datadist.link.wait")
                                        .tag("cluster", own)
                                        .tag("peer", peer)
                                        .tag("kind", text(kind))
                                        .register(registry))
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    /** One attempt to link, or to unlink. */
    public void attempt(String action, Outcome<?> outcome) {
        registry.counter(
                        "cassia.datadist.links",
                        "cluster",
                        own,
                        "action",
                        action,
                        "code",
                        codeName(outcome))
                .increment();
    }

    void broken(long peerId) {
        registry.counter("cassia.datadist.broken", "cluster", own, "peer", label(peerId))
                .increment();
    }

    private String label(long peerId) {
        String known = peers.get(peerId);
        if (known != null) {
            return known;
        }
        if (peers.size() >= MAX_PEERS) {
            return "other";
        }
        return peers.computeIfAbsent(peerId, Long::toUnsignedString);
    }

    private static String codeName(Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Ok<?> ok -> LlmStatus.LLM_SUCCESS.name();
            case Outcome.Failed<?>(Code code, String detail) -> code.name();
        };
    }

    private static String text(OpKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }
}
