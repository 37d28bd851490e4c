package io.cassia.transfer.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Part of a file that another program owns, mapped to be lent. Guarded.
 *
 * <p>The owner may cut the file off at any moment. Then touching its pages is a signal, which ends
 * the process unless the JDK expects it at that very instruction, and where it does its error may
 * come later than the copy has ended. So nobody but the kernel touches this memory: to the kernel a
 * page that is not there is an error number. Nor may other processes map it.
 */
public final class LentFile implements Mapping {
    private static final System.Logger LOG = System.getLogger(LentFile.class.getName());

    /** So much in one call: it cannot be stopped. */
    private static final long STEP_BYTES = 4 << 20;

    private static final long PIECE_BYTES = 2 * Long.BYTES;
    private static final long PAGE_BYTES = pageBytes();

    private final ForeignFile.Part part;
    private final long offsetBytes;
    private final Arena arena;
    private final MemorySegment memory;
    private final ProcessCalls calls;
    private final long pid = ProcessHandle.current().pid();
    private final ConcurrentLinkedDeque<Call> idle = new ConcurrentLinkedDeque<>();
    private final AtomicBoolean told = new AtomicBoolean();
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private boolean closed;

    /** What one call needs. Confined to its borrower. */
    private static final class Call {
        final MemorySegment state;
        final MemorySegment here;
        final MemorySegment there;
        final MemorySegment[] alive = new MemorySegment[ProcessCalls.MAX_ARENAS];

        Call() {
            Arena arena = Arena.ofAuto();
            state = arena.allocate(Linker.Option.captureStateLayout());
            here = arena.allocate(PIECE_BYTES, Long.BYTES);
            there = arena.allocate(PIECE_BYTES, Long.BYTES);
            forget();
        }

        void forget() {
            java.util.Arrays.fill(alive, MemorySegment.NULL);
        }
    }

    private LentFile(
            ForeignFile.Part part,
            long offsetBytes,
            Arena arena,
            MemorySegment memory,
            ProcessCalls calls) {
        this.part = part;
        this.offsetBytes = offsetBytes;
        this.arena = arena;
        this.memory = memory;
        this.calls = calls;
    }

    /** Bytes of a page: parts of files begin at multiples of it. */
    public static long pageBytes() {
        Linker linker = Linker.nativeLinker();
        try {
            return (int)
                    linker.downcallHandle(
                                    linker.defaultLookup().findOrThrow("getpagesize"),
                                    FunctionDescriptor.of(ValueLayout.JAVA_INT))
                            .invokeExact();
        } catch (Throwable e) {
            throw new IllegalStateException("getpagesize cannot be called", e);
        }
    }

