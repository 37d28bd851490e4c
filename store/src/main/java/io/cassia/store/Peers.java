package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.base.HostPort;
import io.cassia.status.Outcome;
import io.cassia.transfer.RouteReport;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.transport.Transport;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The nodes' segments as this client sees them: opened once per endpoint, near or far, and for a
 * while under suspicion after a failure. Guarded by the maps. A handle survives a restart of its
 * node, so nothing is ever dropped; nodes are few.
 */
final class Peers {
    /** After a failure a node comes last for so long. */
    private static final Duration SUSPICION = Duration.ofSeconds(5);

    /** How long a look at the engine's routes holds. */
    private static final Duration ROUTES_HOLD = Duration.ofSeconds(1);

    /** The order in which they are tried. */
    private static final List<Transport> NEAREST_FIRST = List.of(Transport.values());

    private static final int UNKNOWN_HOST = NEAREST_FIRST.size();
    private static final int SUSPECTED = UNKNOWN_HOST + 1;

    private final TransferEngine engine;
    private final Clock clock;
    private final String host;
    private final ConcurrentHashMap<String, SegmentHandle> byEndpoint = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Long> suspectedUntil = new ConcurrentHashMap<>();
    private volatile Routes routes = new Routes(Map.of(), Long.MIN_VALUE);

    private record Routes(Map<String, Integer> ranks, long untilNanos) {}

    Peers(TransferEngine engine, Clock clock) {
        this.engine = engine;
        this.clock = clock;
        this.host = hostOf(engine.localName());
    }

    private static String hostOf(String endpoint) {
        return HostPort.parse(endpoint, 1).map(HostPort::host).orElse(endpoint);
    }

    /** Null when this client has not met the node yet. */
    @Nullable SegmentHandle known(String endpoint) {
        return byEndpoint.get(endpoint);
    }

    /** Meets nodes, all at once, each within the time. */
    Map<String, Outcome<SegmentHandle>> open(Set<String> endpoints, Duration timeout) {
        if (endpoints.size() == 1) {
            String only = endpoints.iterator().next();
            return Map.of(only, open(only, timeout));
        }
        Map<String, CompletableFuture<Outcome<SegmentHandle>>> opening = new HashMap<>();
        for (String endpoint : endpoints) {
            opening.put(
                    endpoint,
                    CompletableFuture.supplyAsync(
                            () -> open(endpoint, timeout),
                            task -> Thread.ofVirtual().name("cassia-open").start(task)));
        }
        Map<String, Outcome<SegmentHandle>> opened = new HashMap<>();
        opening.forEach((endpoint, outcome) -> opened.put(endpoint, outcome.join()));
        return opened;
    }

    private Outcome<SegmentHandle> open(String endpoint, Duration timeout) {
        Outcome<SegmentHandle> opened = engine.openSegment(endpoint, timeout);
        if (opened instanceof Outcome.Ok<SegmentHandle>(SegmentHandle handle)) {
            byEndpoint.put(endpoint, handle);
        }
        return opened;
    }

    /** The smaller, the sooner it is tried: own process, own host, network, under suspicion. */
    int rank(String endpoint) {
        if (isSuspected(endpoint)) {
            return SUSPECTED;
        }
        if (endpoint.equals(engine.localName())) {
            return 0;
        }
        Integer known = routes().get(endpoint);
        if (known != null) {
            return known;
        }
        return hostOf(endpoint).equals(host) ? rank(Transport.SHM) : UNKNOWN_HOST;
    }

    private static int rank(Transport transport) {
        return NEAREST_FIRST.indexOf(transport);
    }

    /** Whether bytes of it come over a socket. */
    boolean isFar(String endpoint) {
        return rank(endpoint) >= rank(Transport.UDS);
    }

    /** Whether its bytes are copied inside this host, as far as one knows. */
    boolean isNear(String endpoint) {
        if (endpoint.equals(engine.localName())) {
            return true;
        }
        Integer known = routes().get(endpoint);
        return known != null && known < rank(Transport.UDS);
    }

    private Map<String, Integer> routes() {
        Routes seen = routes;
        long now = clock.nanos();
        if (seen.untilNanos == Long.MIN_VALUE || now - seen.untilNanos >= 0) {
            Map<String, Integer> ranks = new ConcurrentHashMap<>();
            for (RouteReport report : engine.routes()) {
                report.preferred().ifPresent(way -> ranks.put(report.segment(), rank(way)));
            }
            seen = new Routes(ranks, now + ROUTES_HOLD.toNanos());
            routes = seen;
        }
        return seen.ranks;
    }

    /** A transfer with it failed. */
    void suspect(String endpoint) {
        suspectedUntil.put(endpoint, clock.nanos() + SUSPICION.toNanos());
    }

    /** A transfer with it went well. */
    void trust(String endpoint) {
        if (!suspectedUntil.isEmpty()) {
            suspectedUntil.remove(endpoint);
        }
    }

    boolean isSuspected(String endpoint) {
        if (suspectedUntil.isEmpty()) {
            return false;
        }
        Long until = suspectedUntil.get(endpoint);
        if (until == null) {
            return false;
        }
        if (clock.nanos() - until < 0) {
            return true;
        }
        suspectedUntil.remove(endpoint, until);
        return false;
    }

    /** Those that a put had better keep away from. */
    Set<String> suspects() {
        Set<String> suspects = new TreeSet<>();
        for (String endpoint : suspectedUntil.keySet()) {
            if (isSuspected(endpoint)) {
                suspects.add(endpoint);
            }
        }
        return suspects;
    }
}
