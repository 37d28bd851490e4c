package io.cassia.transfer.transport.tcp;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.HostPort;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.net.PlainWire;
import io.cassia.transfer.net.Target;
import io.cassia.transfer.net.UnixSockets;
import io.cassia.transfer.net.Wire;
import io.cassia.transfer.transport.Route;
import io.cassia.transfer.transport.Run;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Over sockets to one peer, by a few persistent lanes. Guarded: the lock is never held during I/O.
 *
 * <p>Who wants to carry a run takes a permit, of which there are as many as lanes, then an idle
 * lane or a new one. After a failed connect nobody connects for a while, see {@link Backoff}:
 * requests fail at once meanwhile, so that callers can turn to another peer.
 */
public final class TcpRoute implements Route {
    private static final Duration MAX_IDLE = Duration.ofMinutes(5);
    private static final int MAX_WAITING = 4096;

    private final Target peer;
    private final String peerName;
    private final boolean acknowledged;
    private final ClientContext context;
    private final Semaphore permits;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final ArrayDeque<Lane> idle = new ArrayDeque<>();

    @GuardedBy("lock")
    private final Set<Lane> busy = new HashSet<>();

    /** Counts breaks: a lane that is older than the last one may be dead, too. */
    @GuardedBy("lock")
    private int generation;

    @GuardedBy("lock")
    private final Backoff backoff = new Backoff();

    @GuardedBy("lock")
    private boolean closed;

    /**
     * A route; connects when the first run comes.
     *
     * @param segment published name, for details of failures
     * @param peer its data port, or its socket on this host
     * @param acknowledged whether the peer speaks version 2
     */
    public TcpRoute(String segment, Target peer, boolean acknowledged, ClientContext context) {
        this.peer = peer;
        this.peerName = "segment " + segment + " at " + peer;
        this.acknowledged = acknowledged;
        this.context = context;
        this.permits = new Semaphore(context.lanesPerPeer(), true);
    }

    /** Whether it leads there in this version of the protocol. */
    public boolean leadsTo(Target target, boolean isAcknowledged) {
        return peer.equals(target) && acknowledged == isAcknowledged;
    }

    /** Its data port, or its socket on this host. */
    public Target peer() {
        return peer;
    }

    /** What it is at the moment. */
    public enum State {
        /** No connection yet, or none any more. */
        UNCONNECTED,
        /** All connections wait for work. */
        IDLE,
        /** Bytes move. */
        BUSY,
        /** The last connect has failed, and the next one is not due yet. */
        BACKING_OFF,
        /** Given up. */
        CLOSED;

        /** For people. */
        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * How it stands. Immutable.
     *
     * @param state what it is
     * @param idle connections that wait for work
     * @param busy connections that move bytes
     */
    public record Standing(State state, int idle, int busy) {}