    /**
     * Maps part of a file as it is. ERR_INVALID_ARGUMENT when the numbers are none of its, the file
     * is not there, not plain, or may not be written; ERR_ADDRESS_OVERLAPPED when some of it is
     * lent already; ERR_NOT_IMPLEMENTED when the kernel copies nothing inside this process;
     * ERR_MEMORY when it cannot be mapped.
     */
    public static Outcome<LentFile> map(Path path, long offsetBytes, long lengthBytes) {
        if (offsetBytes < 0 || lengthBytes < 1 || offsetBytes % PAGE_BYTES != 0) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "cannot lend %d bytes at %d of %s: the length must be above 0, the offset a"
                                    .formatted(lengthBytes, offsetBytes, path)
                            + " multiple of "
                            + PAGE_BYTES);
        }
        Optional<ProcessCalls> calls = ProcessCalls.find();
        if (calls.isEmpty()) {
            return Outcome.failed(
                    TransferCode.ERR_NOT_IMPLEMENTED,
                    "files of other programs are lent on Linux only, x86-64 and aarch64");
        }
        return switch (ForeignFile.open(path, offsetBytes, lengthBytes)) {
            case Outcome.Failed<ForeignFile.Part> failed -> failed.as();
            case Outcome.Ok<ForeignFile.Part>(ForeignFile.Part part) ->
                    map(part, offsetBytes, lengthBytes, calls.get());
        };
    }

    @SuppressWarnings("MustBeClosedChecker") // closed by the mapping's own close, or right here
    private static Outcome<LentFile> map(
            ForeignFile.Part part, long offsetBytes, long lengthBytes, ProcessCalls calls) {
        Arena arena = Arena.ofShared();
        Outcome<LentFile> mapped;
        try {
            MemorySegment memory =
                    part.channel()
                            .map(FileChannel.MapMode.READ_WRITE, offsetBytes, lengthBytes, arena);
            mapped = new LentFile(part, offsetBytes, arena, memory, calls).checked();
        } catch (IOException e) {
            mapped =
                    Outcome.failed(
                            TransferCode.ERR_MEMORY,
                            "cannot map %d bytes at %d of %s: %s"
                                    .formatted(lengthBytes, offsetBytes, part.path(), e));
        }
        if (!mapped.isOk()) {
            arena.close();
            letGo(part);
        }
        return mapped;
    }

    /** Whether the kernel copies for this process, and all is there. */
    private Outcome<LentFile> checked() {
        long result = probe();
        if (result == 1) {
            return Outcome.ok(this);
        }
        String why = ProcessCalls.text(-result);
        return result == -ProcessCalls.EFAULT
                ? Outcome.failed(
                        TransferCode.ERR_INVALID_ARGUMENT,
                        "cannot lend " + part.path() + ": its last byte is not there, " + why)
                : Outcome.failed(
                        TransferCode.ERR_NOT_IMPLEMENTED,
                        "cannot lend "
                                + part.path()
                                + ": the kernel copies nothing inside this process, "
                                + why);
    }

    /** Reads the last byte: files are cut off at the end. */
    private long probe() {
        try (Arena here = Arena.ofConfined()) {
            return copy(false, here.allocate(1), 0, memory.byteSize() - 1, 1);
        }
    }

    /** Whether all of it is there, as far as one can see; an owner may cut and lengthen it. */
    public boolean isWhole() {
        lock.lock();
        try {
            return closed || probe() == 1;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long number() {
        return 0;
    }

    /** The file. */
    public Path path() {
        return part.path();
    }

    /**
     * Copies out of it. False when bytes are not there any more; the operator is told.
     *
     * @param into native memory
     * @throws IllegalStateException when either was freed
     */
    public boolean read(long offset, MemorySegment into) {
        return all(false, offset, into);
    }

    /**
     * Copies into it. False when there is no place for the bytes any more; the operator is told.
     *
     * @param from native memory
     * @throws IllegalStateException when either was freed
     */
    public boolean write(long offset, MemorySegment from) {
        return all(true, offset, from);
    }

    private boolean all(boolean write, long offset, MemorySegment here) {
        long length = here.byteSize();
        if (offset < 0 || length > memory.byteSize() - offset) {
            throw new IndexOutOfBoundsException(
                    "%d bytes at %d of %d".formatted(length, offset, memory.byteSize()));
        }
        long at = 0;
        while (at < length) {
            long result = copy(write, here, at, offset + at, Math.min(STEP_BYTES, length - at));
            if (result <= 0) {
                tellOnce(offset + at, result);
                return false;
            }
            at += result;
        }
        return true;
    }

    private long copy(boolean write, MemorySegment here, long at, long offset, long length) {
        Call known = idle.poll();
        Call call = known != null ? known : new Call();
        try {
            call.here.set(ValueLayout.JAVA_LONG, 0, here.address() + at);
            call.here.set(ValueLayout.JAVA_LONG, Long.BYTES, length);
            call.there.set(ValueLayout.JAVA_LONG, 0, memory.address() + offset);
            call.there.set(ValueLayout.JAVA_LONG, Long.BYTES, length);
            call.alive[0] = here;
            call.alive[1] = memory;
            return calls.copy(write, pid, call.state, call.here, call.there, 1, call.alive);
        } finally {
            call.forget();
            idle.push(call);
        }
    }

    private void tellOnce(long offset, long result) {
        if (told.compareAndSet(false, true)) {
            LOG.log(
                    Level.WARNING,
                    "lent-file-lost path={0} offset={1} bytes={2} lostAt={3} fileNow=\"{4}\""
                            + " cause=\"{5}\" remedy=\"its owner has cut it, or the host has no"
                            + " memory for it; take it back before its file is cut\"",
                    part.path(),
                    Long.toString(offsetBytes),
                    Long.toString(memory.byteSize()),
                    Long.toString(offsetBytes + offset),
                    sizeNow(),
                    ProcessCalls.text(-result));
        }
    }

    /** The length of the file for people. */
    public String sizeNow() {
        try {
            return Files.size(part.path()) + " bytes";
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** The file itself stays as it is: it is its owner's. */
    @Override
    public Outcome<Done> close() {
        lock.lock();
        try {
            if (closed) {
                return Outcome.done();
            }
            arena.close();
            closed = true;
            letGo(part);
            return Outcome.done();
        } catch (IllegalStateException e) {
            return Outcome.failed(
                    TransferCode.ERR_BATCH_BUSY,
                    "memory of %s, %d bytes, is in use: %s"
                            .formatted(part.path(), memory.byteSize(), e.getMessage()));
        } finally {
            lock.unlock();
        }
    }

    private static void letGo(ForeignFile.Part part) {
        try {
            part.close();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "lent-file-not-closed path=" + part.path(), e);
        }
    }
}
