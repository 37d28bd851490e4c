package io.cassia.transfer.transport.shm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.Clock;
import io.cassia.base.Entropy;
import io.cassia.transfer.memory.MemoryAdvice;
import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.memory.SharedFiles;
import io.cassia.transfer.metadata.HostAccess;
import io.cassia.transfer.transport.Transport;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What this engine opens to other processes of its host: the owner of a control file. Guarded.
 *
 * <p>A published buffer is held, as by a transfer, as long as it has a slot: it is CLOSED only when
 * no process of the host copies any more.
 */
final class Exposure implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Exposure.class.getName());

    /** Processes that died are looked for once so many of their waits have passed. */
    private static final int STEPS_PER_BURIAL = 8;

    private static final long MIN_STEP_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final long MAX_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Path path;
    private final FileChannel channel;
    private final Arena arena;
    private final MemorySegment control;
    private final byte[] secret;
    private final HostAccess access;
    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final OwnSlots slots;

    /** Slots of buffers; a negative number when there was no room for one. */
    @GuardedBy("lock")
    private final Map<Registration, Integer> published = new HashMap<>();

    @GuardedBy("lock")
    private boolean warned;

    @GuardedBy("lock")
    private boolean closed;

    private Exposure(
            Path path,
            FileChannel channel,
            Arena arena,
            MemorySegment control,
            byte[] secret,
            HostAccess access,
            OwnSlots slots,
            Clock clock) {
        this.path = path;
        this.channel = channel;
        this.arena = arena;
        this.control = control;
        this.secret = secret;
        this.access = access;
        this.slots = slots;
        this.clock = clock;
    }

    /** What an exposure is made for. Immutable. */
    record Owner(HostIdentity host, ProcessId process, Predicate<ProcessId> isAlive) {}

    /**
     * Makes a control file.
     *
     * @throws IOException when shared memory is not there or full
     */
    @SuppressWarnings("MustBeClosedChecker") // closed by close, or right here
    static Exposure open(Owner owner, Set<Transport> offered, Entropy entropy, Clock clock)
            throws IOException {
        SharedFiles.sweep();
        Path path = SharedFiles.next();
        FileChannel channel = SharedFiles.create(path);
        Arena arena = Arena.ofShared();
        try {
            path.toFile().deleteOnExit();
            byte[] secret = secret(entropy);
            present(channel, head(owner, secret));
            MemorySegment control =
                    channel.map(
                            FileChannel.MapMode.READ_WRITE, 0, ControlLayout.LENGTH_BYTES, arena);
            HostAccess access =
                    new HostAccess(
                            owner.host().boot(),
                            owner.host().user(),
                            owner.host().pidNamespace(),
                            path.getFileName().toString(),
                            offered.stream().sorted().map(Transport::label).toList(),
                            "");
            OwnSlots slots =
                    new OwnSlots(
                            control,
                            owner.process(),
                            owner.isAlive(),
                            (offset, length) ->
                                    MemoryAdvice.populate(control.asSlice(offset, length)));
            return new Exposure(path, channel, arena, control, secret, access, slots, clock);
        } catch (IOException | RuntimeException e) {
            arena.close();
            channel.close();
            Files.deleteIfExists(path);
            throw e;
        }
    }

    private static byte[] secret(Entropy entropy) {
        ByteBuffer secret = ByteBuffer.allocate(ControlLayout.SECRET_BYTES);
        while (secret.hasRemaining()) {
            secret.putLong(entropy.nextLong());
        }
        return secret.array();
    }

    private static ByteBuffer head(Owner owner, byte[] secret) {
        MemorySegment head =
                MemorySegment.ofArray(
                        new long[(int) (ControlLayout.slot(ControlLayout.FIRST_SLOTS) / 8)]);
        ControlLayout.set(head, ControlLayout.VERSION_OFFSET, ControlLayout.VERSION);
        ControlLayout.set(head, ControlLayout.PROCESS_OFFSET, owner.process().word());
        ControlLayout.set(head, ControlLayout.NAMESPACE_OFFSET, owner.host().pidNamespace());
        ControlLayout.set(head, ControlLayout.PHASE_OFFSET, ControlLayout.OPEN);
        ControlLayout.set(head, ControlLayout.MAGIC_OFFSET, ControlLayout.MAGIC);
        MemorySegment.copy(
                secret, 0, head, ValueLayout.JAVA_BYTE, ControlLayout.SECRET_OFFSET, secret.length);
        return ByteBuffer.wrap(head.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Writes instead of touching: a host without memory then answers with an error. */
    private static void present(FileChannel channel, ByteBuffer head) throws IOException {
        while (head.hasRemaining()) {
            channel.write(head);
        }
    }

    /** The name of the control file. */
    String name() {
        return access.control();
    }

    /** What peers are told, with the proof for a segment. */
    HostAccess access(Proof.Claim claim) {
        return access.withProof(Proof.of(access, claim, secret));
    }

    /**
     * Opens a buffer that is being registered.
     *
     * @param file number of the shared file that it is in; 0 for none
     * @param offset where in that file it begins
     */
    void add(Registration range, long file, long offset) {
        lock.lock();
        try {
            if (closed || !range.tryHold()) {
                return;
            }
            int slot =
                    slots.add(range.address(), range.lengthBytes(), file, offset, range.writable());
            published.put(range, slot);
            if (slot < 0) {
                range.release();
                warnOnce(range);
            }
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void warnOnce(Registration range) {
        if (!warned) {
            warned = true;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "buffer-without-slot range={0} buffers={1}"
                            + " remedy=\"register fewer, larger buffers\"",
                    range,
                    Integer.toString(published.size()));
        }
    }

    /** No copy on a buffer begins from now on; once more is fine. */
    void drain(Registration range) {
        lock.lock();
        try {
            Integer slot = published.get(range);
            if (slot != null && slot >= 0) {
                slots.drain(slot);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Copies on a drained buffer stop at their next step. */
    void abort(Registration range) {
        lock.lock();
        try {
            Integer slot = published.get(range);
            if (slot != null && slot >= 0) {
                slots.abort(slot);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until no process copies on a drained buffer any more, and forgets it; false when the
     * time is over before. An interrupt does not end the wait.
     */
    boolean awaitQuiet(Registration range, long timeoutNanos) {
        long deadline = clock.nanos() + timeoutNanos;
        long step = MIN_STEP_NANOS;
        boolean interrupted = false;
        for (int i = 1; !tryForget(range, i % STEPS_PER_BURIAL == 0); i++) {
            if (clock.nanos() - deadline >= 0) {
                if (tryForget(range, true)) {
                    break;
                }
                restore(interrupted);
                return false;
            }
            LockSupport.parkNanos(this, step);
            step = Math.min(MAX_STEP_NANOS, step + step / 2);
            interrupted |= Thread.interrupted();
        }
        restore(interrupted);
        return true;
    }

    private static void restore(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean tryForget(Registration range, boolean bury) {
        lock.lock();
        try {
            @Nullable Integer slot = published.get(range);
            if (slot == null) {
                return true;
            }
            if (slot >= 0) {
                if (!slots.isQuiet(slot, bury)) {
                    return false;
                }
                slots.free(slot);
                range.release();
            } else {
                slots.removeUnslotted();
            }
            published.remove(range);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Tells the peers that the engine ends, so that they do not wonder where its buffers are. */
    void announceEnd() {
        ControlLayout.set(control, ControlLayout.PHASE_OFFSET, ControlLayout.CLOSED);
    }

    /**
     * Tells the peers that it is over, and deletes the file. It stays mapped while a buffer is
     * still used by a peer, so that one can go on waiting for that.
     */
    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            announceEnd();
            closed = true;
            if (published.isEmpty()) {
                arena.close();
            }
            Files.deleteIfExists(path);
            channel.close();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "control-file-not-deleted path={0}", path, e);
        } finally {
            lock.unlock();
        }
    }
}
