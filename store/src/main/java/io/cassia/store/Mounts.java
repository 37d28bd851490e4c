package io.cassia.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.base.Entropy;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Region;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.TransferEngine;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The memory that a node lends: allocated in shared memory, registered with its engine, mounted at
 * the master. Guarded.
 *
 * <pre>
 *   allocate ─► register ─► MountSegment ─► lent
 *   lent ─► UnmountSegment ─► unregister ─► free
 * </pre>
 */
final class Mounts {
    private static final System.Logger LOG = System.getLogger(Mounts.class.getName());

    /** For what is said when the time of a call is over. */
    private static final Duration LAST_WORD = Duration.ofSeconds(5);

    private final TransferEngine engine;
    private final MasterLink master;
    private final Uuid client;
    private final Entropy entropy;
    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final List<Mount> mounts = new ArrayList<>();

    private record Mount(Segment segment, Region region, RegisteredBuffer buffer) {}

    Mounts(TransferEngine engine, MasterLink master, Uuid client, Entropy entropy, Clock clock) {
        this.engine = engine;
        this.master = master;
        this.client = client;
        this.entropy = entropy;
        this.clock = clock;
    }

    /** What the master should know. */
    List<Segment> segments() {
        lock.lock();
        try {
            return mounts.stream().map(Mount::segment).toList();
        } finally {
            lock.unlock();
        }
    }

    /** Lends memory, as several segments when it is long; all of it or, on failure, nothing. */
    Outcome<List<Uuid>> mount(long bytes, long longestBytes, Deadline deadline) {
        List<Uuid> mounted = new ArrayList<>();
        long left = bytes;
        while (left > 0) {
            long next = Math.min(left, longestBytes);
            Outcome<Uuid> one = mountOne(next, deadline);
            if (one instanceof Outcome.Failed<Uuid> failed) {
                for (Uuid id : mounted) {
                    Outcome<Done> _ = unmount(id, Duration.ZERO, deadline);
                }
                return failed.in("mount of " + bytes + " bytes at " + engine.localName());
            }
            mounted.add(one.orThrow());
            left -= next;
        }
        return Outcome.ok(mounted);
    }

    private Outcome<Uuid> mountOne(long bytes, Deadline deadline) {
        Outcome<Mount> made =
                engine.allocate(bytes)
                        .then(
                                region -> {
                                    Outcome<Mount> lent =
                                            engine.register(region.memory(), BufferOptions.DEFAULT)
                                                    .map(buffer -> mountOf(region, buffer));
                                    if (!lent.isOk()) {
                                        free(region);
                                    }
                                    return lent;
                                });
        return switch (made) {
            case Outcome.Failed<Mount> failed ->
                    Engines.failed(failed, "memory of " + bytes + " bytes");
            case Outcome.Ok<Mount>(Mount mount) -> {
                // Known before it is mounted: a re-mount in between must not miss it.
                add(mount);
                Outcome<Done> told =
                        master.call(
                                MasterMethods.MOUNT_SEGMENT,
                                new Args.MountSegment(mount.segment, client),
                                deadline);
                if (told instanceof Outcome.Failed<Done> failed) {
                    remove(mount);
                    takeBack(mount, failed);
                    withdraw(mount);
                }
                yield told.map(_ -> mount.segment.id());
            }
        };
    }

    /**
     * Who did not answer may have mounted it, or may do so yet: the master remembers what was
     * unmounted (docs/adr/0051).
     */
    private void takeBack(Mount mount, Outcome.Failed<Done> failed) {
        Args.UnmountSegment unmount = new Args.UnmountSegment(mount.segment.id(), client);
        if (failed.code() != StoreCode.RPC_FAIL && failed.code() != StoreCode.RPC_TIMEOUT) {
            return;
        }
        Outcome<Done> told =
                master.call(
                        MasterMethods.UNMOUNT_SEGMENT, unmount, Deadline.after(clock, LAST_WORD));
        if (told instanceof Outcome.Failed<Done>(Code code, String detail)) {
            LOG.log(
                    Level.WARNING,
                    "segment perhaps mounted without memory segment={0} code={1} detail={2}",
                    mount.segment.id(),
                    code.label(),
                    detail);
        }
    }

    private Mount mountOf(Region region, RegisteredBuffer buffer) {
        String name = engine.localName();
        Uuid id = new Uuid(entropy.nextLong(), entropy.nextLong());
        Segment segment =
                new Segment(id, name, buffer.address(), buffer.lengthBytes(), name, "tcp", "");
        return new Mount(segment, region, buffer);
    }

    private void add(Mount mount) {
        lock.lock();
        try {
            mounts.add(mount);
        } finally {
            lock.unlock();
        }
    }

    private void remove(Mount mount) {
        lock.lock();
        try {
            mounts.remove(mount);
        } finally {
            lock.unlock();
        }
    }

    private Optional<Mount> find(Uuid id) {
        lock.lock();
        try {
            return mounts.stream().filter(mount -> mount.segment.id().equals(id)).findFirst();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a segment out of the pool; what was stored in it is gone. With a grace it takes no more
     * objects at once, but stays readable for so long. SEGMENT_NOT_FOUND when it is not this
     * node's.
     */
    Outcome<Done> unmount(Uuid id, Duration grace, Deadline deadline) {
        Optional<Mount> found = find(id);
        if (found.isEmpty()) {
            return Outcome.failed(
                    StoreCode.SEGMENT_NOT_FOUND, "this node has not mounted the segment " + id);
        }
        Outcome<Done> told =
                grace.isZero()
                        ? master.call(
                                MasterMethods.UNMOUNT_SEGMENT,
                                new Args.UnmountSegment(id, client),
                                deadline)
                        : master.call(
                                MasterMethods.GRACEFUL_UNMOUNT_SEGMENT,
                                new Args.GracefulUnmountSegment(id, client, grace.toMillis()),
                                deadline);
        if (told.isOk() && grace.isZero()) {
            forget(found.get());
        }
        return told;
    }

    /** Gives up the memory of a segment that the master no longer has. */
    void forget(Uuid id) {
        find(id).ifPresent(this::forget);
    }

    private void forget(Mount mount) {
        remove(mount);
        withdraw(mount);
    }

    /** From here on no peer reaches the memory. */
    private void withdraw(Mount mount) {
        if (engine.unregister(mount.buffer) instanceof Outcome.Failed<Done>(var code, var detail)) {
            LOG.log(
                    Level.WARNING,
                    "segment not withdrawn segment={0} code={1} detail={2}",
                    mount.segment.id(),
                    code.label(),
                    detail);
            return;
        }
        free(mount.region);
    }

    private void free(Region region) {
        if (engine.free(region) instanceof Outcome.Failed<Done>(var code, var detail)) {
            LOG.log(
                    Level.WARNING,
                    "memory not freed bytes={0} code={1} detail={2}",
                    Long.toString(region.lengthBytes()),
                    code.label(),
                    detail);
        }
    }

    /** The memory behind a published range of this node; empty when it is not this node's. */
    Optional<MemorySegment> memory(long address, long bytes) {
        lock.lock();
        try {
            for (Mount mount : mounts) {
                long offset = address - mount.segment.base();
                if (offset >= 0 && bytes <= mount.segment.size() - offset) {
                    return Optional.of(mount.region.memory().asSlice(offset, bytes));
                }
            }
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }
}