    /** How it stands at this moment. */
    public Standing standing() {
        lock.lock();
        try {
            return new Standing(state(), idle.size(), busy.size());
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private State state() {
        if (closed) {
            return State.CLOSED;
        }
        if (!busy.isEmpty()) {
            return State.BUSY;
        }
        if (backoff.leftNanos(context.clock().nanos()) > 0) {
            return State.BACKING_OFF;
        }
        return idle.isEmpty() ? State.UNCONNECTED : State.IDLE;
    }

    @Override
    public void carry(Run run) {
        if (!acquire(run)) {
            return;
        }
        try {
            if (acknowledged) {
                carryOnLane(run);
            } else {
                carryOnePerConnection(run);
            }
        } finally {
            permits.release();
        }
    }

    private boolean acquire(Run run) {
        if (permits.getQueueLength() >= MAX_WAITING) {
            busy(run, MAX_WAITING + " callers wait already");
            return false;
        }
        long left = run.head().deadlineNanos() - context.clock().nanos();
        try {
            if (permits.tryAcquire(left, TimeUnit.NANOSECONDS)) {
                return true;
            }
            busy(run, "none became free within the deadline");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            lose(run, Run.Stop.INTERRUPTED, TransferCode.ERR_SOCKET, "interrupted");
        }
        return false;
    }

    private void busy(Run run, String why) {
        lose(
                run,
                Run.Stop.BUSY,
                TransferCode.ERR_TOO_MANY_REQUESTS,
                "all %d lanes are in use, %s".formatted(context.lanesPerPeer(), why));
    }

    private void lose(Run run, Run.Stop stop, Code code, String why) {
        run.lose(stop, code, peerName + ": " + why);
    }

    private void carryOnLane(Run run) {
        Lane lane = borrow(run);
        if (lane == null) {
            return;
        }
        boolean usable = false;
        try {
            usable = lane.carry(run);
        } finally {
            giveBack(lane, usable, usable);
        }
    }

    private void carryOnePerConnection(Run run) {
        while (!run.isDone()) {
            Lane lane = connect(run);
            if (lane == null) {
                return;
            }
            boolean done = false;
            try {
                done = lane.carryHeadUnacknowledged(run);
            } finally {
                giveBack(lane, false, done);
            }
            if (!done) {
                return;
            }
        }
    }

    private @Nullable Lane borrow(Run run) {
        Lane lane = null;
        lock.lock();
        try {
            while (lane == null && !idle.isEmpty()) {
                lane = idle.pop();
                context.metrics().lanesIdle().decrementAndGet();
                if (isStale(lane)) {
                    // Middle boxes forget idle connections without telling; the peer may have, too.
                    lane.close();
                    lane = null;
                }
            }
            if (lane != null) {
                busy.add(lane);
                context.metrics().lanesBusy().incrementAndGet();
            }
        } finally {
            lock.unlock();
        }
        return lane != null ? lane : connect(run);
    }

    private @Nullable Lane connect(Run run) {
        if (!mayConnect(run)) {
            return null;
        }
        long began = context.clock().nanos();
        context.metrics().lanesConnecting().incrementAndGet();
        Outcome<Wire> connected;
        try {
            connected = connect(run.head().deadlineNanos());
        } finally {
            context.metrics().lanesConnecting().decrementAndGet();
        }
        return switch (connected) {
            case Outcome.Ok<Wire>(Wire wire) -> admit(run, wire);
            case Outcome.Failed<Wire>(Code code, String detail) -> {
                if (Thread.currentThread().isInterrupted()) {
                    lose(run, Run.Stop.INTERRUPTED, code, "interrupted: " + detail);
                } else if (run.head().deadlineNanos() - context.clock().nanos() <= 0) {
                    // Says more about the caller's patience than about the peer.
                    lose(run, Run.Stop.TIMED_OUT, code, detail);
                } else {
                    backOff(began, detail);
                    lose(run, Run.Stop.UNREACHABLE, code, detail);
                }
                yield null;
            }
        };
    }

    private Outcome<Wire> connect(long deadlineNanos) {
        return switch (peer) {
            case Target.Port(HostPort(String host, int port)) ->
                    context.dialer()
                            .connect(host, port, deadlineNanos)
                            .then(
                                    channel ->
                                            context.gate()
                                                    .enter(channel, host, port, deadlineNanos));
            // Both ends have proved themselves by what they can read in the owner's control file.
            case Target.Socket(Path path) -> UnixSockets.connect(path).map(PlainWire::new);
        };
    }

    private boolean mayConnect(Run run) {
        lock.lock();
        try {
            if (closed) {
                lose(run, Run.Stop.CLOSED, TransferCode.ERR_CONTEXT, "the connection was closed");
                return false;
            }
            long wait = backoff.leftNanos(context.clock().nanos());
            if (wait == 0) {
                return true;
            }
            lose(
                    run,
                    Run.Stop.BACKING_OFF,
                    TransferCode.ERR_SOCKET,
                    "connects again in %d ms after: %s"
                            .formatted(wait / 1_000_000, backoff.cause()));
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void backOff(long began, String cause) {
        lock.lock();
        try {
            backoff.failed(began, context.clock().nanos(), cause);
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Lane admit(Run run, Wire wire) {
        Lane lane = new Lane(wire, context, peerName);
        lock.lock();
        try {
            backoff.succeeded();
            if (!closed) {
                lane.generation(generation);
                busy.add(lane);
                context.metrics().lanesBusy().incrementAndGet();
                return lane;
            }
        } finally {
            lock.unlock();
        }
        lane.close();
        lose(run, Run.Stop.CLOSED, TransferCode.ERR_CONTEXT, "the connection was closed");
        return null;
    }

    /**
     * Takes a lane back.
     *
     * @param keep whether it may carry the next run
     * @param clean whether all that was sent has been answered; otherwise the rest must not reach
     *     the peer any more
     */
    private void giveBack(Lane lane, boolean keep, boolean clean) {
        boolean kept = false;
        lock.lock();
        try {
            busy.remove(lane);
            context.metrics().lanesBusy().decrementAndGet();
            if (keep && !closed && lane.generation() == generation) {
                kept = true;
                lane.idleSince(context.clock().nanos());
                idle.push(lane);
                context.metrics().lanesIdle().incrementAndGet();
            }
        } finally {
            lock.unlock();
        }
        if (!clean) {
            lane.abort();
        } else if (!kept) {
            lane.close();
        }
    }

    /**
     * Closes the idle lanes, and the busy ones when they come back: one that broke tells that its
     * siblings may be dead, too, and a retry must not meet the next dead one.
     */
    public void dropIdle() {
        lock.lock();
        try {
            generation++;
            context.metrics().lanesIdle().addAndGet(-idle.size());
            idle.forEach(Lane::close);
            idle.clear();
        } finally {
            lock.unlock();
        }
    }

    private boolean isStale(Lane lane) {
        return context.clock().nanos() - lane.idleSinceNanos() > MAX_IDLE.toNanos();
    }

    /** Closes the lanes that have been idle for so long that nobody would borrow them. */
    public void dropStale() {
        lock.lock();
        try {
            for (Lane lane : List.copyOf(idle)) {
                if (isStale(lane)) {
                    idle.remove(lane);
                    context.metrics().lanesIdle().decrementAndGet();
                    lane.close();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            busy.forEach(Lane::abort);
        } finally {
            lock.unlock();
        }
        dropIdle();
    }
}
