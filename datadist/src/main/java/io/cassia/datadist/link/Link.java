package io.cassia.datadist.link;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.LlmStatus;
import io.cassia.status.Outcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One end of a link. Guarded. Its life is drawn at {@link LinkState}; who changes the state does so
 * here, and operations see the change by their channel closing.
 */
public final class Link {
    /**
     * How long an operation of one end waits for one of the other end to pass before the link
     * counts as busy: who has just heard that a transfer is over may find that the other end has
     * not.
     */
    static final long CROSSING_NANOS = Duration.ofMillis(10).toNanos();

    private final long peerId;
    private final boolean dialed;
    private final String address;
    private final Clock clock;
    private final long madeAtNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private final LinkUse use;

    @GuardedBy("lock")
    private LinkState state = LinkState.CONNECTING;

    @GuardedBy("lock")
    private boolean confirmed;

    @GuardedBy("lock")
    private Outcome.@Nullable Failed<?> end;

    private volatile @Nullable ControlChannel channel;
    private volatile @Nullable Peer peer;

    Link(long peerId, boolean dialed, String address, int channels, Clock clock) {
        this.peerId = peerId;
        this.dialed = dialed;
        this.address = address;
        this.clock = clock;
        this.use = new LinkUse(channels);
        this.madeAtNanos = clock.nanos();
    }

    public long peerId() {
        return peerId;
    }

    /** Whether this side dialled. */
    public boolean isDialed() {
        return dialed;
    }

    public String address() {
        return address;
    }

    @Override
    public String toString() {
        return "cluster " + Long.toUnsignedString(peerId) + " at " + address;
    }

    public LinkState state() {
        lock.lock();
        try {
            return state;
        } finally {
            lock.unlock();
        }
    }

    /** What the peer said of itself; only for links that were active. */
    public Peer peer() {
        Peer known = peer;
        if (known == null) {
            throw new IllegalStateException(this + " was never active");
        }
        return known;
    }

    /** The control connection; only for links that were active. */
    public ControlChannel channel() {
        ControlChannel open = channel;
        if (open == null) {
            throw new IllegalStateException(this + " was never active");
        }
        return open;
    }

    @Nullable ControlChannel channelOrNull() {
        return channel;
    }

    @Nullable Peer peerOrNull() {
        return peer;
    }

