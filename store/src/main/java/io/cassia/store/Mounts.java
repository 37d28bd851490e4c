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
import io.cassia.status.TransferCode;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Region;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.TransferEngine;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The memory that a node lends: allocated in shared memory or part of another program's file,
 * registered with its engine, mounted at the master. Guarded.
 *
 * <pre>
 *   allocate, or map the file ─► register ─► MountSegment ─► lent
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

    /** Where memory comes from. */
    private interface Source {
        /** So many bytes, after those that were taken before. */
        Outcome<Region> take(long atBytes, long bytes);
    }

    /** Lends memory, as several segments when it is long; all of it or, on failure, nothing. */
    Outcome<List<Uuid>> mount(long bytes, long longestBytes, Deadline deadline) {
        return mount((_, length) -> engine.allocate(length), bytes, longestBytes, deadline);
    }

    /**
     * Lends part of a file of another program in the same manner. INVALID_PARAMS when there is no
     * such part, or no plain file that this user may write to; SEGMENT_ALREADY_EXISTS when some of
     * it is lent already; UNAVAILABLE_IN_CURRENT_MODE when this system cannot lend files.
     */
    Outcome<List<Uuid>> mount(
            Path file, long offsetBytes, long bytes, long longestBytes, Deadline deadline) {
        long page = TransferEngine.pageBytes();
        return mount(
                (at, length) -> engine.map(file, offsetBytes + at, length),
                bytes,
                Math.max(page, longestBytes / page * page),
                deadline);
    }

    private Outcome<List<Uuid>> mount(
            Source source, long bytes, long longestBytes, Deadline deadline) {
        List<Uuid> mounted = new ArrayList<>();
        long at = 0;
        while (at < bytes) {
            long next = Math.min(bytes - at, longestBytes);
            Outcome<Uuid> one = mountOne(source, at, next, deadline);
            if (one instanceof Outcome.Failed<Uuid> failed) {
                for (Uuid id : mounted) {
                    // It may take as long as that of the call that has failed.
                    takenBack(unmount(id, Duration.ZERO, Deadline.after(clock, LAST_WORD)), id);
                }
                return failed.in("mount of " + bytes + " bytes at " + engine.localName());
            }
            mounted.add(one.orThrow());
            at += next;
        }
        return Outcome.ok(mounted);
    }

    private static void takenBack(Outcome<Done> outcome, Uuid id) {
        if (outcome instanceof Outcome.Failed<Done>(Code code, String detail)) {
            LOG.log(
                    Level.WARNING,
                    "segment not taken back segment={0} code={1} detail={2}",
                    id,
                    code.label(),
                    detail);
        }
    }

    /** The engine's failure to have memory, in the store's own code. */
    private static <T> Outcome<T> notHad(Outcome.Failed<?> failed, long bytes) {
        String what = "memory of " + bytes + " bytes";
        return switch (failed.code()) {
            case TransferCode.ERR_INVALID_ARGUMENT ->
                    Outcome.failed(StoreCode.INVALID_PARAMS, failed.detail());
            case TransferCode.ERR_ADDRESS_OVERLAPPED ->
                    Outcome.failed(StoreCode.SEGMENT_ALREADY_EXISTS, failed.detail());
            case TransferCode.ERR_NOT_IMPLEMENTED ->
                    Outcome.failed(StoreCode.UNAVAILABLE_IN_CURRENT_MODE, failed.detail());
            default -> Engines.failed(failed, what);
        };
    }

    private Outcome<Uuid> mountOne(Source source, long atBytes, long bytes, Deadline deadline) {
        Outcome<Mount> made =
                source.take(atBytes, bytes)
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
            case Outcome.Failed<Mount> failed -> notHad(failed, bytes);
            case Outcome.Ok<Mount>(Mount mount) -> {
                // Known before it is mounted: a re-mount in between must not miss it.
                add(mount);
                Outcome<Done> told =
                        master.call(
                                MasterMethods.MOUNT_SEGMENT,
                                new Args.MountSegment(mount.segment, client),
                                deadline);
                if (told instanceof Outcome.Failed<Done> failed) {
                    boolean ours = remove(mount);
                    takeBack(mount, failed);
                    if (ours) {
                        withdraw(mount);
                    }
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

    /** False when somebody else has done so. */
    private boolean remove(Mount mount) {
        lock.lock();
        try {
            return mounts.remove(mount);
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
        if (remove(mount)) {
            withdraw(mount);
        }
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

    /**
     * The memory behind a published range of this node; empty when it is not this node's, or when
     * it {@link #isLent}.
     */
    Optional<MemorySegment> memory(long address, long bytes) {
        return around(address, bytes)
                .filter(mount -> !mount.region.isLent())
                .map(mount -> mount.region.memory().asSlice(address - mount.segment.base(), bytes));
    }

    /**
     * Whether a published range of this node is in another program's file, whose bytes are reached
     * by transfers alone.
     */
    boolean isLent(long address, long bytes) {
        return around(address, bytes).filter(mount -> mount.region.isLent()).isPresent();
    }

    private Optional<Mount> around(long address, long bytes) {
        lock.lock();
        try {
            for (Mount mount : mounts) {
                long offset = address - mount.segment.base();
                if (offset >= 0 && bytes <= mount.segment.size() - offset) {
                    return Optional.of(mount);
                }
            }
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /** Segments whose file was cut off by its owner, and what can be said about the file. */
    Map<Uuid, String> lost() {
        List<Mount> now;
        lock.lock();
        try {
            now = List.copyOf(mounts);
        } finally {
            lock.unlock();
        }
        Map<Uuid, String> lost = new LinkedHashMap<>();
        for (Mount mount : now) {
            if (!mount.region.isWhole()) {
                lost.put(mount.segment.id(), mount.region.toString());
            }
        }
        return lost;
    }
}
