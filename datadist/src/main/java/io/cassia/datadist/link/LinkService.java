package io.cassia.datadist.link;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes, keeps and ends the links of one instance. Guarded: calls that link or unlink exclude each
 * other, everything else runs beside them.
 */
public final class LinkService implements AutoCloseable {
    /** Most clusters in one call. */
    public static final int MAX_CLUSTERS = 16;

    private static final System.Logger LOG = System.getLogger(LinkService.class.getName());
    private static final Duration FAREWELL = Duration.ofMillis(200);

    private final Self self;
    private final LinkConfig config;
    private final Clock clock;
    private final LinkMeters meters;
    private final Announcer announcer;
    private final LinkRequests requests;
    private final LinkTable table;
    private final SocketGuard guard = new SocketGuard();
    private final Rest rest = new Rest();
    private final Dialer dialer;
    private final Acceptor acceptor;
    private final Unlinker unlinker;
    private final LinkWatch watch;
    private final Relinker relinker;
    private final ClusterCalls clusterCalls;
    private final List<LinkListener> listeners = new CopyOnWriteArrayList<>();
    private final ReentrantLock calls = new ReentrantLock(true);

    @GuardedBy("calls")
    private @Nullable Listener listener;

    private volatile boolean closing;

    public LinkService(
            long clusterId,
            LlmRole role,
            String segmentName,
            LinkConfig config,
            Clock clock,
            LinkMeters meters,
            Announcer announcer,
            LinkRequests requests) {
        this.self = new Self(clusterId, role, config, segmentName);
        this.config = config;
        this.clock = clock;
        this.meters = meters;
        this.announcer = announcer;
        this.requests = requests;
        this.table = new LinkTable(clusterId, config.maxLinks(), config.channels(), clock);
        LinkEvents events = new Events();
        this.dialer = new Dialer(self, config, clock, meters, guard, rest);
        this.acceptor = new Acceptor(self, config, clock, meters, guard, table, events);
        this.unlinker = new Unlinker(table, dialer, clock, events);
        this.watch = new LinkWatch(table, guard, clock, config, this::breakDown);
        this.clusterCalls = new ClusterCalls(table, clock);
        this.relinker = new Relinker(table, dialer, clock, config.relinkTries(), rest, events);
    }

    /** Begins to listen; {@code LLM_FAILED} when the port cannot be had. */
    public Outcome<Done> listen(IpInfo address) {
        calls.lock();
        try {
            Outcome<Listener> opened = Listener.open(address, meters, acceptor::handshake);
            if (opened instanceof Outcome.Ok<Listener>(Listener open)) {
                listener = open;
            }
            return opened.map(open -> Done.DONE);
        } finally {
            calls.unlock();
        }
    }

    /** Where this instance listens, with the real port. */
    public Optional<IpInfo> listenAddress() {
        calls.lock();
        try {
            return Optional.ofNullable(listener).map(Listener::address);
        } finally {
            calls.unlock();
        }
    }

    public LlmRole role() {
        return self.role();
    }

    public LinkTable table() {
        return table;
    }

    /** Links with up to 16 clusters, all at once; the rules of {@link LinkResult}. */
    public LinkResult link(List<ClusterInfo> clusters, Duration timeout) {
        if (config.roleGating() && self.role() != LlmRole.DECODER) {
            return LinkResult.refused(
                    LlmStatus.LLM_PARAM_INVALID,
                    "a %s does not link, a decoder does (llm.RoleGating=0 lifts that)"
                            .formatted(self.role()));
        }
        return forEach(clusters, timeout, LinkService::checkLink, this::linkOne, true);
    }

    /** Unlinks up to 16 clusters, all at once; the rules of {@link LinkResult}. */
    public LinkResult unlink(List<ClusterInfo> clusters, Duration timeout, boolean force) {
        return forEach(
                clusters,
                timeout,
                cluster -> Outcome.done(),
                (cluster, deadline) -> {
                    Outcome<Done> outcome = unlinker.unlink(cluster, force, deadline);
                    meters.attempt("unlink", outcome);
                    return outcome;
                },
                false);
    }