    /** CONNECTING to ACTIVE; false when somebody has given the link up meanwhile. */
    boolean activate(ControlChannel opened, Peer answered, boolean isConfirmed) {
        lock.lock();
        try {
            if (state != LinkState.CONNECTING) {
                return false;
            }
            peer = answered;
            channel = opened;
            confirmed = isConfirmed;
            state = LinkState.ACTIVE;
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    void confirm() {
        lock.lock();
        try {
            confirmed = true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * ACTIVE to BROKEN, with the reason that running operations get; from other states only the
     * connection is closed. True when the state changed. An unconfirmed link cannot break, it is
     * closed.
     */
    boolean breakDown(Outcome.Failed<?> reason) {
        boolean broke = false;
        lock.lock();
        try {
            if (state == LinkState.ACTIVE) {
                state = confirmed ? LinkState.BROKEN : LinkState.CLOSED;
                end = reason;
                broke = true;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
        closeChannel(reason);
        return broke;
    }

    /** Any state to CLOSED. True when the state changed. */
    @CanIgnoreReturnValue
    boolean retire(Outcome.Failed<?> reason) {
        boolean retired;
        lock.lock();
        try {
            retired = state != LinkState.CLOSED;
            if (retired) {
                state = LinkState.CLOSED;
                end = reason;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
        closeChannel(reason);
        return retired;
    }

    /** Like {@link #retire}, but leaves the connection to the peer, who is about to close it. */
    boolean retireSoftly(Outcome.Failed<?> reason) {
        lock.lock();
        try {
            boolean retired = state != LinkState.CLOSED;
            state = LinkState.CLOSED;
            end = reason;
            changed.signalAll();
            return retired;
        } finally {
            lock.unlock();
        }
    }

    private void closeChannel(Outcome.Failed<?> reason) {
        ControlChannel open = channel;
        if (open != null) {
            open.close(reason);
        }
    }

    /**
     * ACTIVE to UNLINKING. {@code LLM_LINK_BUSY} when an operation of either side runs; {@code
     * LLM_NOT_YET_LINK} in any other state.
     */
    Outcome<Done> beginUnlink() {
        lock.lock();
        try {
            if (state != LinkState.ACTIVE) {
                return notLinked();
            }
            long crossing = clock.nanos() + CROSSING_NANOS;
            while (use.isBusyForPeerOnly() && awaitChange(crossing)) {}
            String busy = use.busy();
            if (!busy.isEmpty()) {
                return busy(busy);
            }
            if (state != LinkState.ACTIVE) {
                return notLinked();
            }
            state = LinkState.UNLINKING;
            changed.signalAll();
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }

    /** UNLINKING back to ACTIVE: the peer is using the link. */
    void cancelUnlink() {
        lock.lock();
        try {
            if (state == LinkState.UNLINKING) {
                state = LinkState.ACTIVE;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes the link for an operation of this side, to be released by {@link #release}. {@code
     * LLM_LINK_BUSY} at once when an operation of another kind runs, or when one of the same kind
     * has not ended by the deadline; {@code LLM_NOT_YET_LINK} when the link is not active.
     *
     * @param patient whether to queue behind operations of another kind too
     */
    public Outcome<Done> acquire(OpKind kind, long deadlineNanos, boolean patient) {
        long crossing = Math.min(deadlineNanos, clock.nanos() + CROSSING_NANOS);
        lock.lock();
        try {
            while (true) {
                if (state != LinkState.ACTIVE && (state != LinkState.CONNECTING || dialed)) {
                    return state == LinkState.UNLINKING ? busy("an unlink") : notLinked();
                }
                String own = use.conflict(kind);
                String peers = use.conflictWithPeer(kind);
                boolean free = own.isEmpty() && peers.isEmpty() && use.hasFreeChannel(kind);
                if (free && state == LinkState.ACTIVE) {
                    use.acquire(kind);
                    return Outcome.done();
                }
                if (!awaitChange(patienceFor(own, peers, patient, deadlineNanos, crossing))) {
                    return state == LinkState.CONNECTING
                            ? notLinked()
                            : busy(
                                    own.isEmpty() && peers.isEmpty()
                                            ? "another " + kind + " for the whole time budget"
                                            : own + peers);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private static long patienceFor(
            String own, String peers, boolean patient, long deadlineNanos, long crossing) {
        if (patient || (own.isEmpty() && peers.isEmpty())) {
            return deadlineNanos;
        }
        return own.isEmpty() ? crossing : crossing - CROSSING_NANOS;
    }

    public void release(OpKind kind) {
        lock.lock();
        try {
            use.release(kind);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Counts an operation of the peer, until {@link #endServing}. {@code LLM_LINK_BUSY} when one of
     * another kind runs on this side.
     *
     * @param wait whether to wait a moment for that one to pass; false on the reader thread
     */
    public Outcome<Done> beginServing(OpKind kind, boolean wait) {
        long crossing = clock.nanos() + (wait ? CROSSING_NANOS : 0);
        lock.lock();
        try {
            while (true) {
                if (state != LinkState.ACTIVE) {
                    return state == LinkState.UNLINKING ? busy("an unlink") : notLinked();
                }
                String conflict = use.conflictForPeer(kind);
                if (conflict.isEmpty()) {
                    use.beginServing(kind);
                    return Outcome.done();
                }
                if (!awaitChange(crossing)) {
                    return busy(conflict);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    public void endServing(OpKind kind) {
        lock.lock();
        try {
            use.endServing(kind);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no operation of this side runs; false when the deadline came first. */
    boolean awaitIdle(long deadlineNanos) {
        lock.lock();
        try {
            while (use.localCount() > 0) {
                if (!awaitChange(deadlineNanos)) {
                    return false;
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Why the link ended, for operations that see their channel closed; empty while it is there.
     */
    public Optional<Outcome.Failed<?>> end() {
        lock.lock();
        try {
            return Optional.ofNullable(end);
        } finally {
            lock.unlock();
        }
    }

    /** What broke the link; empty for a link that is not broken. */
    public String whyBroken() {
        lock.lock();
        try {
            return state == LinkState.BROKEN && end != null ? reason(end) : "";
        } finally {
            lock.unlock();
        }
    }

    LinkInfo info() {
        long now = clock.nanos();
        ControlChannel open = channel;
        Peer known = peer;
        lock.lock();
        try {
            return new LinkInfo(
                    peerId,
                    state,
                    dialed,
                    address,
                    known == null ? Optional.empty() : Optional.of(known.role()),
                    state == LinkState.BROKEN && end != null ? reason(end) : "",
                    now - madeAtNanos,
                    open == null ? now - madeAtNanos : now - open.lastReceivedNanos());
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private Outcome<Done> notLinked() {
        return switch (state) {
            case BROKEN ->
                    Outcome.failed(
                            LlmStatus.LLM_NOT_YET_LINK,
                            "the link with %s is broken (%s): unlink and link again"
                                    .formatted(this, end == null ? "" : reason(end)));
            case CONNECTING ->
                    Outcome.failed(
                            LlmStatus.LLM_NOT_YET_LINK,
                            "the link with %s is being made".formatted(this));
            case ACTIVE, UNLINKING, CLOSED ->
                    Outcome.failed(
                            LlmStatus.LLM_NOT_YET_LINK,
                            "the link with %s has ended%s"
                                    .formatted(this, end == null ? "" : ": " + reason(end)));
        };
    }

    private Outcome<Done> busy(String by) {
        return Outcome.failed(
                LlmStatus.LLM_LINK_BUSY,
                "the link with %s is in use by %s; try again when that has ended"
                        .formatted(this, by));
    }

    private static String reason(Outcome.Failed<?> failed) {
        Code code = failed.code();
        return code.name() + ", " + failed.detail();
    }

    @SuppressWarnings("WaitNotInLoop") // The callers loop.
    @GuardedBy("lock")
    private boolean awaitChange(long deadlineNanos) {
        long left = deadlineNanos - clock.nanos();
        if (left <= 0) {
            return false;
        }
        try {
            return changed.await(left, TimeUnit.NANOSECONDS) || clock.nanos() < deadlineNanos;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
