package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.base.Entropy;
import io.cassia.base.HumanDuration;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.StoreClientConfig.Calls;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A process part that lends memory to the pool and keeps it lent: it pings the master on a
 * connection and a thread of their own, mounts again when the master has forgotten it, and copies
 * and moves replicas when the master orders it. Guarded.
 *
 * <pre>
 *   start: engine ─► allocate ─► register ─► MountSegment ─► ReMountSegment ─► pings, tasks
 *   leave (close): pings stop ─► UnmountSegment ─► engine and memory go
 *   drain: no new objects ─► the master has them moved away, or the time is over ─► leave
 * </pre>
 */
public final class StorageNode implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(StorageNode.class.getName());
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration DRAIN_STEP = Duration.ofMillis(100);

    private final NodeConfig config;
    private final Clock clock;
    private final Uuid client;
    private final TransferEngine engine;
    private final MasterLink master;
    private final MasterLink pings;
    private final Mounts mounts;
    private final Heartbeat heartbeat;
    private final TaskRunner tasks;
    private final LentWatch watch;
    private final AtomicBoolean closed = new AtomicBoolean();

    private StorageNode(
            NodeConfig config,
            Clock clock,
            Entropy entropy,
            Uuid client,
            TransferEngine engine,
            MasterLink master,
            MasterLink pings,
            MeterRegistry meters) {
        this.config = config;
        this.clock = clock;
        this.client = client;
        this.engine = engine;
        this.master = master;
        this.pings = pings;
        this.mounts = new Mounts(engine, master, client, entropy, clock);
        this.heartbeat =
                new Heartbeat(pings, client, mounts::segments, this::republish, clock, meters);
        Transfers transfers =
                new Transfers(engine, new Peers(engine, clock), new SumWorkers(clock, 0), clock);
        ReplicaCopies copies = new ReplicaCopies(client, engine, mounts, transfers, master);
        this.tasks = new TaskRunner(client, copies, master, clock, meters);
        this.watch = new LentWatch(mounts::lost, this::unmountLost, meters);
    }

    /**
     * Mounts the memory. RPC_FAIL when the master cannot be reached, TRANSFER_FAIL when memory or
     * ports cannot be had, else the master's own code. Nothing is left behind by a failure.
     */
    public static Outcome<StorageNode> start(NodeConfig config, Clock clock, MeterRegistry meters) {
        Entropy entropy = Entropy.system();
        Uuid client = new Uuid(entropy.nextLong(), entropy.nextLong());
        Deadline deadline = Deadline.after(clock, CALL_TIMEOUT);
        return MasterLink.connect(config.master(), Calls.DEFAULT, client, clock, deadline, meters)
                .then(
                        master -> {
                            Outcome<StorageNode> node =
                                    MasterLink.connect(
                                                    config.master(),
                                                    Calls.DEFAULT,
                                                    client,
                                                    clock,
                                                    deadline,
                                                    meters)
                                            .then(
                                                    pings ->
                                                            join(
                                                                    config, clock, entropy, client,
                                                                    master, pings, meters));
                            if (!node.isOk()) {
                                master.close();
                            }
                            return node;
                        });
    }

    private static Outcome<StorageNode> join(
            NodeConfig config,
            Clock clock,
            Entropy entropy,
            Uuid client,
            MasterLink master,
            MasterLink pings,
            MeterRegistry meters) {
        Outcome<StorageNode> node =
                Engines.start(
                                config.engine(),
                                config.metadata(),
                                config.localName(),
                                config.security(),
                                clock,
                                meters)
                        .then(
                                engine ->
                                        new StorageNode(
                                                        config, clock, entropy, client, engine,
                                                        master, pings, meters)
                                                .begin());
        if (!node.isOk()) {
            pings.close();
        }
        return node;
    }

    private Outcome<StorageNode> begin() {
        Outcome<List<Uuid>> mounted =
                mounts.mount(
                        config.segmentBytes(),
                        config.longestSegmentBytes(),
                        Deadline.after(clock, CALL_TIMEOUT));
        if (mounted instanceof Outcome.Failed<List<Uuid>> failed) {
            heartbeat.close();
            tasks.close();
            engine.close();
            return failed.as();
        }
        Outcome<Done> beating = heartbeat.start(Deadline.after(clock, CALL_TIMEOUT));
        if (beating instanceof Outcome.Failed<Done> failed) {
            heartbeat.close();
            tasks.close();
            unmountAll();
            engine.close();
            return failed.in("first heartbeat of " + endpoint());
        }
        tasks.start();
        return Outcome.ok(this);
    }

    /** Else peers would not find the node before the engine's own next look at its entries. */
    private void republish() {
        if (engine.republish() instanceof Outcome.Failed<Done>(var code, String detail)) {
            LOG.log(
                    Level.WARNING,
                    "node not published again endpoint={0} code={1} detail={2}",
                    endpoint(),
                    code.label(),
                    detail);
        }
    }

    private void unmountAll() {
        Deadline deadline = Deadline.after(clock, CALL_TIMEOUT);
        for (Segment segment : mounts.segments()) {
            if (mounts.unmount(segment.id(), Duration.ZERO, deadline)
                    instanceof Outcome.Failed<Done>(var code, String detail)) {
                LOG.log(
                        Level.WARNING,
                        "unmount failed segment={0} code={1} detail={2}",
                        segment.id(),
                        code.label(),
                        detail);
            }
        }
    }

    /** The Transfer Engine name that peers open, {@code host:port}. */
    public String endpoint() {
        return engine.localName();
    }

    /** The name by which the master knows it. */
    public Uuid client() {
        return client;
    }

    /** Bytes that this node offers. */
    public long capacityBytes() {
        return segments().stream().mapToLong(Segment::size).sum();
    }

    /** What is mounted now. */
    public List<Segment> segments() {
        return mounts.segments();
    }

    /** Lends more memory; the ids of the segments. The codes are those of {@link #start}. */
    public Outcome<List<Uuid>> mount(long bytes) {
        return bytes < 1
                ? Outcome.failed(StoreCode.INVALID_PARAMS, "memory of " + bytes + " bytes")
                : mounts.mount(
                        bytes, config.longestSegmentBytes(), Deadline.after(clock, CALL_TIMEOUT));
    }

    /**
     * Lends part of a file that another program owns, as {@link TransferEngine#map} does. It is
     * taken back by itself, with a line in the log, when the owner cuts the file off.
     * INVALID_PARAMS when there is no such part, or no plain file that this user may write to;
     * SEGMENT_ALREADY_EXISTS when some of it is lent already; UNAVAILABLE_IN_CURRENT_MODE when this
     * system cannot do it; else the codes of {@link #start}.
     *
     * @param offsetBytes a multiple of the page size
     */
    public Outcome<List<Uuid>> mount(Path file, long offsetBytes, long bytes) {
        Outcome<List<Uuid>> mounted =
                bytes < 1
                        ? Outcome.failed(
                                StoreCode.INVALID_PARAMS, bytes + " bytes of the file " + file)
                        : mounts.mount(
                                file,
                                offsetBytes,
                                bytes,
                                config.longestSegmentBytes(),
                                Deadline.after(clock, CALL_TIMEOUT));
        if (mounted.isOk()) {
            watch.begin();
        }
        return mounted;
    }

    private Outcome<Done> unmountLost(Uuid segment) {
        return mounts.unmount(segment, Duration.ZERO, Deadline.after(clock, CALL_TIMEOUT));
    }

    /**
     * Takes a segment back; what was stored in it is gone. With a grace it takes no new objects and
     * stays readable for so long, for which this call waits. SEGMENT_NOT_FOUND when it is not this
     * node's, UNAVAILABLE_IN_CURRENT_STATUS when it is being unmounted.
     */
    public Outcome<Done> unmount(Uuid segment, Duration grace) {
        Outcome<Done> told = mounts.unmount(segment, grace, Deadline.after(clock, CALL_TIMEOUT));
        if (told.isOk() && !grace.isZero()) {
            awaitGone(List.of(segment), grace.plus(CALL_TIMEOUT));
        }
        return told;
    }

    /** Waits until the master has let go of the segments, and gives their memory up. */
    private void awaitGone(List<Uuid> segments, Duration longest) {
        Deadline deadline = Deadline.after(clock, longest);
        for (Uuid id : segments) {
            while (!deadline.hasPassed() && isKnown(id) && !Thread.interrupted()) {
                LockSupport.parkNanos(DRAIN_STEP.toNanos());
            }
            mounts.forget(id);
        }
    }

    private boolean isKnown(Uuid segment) {
        Outcome<Integer> status =
                master.call(
                                MasterMethods.QUERY_SEGMENT_STATUS_BY_ID,
                                segment,
                                Deadline.after(clock, CALL_TIMEOUT))
                        .map(number -> number);
        return !(status instanceof Outcome.Failed<Integer> failed
                        && failed.code() == StoreCode.SEGMENT_NOT_FOUND)
                && !status.equals(Outcome.ok(SegmentStatus.UNMOUNTING.number()));
    }

    /**
     * Takes no new objects and has the stored ones moved to other nodes, then takes the memory
     * back; what could not be moved within the time is gone.
     */
    public Outcome<Done> drain(Duration time) {
        return new Drain(clock, master).run(segments(), time);
    }

    private void drainFirst() {
        LOG.log(
                Level.INFO,
                "node drains endpoint={0} longest={1}",
                endpoint(),
                HumanDuration.format(config.drainTime()));
        switch (drain(config.drainTime())) {
            case Outcome.Ok<Done> ok ->
                    LOG.log(Level.INFO, "node drained endpoint={0}", endpoint());
            case Outcome.Failed<Done>(var code, String why) ->
                    LOG.log(
                            Level.WARNING,
                            "node not drained endpoint={0} code={1} detail={2}",
                            endpoint(),
                            code.label(),
                            why);
        }
    }

    /**
     * Takes the memory out of the pool and frees it. What is stored in it moves to other nodes
     * first if the configuration gives time for that, and is gone otherwise.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        if (!config.drainTime().isZero()) {
            drainFirst();
        }
        tasks.close();
        watch.close();
        heartbeat.close();
        unmountAll();
        engine.close();
        pings.close();
        master.close();
    }
}