    private LinkResult forEach(
            List<ClusterInfo> clusters,
            Duration timeout,
            Function<ClusterInfo, Outcome<Done>> check,
            ClusterCalls.One one,
            boolean linking) {
        if (clusters.isEmpty() || timeout.isNegative() || timeout.isZero()) {
            return LinkResult.refused(
                    LlmStatus.LLM_PARAM_INVALID,
                    "%d clusters, timeout %s: at least one and above 0"
                            .formatted(clusters.size(), timeout));
        }
        if (clusters.size() > MAX_CLUSTERS) {
            return LinkResult.refused(
                    LlmStatus.LLM_CLUSTER_NUM_EXCEED_LIMIT,
                    "%d clusters in one call, %d are allowed"
                            .formatted(clusters.size(), MAX_CLUSTERS));
        }
        long deadline = Deadline.after(clock, timeout).atNanos();
        if (!enter(deadline)) {
            return LinkResult.refused(
                    LlmStatus.LLM_PROCESSING_LINK,
                    "another link or unlink call did not end within " + timeout.toMillis() + " ms");
        }
        try {
            List<Outcome<Done>> entries = clusterCalls.run(clusters, check, one, deadline);
            return linking ? LinkResult.ofLink(entries) : LinkResult.ofUnlink(entries);
        } finally {
            calls.unlock();
        }
    }

