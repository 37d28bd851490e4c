package io.cassia.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Closing;
import io.cassia.master.core.Command;
import io.cassia.master.core.CoreConfig;
import io.cassia.master.core.CoreCount;
import io.cassia.master.core.Cursor;
import io.cassia.master.core.Effect;
import io.cassia.master.core.MasterCore;
import io.cassia.master.core.ObjectEvent;
import io.cassia.master.core.Selection;
import io.cassia.master.core.Slice;
import io.cassia.master.core.TenantToll;
import io.cassia.rpc.BatchGate;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
import io.cassia.rpc.cassia.CassiaMessages.PrefixHit;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Guarded. The one writer of the core is a lock: connection threads apply their commands
 * themselves, taking the lock once per batch of requests, so that no request is handed from thread
 * to thread. A timer thread takes the same lock. What takes long goes in slices, between which
 * others get the lock.
 */
final class MasterLoop implements BatchGate, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(MasterLoop.class.getName());

    /** Time between two ticks of the core. */
    static final Duration TICK = Duration.ofMillis(100);

    /** A batch that has held the lock for so long lets others in between two commands. */
    private static final long LONGEST_HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** How long the lock is left alone for a waiter to wake up and take it. */
    private static final long YIELD_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    /** Items of a batch that are handled without letting others in. */
    static final int LONGEST_PIECE = 1024;

    /** Keys of one question for a prefix. */
    private static final int LONGEST_PREFIX = 100_000;

    /** Matches of one GetReplicaListByRegex. */
    private static final int MOST_MATCHES = 100_000;

    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final MasterCore core;

    /** Time of the batch being handled, which is later than the arrival of its requests. */
    @GuardedBy("lock")
    private long nowNanos;

    @GuardedBy("lock")
    private long heldSinceNanos;

    /** When the timer came round last. */
    private volatile long tickedNanos;

    private final Closing closing = new Closing();
    private final Thread timer;

    MasterLoop(CoreConfig config, Clock clock) {
        this.clock = clock;
        this.core = new MasterCore(config, clock.nanos());
        this.tickedNanos = clock.nanos();
        this.timer =
                Thread.ofPlatform().daemon().name("cassia-master-timer").unstarted(this::tickAll);
    }

    /** Starts the timer. */
    void start() {
        timer.start();
    }

    @Override
    @SuppressWarnings("LockNotBeforeTry") // exit releases it
    public void enter() {
        lock.lock();
        lock.lock();
        try {
            nowNanos = clock.nanos();
            heldSinceNanos = nowNanos;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void exit() {
        lock.unlock();
    }

    /** Applies a command, within the batch of the calling thread if it has entered one. */
    <R> R apply(Command<R> command) {
        boolean inBatch = lock.isHeldByCurrentThread();
        lock.lock();
        try {
            if (!inBatch) {
                nowNanos = clock.nanos();
            }
            return core.apply(command, nowNanos);
        } finally {
            lock.unlock();
        }
    }

    /** Applies a command over items in pieces, so that no list of items keeps others waiting. */
    <I, R> List<R> applyInPieces(List<I> items, Function<List<I>, Command<List<R>>> command) {
        if (items.size() <= LONGEST_PIECE) {
            return applyLong(command.apply(items));
        }
        List<R> answers = new ArrayList<>(items.size());
        for (int from = 0; from < items.size(); from += LONGEST_PIECE) {
            int to = Math.min(items.size(), from + LONGEST_PIECE);
            answers.addAll(applyLong(command.apply(items.subList(from, to))));
        }
        return answers;
    }

    /**
     * As {@link #apply}, for a command that may take long: lets others in if the batch was long.
     */
    <R> R applyLong(Command<R> command) {
        R answer = apply(command);
        boolean longHeld;
        lock.lock();
        try {
            longHeld = clock.nanos() - heldSinceNanos > LONGEST_HOLD_NANOS;
        } finally {
            lock.unlock();
        }
        if (longHeld) {
            letOthersIn();
        }
        return answer;
    }

    /** Does something that takes its time without the lock, also within a batch. */
    <R> R outside(Supplier<R> action) {
        int holds = lock.getHoldCount();
        for (int i = 0; i < holds; i++) {
            lock.unlock();
        }
        try {
            return action.get();
        } finally {
            for (int i = 0; i < holds; i++) {
                enter();
            }
        }
    }

    /** Gives the lock to a waiter, if there is one; the calling thread may be in a batch. */
    private void letOthersIn() {
        int holds = lock.getHoldCount();
        for (int i = 0; i < holds; i++) {
            lock.unlock();
        }
        if (lock.hasQueuedThreads()) {
            LockSupport.parkNanos(YIELD_NANOS);
        }
        // Entering anew takes the time anew.
        for (int i = 0; i < holds; i++) {
            enter();
        }
    }

    /** Removes all objects that are meant and can be removed; how many. */
    Outcome<Long> remove(Selection selection, boolean force) {
        Cursor at = Cursor.START;
        long removed = 0;
        while (true) {
            Outcome<Slice<Long>> slice = apply(new Command.RemoveSlice(selection, force, at));
            switch (slice) {
                case Outcome.Failed<Slice<Long>> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<Slice<Long>>(Slice<Long> done) -> {
                    removed += done.part();
                    if (done.rest().isEmpty()) {
                        return Outcome.ok(removed);
                    }
                    at = done.rest().get();
                }
            }
            letOthersIn();
        }
    }

    /** Readable objects whose keys match, each leased. */
    Outcome<Map<ByteString, List<ReplicaDescriptor>>> get(Selection selection) {
        Map<ByteString, List<ReplicaDescriptor>> found = new LinkedHashMap<>();
        Cursor at = Cursor.START;
        while (true) {
            Outcome<Slice<Map<ByteString, List<ReplicaDescriptor>>>> slice =
                    apply(new Command.GetSlice(selection, at));
            switch (slice) {
                case Outcome.Failed<Slice<Map<ByteString, List<ReplicaDescriptor>>>> failed -> {
                    return failed.as();
                }
                case Outcome.Ok<Slice<Map<ByteString, List<ReplicaDescriptor>>>>(
                                Slice<Map<ByteString, List<ReplicaDescriptor>>> done) -> {
                    found.putAll(done.part());
                    if (done.rest().isEmpty()) {
                        return Outcome.ok(found);
                    }
                    at = done.rest().get();
                }
            }
            if (found.size() > MOST_MATCHES) {
                return Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        "the expression matches more than "
                                + MOST_MATCHES
                                + " keys; use a narrower one");
            }
            letOthersIn();
        }
    }

    /** The leading readable keys, in pieces under one lease; INVALID_PARAMS for too many. */
    Outcome<PrefixHit> longestPrefix(LongestPrefix query) {
        if (query.keys().size() <= LONGEST_PIECE) {
            return applyLong(new Command.LongestPrefix(query));
        }
        if (query.keys().size() > LONGEST_PREFIX) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "keys=" + query.keys().size() + ", at most " + LONGEST_PREFIX);
        }
        List<Outcome<ReplicaList>> objects = new ArrayList<>();
        long count = 0;
        long leaseId = 0;
        long leaseMs = 0;
        for (int from = 0; from < query.keys().size() && count == from; from += LONGEST_PIECE) {
            int to = Math.min(query.keys().size(), from + LONGEST_PIECE);
            LongestPrefix piece =
                    new LongestPrefix(
                            query.keys().subList(from, to),
                            query.tenant(),
                            query.leaseTtlMs(),
                            query.counted(),
                            query.withReplicas());
            Outcome<PrefixHit> found = applyLong(new Command.LongestPrefix(piece, leaseId));
            if (!(found instanceof Outcome.Ok<PrefixHit>(PrefixHit hit))) {
                if (leaseId != 0) {
                    Done _ = apply(new Command.Release(List.of(leaseId)));
                }
                return found;
            }
            objects.addAll(hit.objects());
            count += hit.count();
            leaseId = hit.leaseId();
            // The lease runs from the first piece on; who counts from his request is on the safe
            // side.
            leaseMs = hit.leaseTtlMs();
        }
        return Outcome.ok(new PrefixHit(count, leaseId, leaseMs, objects));
    }

    /** A page of keys in byte order. */
    List<KeyInfo> list(ListKeys query) {
        TreeMap<ByteString, KeyInfo> page = new TreeMap<>();
        Optional<Cursor> at = Optional.of(Cursor.START);
        while (at.isPresent()) {
            lock.lock();
            try {
                at = core.list(query, at.get(), page, clock.nanos());
            } finally {
                lock.unlock();
            }
            letOthersIn();
        }
        return List.copyOf(page.values());
    }

    /** Hands all keys of the default tenant to the sink, slice by slice, until it says no. */
    void forEachKey(Predicate<List<KeyInfo>> sink) {
        ListKeys query =
                new ListKeys(ByteString.EMPTY, ByteString.EMPTY, Long.MAX_VALUE, ByteString.EMPTY);
        Optional<Cursor> at = Optional.of(Cursor.START);
        boolean wanted = true;
        while (at.isPresent() && wanted) {
            TreeMap<ByteString, KeyInfo> slice = new TreeMap<>();
            lock.lock();
            try {
                at = core.list(query, at.get(), slice, clock.nanos());
            } finally {
                lock.unlock();
            }
            wanted = sink.test(List.copyOf(slice.values()));
        }
    }

    List<Segment> segments() {
        lock.lock();
        try {
            return core.segments();
        } finally {
            lock.unlock();
        }
    }

    List<TenantToll> tenantTolls() {
        lock.lock();
        try {
            return core.tenantTolls();
        } finally {
            lock.unlock();
        }
    }

    long discardedBytes() {
        lock.lock();
        try {
            return core.discardedBytes();
        } finally {
            lock.unlock();
        }
    }

    /** Remembers so many events of objects until they are taken. */
    void keepEvents(int capacity) {
        lock.lock();
        try {
            core.keepEvents(capacity);
        } finally {
            lock.unlock();
        }
    }

    /** The oldest events of objects, which are forgotten. */
    List<ObjectEvent> takeEvents(int most) {
        lock.lock();
        try {
            return core.takeEvents(most);
        } finally {
            lock.unlock();
        }
    }

    /** Events that nobody took in time. */
    long droppedEvents() {
        lock.lock();
        try {
            return core.droppedEvents();
        } finally {
            lock.unlock();
        }
    }

    /** How long ago the timer came round; it does so every {@link #TICK}. */
    Duration sinceTick() {
        return Duration.ofNanos(Math.max(0, clock.nanos() - tickedNanos));
    }

    /** One of the core's counts. */
    long count(CoreCount count) {
        lock.lock();
        try {
            return core.counters().of(count);
        } finally {
            lock.unlock();
        }
    }

    long metadataBytes() {
        lock.lock();
        try {
            return core.metadataBytes();
        } finally {
            lock.unlock();
        }
    }

    private void tickAll() {
        while (!closing.pause(TICK)) {
            try {
                while (tick() && !closing.hasBegun()) {
                    LockSupport.parkNanos(YIELD_NANOS);
                }
            } catch (RuntimeException e) {
                // A bug, but a master without a timer would be worse than one with it.
                LOG.log(System.Logger.Level.ERROR, "master tick failed", e);
            }
        }
    }

    /** Lets the core do what is due; true when there is more. */
    private boolean tick() {
        boolean more;
        List<Effect> effects;
        lock.lock();
        try {
            nowNanos = clock.nanos();
            more = core.apply(new Command.Tick(), nowNanos);
            effects = core.takeEffects();
            tickedNanos = nowNanos;
        } finally {
            lock.unlock();
        }
        effects.forEach(MasterLoop::report);
        return more;
    }

    private static void report(Effect effect) {
        switch (effect) {
            case Effect.SegmentMounted mounted ->
                    LOG.log(
                            System.Logger.Level.INFO,
                            "segment mounted id={0} name={1} bytes={2} endpoint={3} client={4}",
                            mounted.segment().id(),
                            mounted.segment().name(),
                            Long.toString(mounted.segment().size()),
                            mounted.segment().teEndpoint(),
                            mounted.client());
            case Effect.SegmentUnmounted unmounted ->
                    LOG.log(
                            System.Logger.Level.INFO,
                            "segment unmounted id={0} name={1} owner={2} by={3}",
                            unmounted.segment().id(),
                            unmounted.segment().name(),
                            unmounted.owner(),
                            unmounted.by());
            case Effect.SegmentSwept swept ->
                    LOG.log(
                            System.Logger.Level.DEBUG,
                            "segment swept id={0} name={1}",
                            swept.segment().id(),
                            swept.segment().name());
            case Effect.ClientSuspected suspected ->
                    LOG.log(
                            levelOf(suspected.segments()),
                            "client suspected client={0} silent-ms={1} segments={2}",
                            suspected.client(),
                            Long.toString(TimeUnit.NANOSECONDS.toMillis(suspected.silentNanos())),
                            Integer.toString(suspected.segments()));
            case Effect.ClientReturned returned ->
                    LOG.log(
                            System.Logger.Level.INFO,
                            "client returned client={0} silent-ms={1}",
                            returned.client(),
                            Long.toString(TimeUnit.NANOSECONDS.toMillis(returned.silentNanos())));
            case Effect.ClientExpired expired ->
                    LOG.log(
                            levelOf(expired.segments()),
                            "client expired client={0} silent-ms={1} segments={2}",
                            expired.client(),
                            Long.toString(TimeUnit.NANOSECONDS.toMillis(expired.silentNanos())),
                            Integer.toString(expired.segments()));
            case Effect.EvictionFruitless fruitless ->
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "eviction freed too little times={0} last={1}",
                            Long.toString(fruitless.times()),
                            fruitless.why());
            case Effect.TimerStalled stalled ->
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "master stalled ms={0}",
                            Long.toString(TimeUnit.NANOSECONDS.toMillis(stalled.nanos())));
        }
    }

    /** A client that lends nothing comes and goes; nobody need look. */
    private static System.Logger.Level levelOf(int segments) {
        return segments == 0 ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING;
    }

    /** Stops the timer. */
    @Override
    public void close() {
        closing.begin();
        boolean interrupted = false;
        try {
            timer.join(Duration.ofSeconds(5));
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
