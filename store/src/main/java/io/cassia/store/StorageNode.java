package io.cassia.store;

import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.base.Entropy;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;

/**
 * A process part that mounts memory into the pool and keeps it mounted: it pings the master and
 * mounts again when the master has forgotten it. Guarded.
 *
 * <pre>
 *   start: engine ─► allocate ─► register ─► MountSegment ─► ReMountSegment ─► pings
 *   close: pings stop ─► UnmountSegment ─► engine and memory go
 * </pre>
 */
public final class StorageNode implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(StorageNode.class.getName());
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);

    private final Clock clock;
    private final Uuid client;
    private final TransferEngine engine;
    private final MasterLink master;
    private final List<Segment> segments;
    private final Heartbeat heartbeat;

    private StorageNode(
            Clock clock,
            Uuid client,
            TransferEngine engine,
            MasterLink master,
            List<Segment> segments,
            MeterRegistry meters) {
        this.clock = clock;
        this.client = client;
        this.engine = engine;
        this.master = master;
        this.segments = segments;
        this.heartbeat = new Heartbeat(master, client, segments, clock, meters);
    }

    /**
     * Mounts the memory. RPC_FAIL when the master cannot be reached, TRANSFER_FAIL when memory or
     * ports cannot be had, else the master's own code. Nothing is left behind by a failure.
     */
    public static Outcome<StorageNode> start(NodeConfig config, Clock clock, MeterRegistry meters) {
        Entropy entropy = Entropy.system();
        Uuid client = new Uuid(entropy.nextLong(), entropy.nextLong());
        Deadline deadline = Deadline.after(clock, CALL_TIMEOUT);
        return MasterLink.connect(config.master(), client, clock, deadline, meters)
                .then(master -> join(config, clock, entropy, client, master, meters));
    }

    private static Outcome<StorageNode> join(
            NodeConfig config,
            Clock clock,
            Entropy entropy,
            Uuid client,
            MasterLink master,
            MeterRegistry meters) {
        Outcome<TransferEngine> started =
                Engines.start(
                        config.engine(), config.metadata(), config.localName(), clock, meters);
        Outcome<StorageNode> node =
                started.then(
                        engine ->
                                offer(engine, config.segmentBytes(), entropy)
                                        .then(
                                                segments ->
                                                        new StorageNode(
                                                                        clock, client, engine,
                                                                        master, segments, meters)
                                                                .mount()));
        if (!node.isOk()) {
            if (started instanceof Outcome.Ok<TransferEngine>(TransferEngine engine)) {
                engine.close();
            }
            master.close();
        }
        return node;
    }

    private static Outcome<List<Segment>> offer(
            TransferEngine engine, long segmentBytes, Entropy entropy) {
        Outcome<RegisteredBuffer> buffer =
                engine.allocate(segmentBytes)
                        .then(region -> engine.register(region.memory(), BufferOptions.DEFAULT));
        return switch (buffer) {
            case Outcome.Ok<RegisteredBuffer>(RegisteredBuffer registered) -> {
                Uuid id = new Uuid(entropy.nextLong(), entropy.nextLong());
                String name = engine.localName();
                long base = registered.address();
                yield Outcome.ok(
                        List.of(new Segment(id, name, base, segmentBytes, name, "tcp", "")));
            }
            case Outcome.Failed<RegisteredBuffer> failed ->
                    Engines.failed(failed, "memory of " + segmentBytes + " bytes");
        };
    }

    private Outcome<StorageNode> mount() {
        Deadline deadline = Deadline.after(clock, CALL_TIMEOUT);
        for (Segment segment : segments) {
            Outcome<Done> mounted =
                    master.call(
                            MasterMethods.MOUNT_SEGMENT,
                            new Args.MountSegment(segment, client),
                            deadline);
            if (mounted instanceof Outcome.Failed<Done> failed) {
                unmount();
                return failed.in("mount of " + segment.size() + " bytes at " + segment.name());
            }
        }
        Outcome<Done> beating = heartbeat.start(deadline);
        if (beating instanceof Outcome.Failed<Done> failed) {
            heartbeat.close();
            unmount();
            return failed.in("first heartbeat of " + endpoint());
        }
        return Outcome.ok(this);
    }

    private void unmount() {
        Deadline deadline = Deadline.after(clock, CALL_TIMEOUT);
        for (Segment segment : segments) {
            Args.UnmountSegment args = new Args.UnmountSegment(segment.id(), client);
            if (master.call(MasterMethods.UNMOUNT_SEGMENT, args, deadline)
                    instanceof Outcome.Failed<Done> failed) {
                LOG.log(
                        Level.WARNING,
                        "unmount failed segment={0} code={1} detail={2}",
                        segment.id(),
                        failed.code().label(),
                        failed.detail());
            }
        }
    }

    /** The Transfer Engine name that peers open, {@code host:port}. */
    public String endpoint() {
        return engine.localName();
    }

    /** Bytes that this node offers. */
    public long capacityBytes() {
        return segments.stream().mapToLong(Segment::size).sum();
    }

    /** Takes the memory out of the pool, what was stored in it is gone, and frees it. */
    @Override
    public void close() {
        heartbeat.close();
        unmount();
        engine.close();
        master.close();
    }
}