    private boolean enter(long deadlineNanos) {
        try {
            return calls.tryLock(deadlineNanos - clock.nanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static Outcome<Done> checkLink(ClusterInfo cluster) {
        if (cluster.remoteIps().size() != 1 || cluster.localIps().size() > 1) {
            return Outcome.failed(
                    LlmStatus.LLM_PARAM_INVALID,
                    "%s: %d remote and %d local addresses; exactly one remote and at most one local"
                            .formatted(
                                    cluster,
                                    cluster.remoteIps().size(),
                                    cluster.localIps().size()));
        }
        Outcome<Done> remote = cluster.remoteIps().getFirst().check();
        if (!remote.isOk() || cluster.localIps().isEmpty()) {
            return remote;
        }
        return cluster.localIps().getFirst().checkHost();
    }

    private Outcome<Done> linkOne(ClusterInfo cluster, long deadlineNanos) {
        Outcome<Done> outcome = dialOne(cluster, deadlineNanos);
        meters.attempt("link", outcome);
        LOG.log(
                Level.INFO,
                "link peer=%d outcome=%s".formatted(cluster.remoteClusterId(), outcome));
        return outcome;
    }

    private Outcome<Done> dialOne(ClusterInfo cluster, long deadlineNanos) {
        if (cluster.remoteClusterId() == self.clusterId()) {
            return Outcome.failed(LlmStatus.LLM_PARAM_INVALID, cluster + " is this cluster itself");
        }
        return switch (table.reserve(cluster)) {
            case Outcome.Failed<Link> failed -> failed.as();
            case Outcome.Ok<Link>(Link link) ->
                    relinker.dialInto(link, cluster, deadlineNanos)
                            .then(ok -> ready(link, deadlineNanos));
        };
    }

    /** A link over which nothing can be transferred is given up again, by both ends. */
    private Outcome<Done> ready(Link link, long deadlineNanos) {
        Outcome<Done> ready = requests.awaitReady(link, deadlineNanos);
        if (ready instanceof Outcome.Failed<Done> failed) {
            unlinker.withdraw(link, failed);
        }
        return ready;
    }

    /**
     * Asks a peer for a sign of life over its link. {@code LLM_NOT_YET_LINK}, {@code LLM_LINK_BUSY}
     * when a transfer runs on the link, {@code LLM_WAIT_PROC_TIMEOUT} without an answer; the link
     * stays as it is.
     */
    public Outcome<Done> check(long peerId, long deadlineNanos) {
        return table.require(peerId)
                .then(
                        link ->
                                link.acquire(OpKind.CHECK, deadlineNanos, false)
                                        .then(ok -> checkAcquired(link, deadlineNanos)));
    }

    private Outcome<Done> checkAcquired(Link link, long deadlineNanos) {
        long start = clock.nanos();
        try {
            Outcome<Done> outcome =
                    link.channel()
                            .request(FrameType.PING, ByteString.EMPTY, deadlineNanos)
                            .map(frame -> Done.DONE);
            meters.operation(link.peerId(), OpKind.CHECK, outcome, clock.nanos() - start);
            return outcome instanceof Outcome.Failed<Done> failed
                    ? failed.in("check of " + link)
                    : outcome;
        } finally {
            link.release(OpKind.CHECK);
        }
    }

    /**
     * Becomes another role. {@code LLM_EXIST_LINK} with any link, {@code LLM_FAILED} when the port
     * cannot be had; then nothing has changed. The new port is open before the old one closes.
     *
     * @param listen where to listen from now on; empty: not at all
     */
    public Outcome<Done> become(LlmRole role, Optional<IpInfo> listen) {
        calls.lock();
        try {
            if (!table.freezeIfEmpty("the cluster is switching its role")) {
                return Outcome.failed(
                        LlmStatus.LLM_EXIST_LINK,
                        "%d links exist, one with %s: unlink before the role is set"
                                .formatted(
                                        table.links().size(),
                                        table.links().isEmpty()
                                                ? "a cluster that just left"
                                                : table.links().getFirst()));
            }
            try {
                return moveListener(listen)
                        .map(
                                moved -> {
                                    self.become(role);
                                    return moved;
                                });
            } finally {
                table.thaw(
                        listener == null ? "the cluster listens no more: its role is another" : "");
            }
        } finally {
            calls.unlock();
        }
    }

    @GuardedBy("calls")
    private Outcome<Done> moveListener(Optional<IpInfo> listen) {
        Listener old = listener;
        if (old != null && listen.isPresent() && listen.get().equals(old.address())) {
            return Outcome.done();
        }
        if (listen.isPresent()) {
            switch (Listener.open(listen.get(), meters, acceptor::handshake)) {
                case Outcome.Failed<Listener> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<Listener>(Listener open) -> listener = open;
            }
        } else {
            listener = null;
        }
        if (old != null) {
            old.close();
        }
        return Outcome.done();
    }

    /** Ends an active link with a reason that operations and {@code whyBroken} tell. */
    public void breakDown(Link link, Outcome.Failed<?> reason) {
        if (!link.breakDown(reason)) {
            return;
        }
        if (link.state() == LinkState.CLOSED) {
            table.remove(link);
        } else {
            meters.broken(link.peerId());
            LOG.log(
                    Level.WARNING,
                    "link-broken peer=%s code=%s reason=%s"
                            .formatted(link, reason.code().label(), reason.detail()));
        }
        ended(link);
        if (!closing) {
            relinker.considerBroken(link);
        }
    }

    private void ended(Link link) {
        watch.forget(link);
        requests.onEnd(link);
        announce(link);
    }

    private void announce(Link link) {
        LinkInfo info = link.info();
        listeners.forEach(each -> announcer.call(() -> each.onLink(info)));
    }

    public void addListener(LinkListener added) {
        listeners.add(added);
    }

    /** Looks after idle links; to be called every few dozen milliseconds. */
    public void tick() {
        watch.tick();
    }

    public List<LinkInfo> infos() {
        return table.links().stream().map(Link::info).toList();
    }

    /** Tells the peers, ends all links and stops listening. */
    @Override
    public void close() {
        closing = true;
        table.freeze("the cluster is closing");
        // Ends what other calls wait for; they hold the lock until then.
        guard.closeAll();
        rest.end();
        calls.lock();
        try {
            if (listener != null) {
                listener.close();
                listener = null;
            }
            unlinker.farewell(table.links(), clock.nanos() + FAREWELL.toNanos());
        } finally {
            calls.unlock();
        }
    }

    /** Receives what comes over links, and hears of their changes. */
    private final class Events implements LinkEvents, ControlChannel.Receiver {
        private final Map<ControlChannel, Link> open = new ConcurrentHashMap<>();

        @Override
        public void opened(Link link) {
            open.put(link.channel(), link);
            requests.onOpen(link);
            link.channel().start("datadist-link-" + Long.toUnsignedString(link.peerId()), this);
            announce(link);
        }

        @Override
        public void changed(Link link) {
            ended(link);
        }

        @Override
        public void onRequest(ControlChannel channel, Frame request) {
            Link link = open.get(channel);
            if (link == null) {
                return;
            }
            switch (request.type()) {
                case PING -> channel.answer(request, Outcome.done());
                case CONFIRM -> link.confirm();
                case UNLINK -> peerUnlinks(link, channel, request);
                case PULL, PUSH, DONE -> requests.onRequest(link, request);
                case HELLO, CHALLENGE, PROOF, READY, STATUS, GRANT ->
                        throw new WireReader.Malformed(request.type() + " in the midst of a link");
            }
        }

        private void peerUnlinks(Link link, ControlChannel channel, Frame request) {
            boolean farewell = Unlinker.isFarewell(request);
            Outcome<Done> free =
                    farewell || link.state() == LinkState.UNLINKING
                            ? Outcome.done()
                            : link.beginUnlink();
            if (free.isOk()) {
                table.remove(link);
                String why = farewell ? "the peer was closed" : "the peer unlinked";
                boolean retired =
                        link.retireSoftly(Outcome.failed(LlmStatus.LLM_NOT_YET_LINK, why));
                watch.linger(channel);
                channel.answer(request, free);
                if (retired) {
                    ended(link);
                }
            } else {
                channel.answer(request, free);
            }
        }

        @Override
        public void onClosed(ControlChannel channel, Outcome.Failed<?> reason) {
            Link link = open.remove(channel);
            if (link != null) {
                breakDown(link, reason);
            }
        }
    }
}
