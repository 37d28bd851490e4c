package io.cassia.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.base.Closing;
import io.cassia.base.Deadline;
import io.cassia.rpc.cassia.ReservedMessages.GiveBack;
import io.cassia.rpc.cassia.ReservedMessages.Reserved;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.rpc.cassia.ReservedMethods;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Space that the master has reserved for the next put of this client (docs/adr/0067). Guarded.
 *
 * <pre>
 *   none ──two puts of one shape were stored: asked for with the end of the second──► held
 *     ▲                                                                                │
 *     ├── taken by the next put of that shape ─────────────────────────────────────────┤
 *     └── given back: another shape, too old, the client closes ───────────────────────┘
 * </pre>
 */
final class Reservations implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Reservations.class.getName());

    /** Nothing is asked for so long after the master had nothing to give. */
    private static final Duration QUIET = Duration.ofSeconds(1);

    /** For giving back what no put waits for. */
    private static final Duration LAST_WORD = Duration.ofSeconds(1);

    private final boolean on;
    private final Uuid client;
    private final MasterLink master;
    private final Clock clock;
    private final Closing closing = new Closing();
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private @Nullable Space held;

    /** Shape of the last put if all of it was stored. */
    @GuardedBy("lock")
    private @Nullable Shape last;

    /** Whether a message that asks for space is under way. */
    @GuardedBy("lock")
    private boolean asking;

    @GuardedBy("lock")
    private long quietUntilNanos;

    /** Whether a thread looks after the age of what is held. */
    @GuardedBy("lock")
    private boolean watched;

    /**
     * What two puts have in common if one may use the space of the other. Immutable.
     *
     * @param placement the options that decide where an object lies, and no others
     */
    record Shape(List<Long> lengths, ReplicateConfig placement) {
        /** Empty when no space is reserved for such puts. */
        static Optional<Shape> of(List<Long> lengths, ReplicateConfig config) {
            long bytes = 0;
            for (long length : lengths) {
                if (length == 0 || length > Wanted.MOST_BYTES - bytes) {
                    return Optional.empty();
                }
                bytes += length;
            }
            boolean plain =
                    config.nofReplicaNum() == 0
                            && config.dfsReplicaNum() == 0
                            && !config.preferAllocInSameNode()
                            && lengths.size() <= Wanted.MOST_OBJECTS;
            return plain ? Optional.of(new Shape(lengths, placement(config))) : Optional.empty();
        }

        private static ReplicateConfig placement(ReplicateConfig config) {
            return new ReplicateConfig(
                    config.replicaNum(),
                    0,
                    0,
                    0,
                    OptionalLong.empty(),
                    false,
                    config.preferredSegments(),
                    config.preferredSegment(),
                    List.of(),
                    false,
                    0,
                    config.hostId(),
                    Optional.empty());
        }
    }

    /**
     * Space for one put. Immutable.
     *
     * @param replicas for each length of the shape
     * @param untilNanos until when a put may begin to write there
     * @param termNanos until when it is this client's own
     */
    record Space(
            Shape shape, List<List<ReplicaDescriptor>> replicas, long untilNanos, long termNanos) {
        /** When nobody may write there any more. */
        Deadline term(Clock clock) {
            return new Deadline(clock, termNanos);
        }

        List<Long> ids() {
            return replicas.stream().map(each -> each.getFirst().id()).toList();
        }
    }

    Reservations(boolean on, Uuid client, MasterLink master, Clock clock) {
        this.on = on && master.can(ReservedMethods.CAPABILITY) && master.isChecked();
        this.client = client;
        this.master = master;
        this.clock = clock;
        this.quietUntilNanos = clock.nanos();
    }

    boolean areOn() {
        return on;
    }

    /** The space for a put of that shape, which is the caller's now; any other goes back. */
    Optional<Space> take(Optional<Shape> shape, Deadline deadline) {
        if (!on) {
            return Optional.empty();
        }
        Space found = takeHeld();
        if (found == null) {
            return Optional.empty();
        }
        boolean fits =
                shape.isPresent()
                        && shape.get().equals(found.shape)
                        && clock.nanos() - found.untilNanos < 0;
        if (!fits) {
            giveBack(found.ids(), deadline);
        }
        return fits ? Optional.of(found) : Optional.empty();
    }

    private @Nullable Space takeHeld() {
        lock.lock();
        try {
            Space taken = held;
            held = null;
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /**
     * What to ask for at the end of a put of that shape; nothing, as a rule, or what {@link #keep}
     * or {@link #unanswered} must follow.
     */
    Wanted next(Optional<Shape> shape) {
        if (!on || shape.isEmpty()) {
            return Wanted.NOTHING;
        }
        lock.lock();
        try {
            boolean again =
                    shape.get().equals(last)
                            && held == null
                            && !asking
                            && !closing.hasBegun()
                            && clock.nanos() - quietUntilNanos >= 0;
            asking |= again;
            return again ? new Wanted(shape.get().lengths, shape.get().placement) : Wanted.NOTHING;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The master's answer to what was asked for.
     *
     * @param sentNanos when it was asked: before the master began to count
     */
    void keep(Shape shape, Reserved reserved, long sentNanos) {
        Space space =
                new Space(
                        shape,
                        reserved.spaces(),
                        MasterLink.until(reserved.ttlMs(), sentNanos),
                        MasterLink.until(reserved.termMs(), sentNanos));
        boolean there = isSound(space);
        boolean kept = false;
        lock.lock();
        try {
            asking = false;
            if (!there) {
                quietUntilNanos = clock.nanos() + QUIET.toNanos();
            } else if (!closing.hasBegun() && held == null) {
                held = space;
                kept = true;
                watch();
            }
        } finally {
            lock.unlock();
        }
        if (there && !kept) {
            giveBack(space.ids(), Deadline.after(clock, LAST_WORD));
        }
    }

    private static boolean isSound(Space space) {
        return space.replicas.size() == space.shape.lengths.size()
                && space.replicas.stream().noneMatch(List::isEmpty);
    }

    /** What was asked for was not answered. */
    void unanswered() {
        lock.lock();
        try {
            asking = false;
        } finally {
            lock.unlock();
        }
    }

    /** A put has ended; the shape is empty when not all of it was stored. */
    void ended(Optional<Shape> shape) {
        if (!on) {
            return;
        }
        lock.lock();
        try {
            last = shape.orElse(null);
        } finally {
            lock.unlock();
        }
    }

    /** Nobody writes there any more. Who is not heard is understood by the release timeout. */
    void giveBack(List<Long> spaces, Deadline deadline) {
        if (!spaces.isEmpty()) {
            master.soon(ReservedMethods.GIVE_BACK, new GiveBack(client, spaces), deadline);
        }
    }

    @GuardedBy("lock")
    private void watch() {
        if (!watched) {
            watched = true;
            Thread.ofVirtual().name("cassia-reserved-space").start(this::watchAge);
        }
    }

    /** Gives back what no put takes in time; ends when nothing is held. */
    private void watchAge() {
        Space old = null;
        boolean over = false;
        while (!over) {
            long leftNanos = 0;
            lock.lock();
            try {
                leftNanos = held == null ? 0 : held.untilNanos - clock.nanos();
                if (leftNanos <= 0) {
                    old = held;
                    held = null;
                    watched = false;
                    over = true;
                }
            } finally {
                lock.unlock();
            }
            over |= !over && closing.pause(Duration.ofNanos(leftNanos));
        }
        if (old != null) {
            giveBack(old.ids(), Deadline.after(clock, LAST_WORD));
        }
    }

    /** Gives back what is held, and asks for nothing any more. */
    @Override
    public void close() {
        closing.begin();
        Space left = takeHeld();
        if (left == null) {
            return;
        }
        Outcome<Done> told =
                master.call(
                        ReservedMethods.GIVE_BACK,
                        new GiveBack(client, left.ids()),
                        Deadline.after(clock, LAST_WORD));
        if (told instanceof Outcome.Failed<Done> failed) {
            LOG.log(
                    Level.DEBUG,
                    "reserved space not given back spaces={0} code={1}",
                    Integer.toString(left.replicas.size()),
                    failed.code().label());
        }
    }
}
