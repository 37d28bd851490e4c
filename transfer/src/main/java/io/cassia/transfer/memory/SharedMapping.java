package io.cassia.transfer.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One mapped file in shared memory with its one long-lived arena. Guarded.
 *
 * <p>The file stays visible while it is mapped, so that processes of the same user can map it too;
 * it carries a lock, by which {@link SharedFiles} tells files of the living from those left behind
 * by a killed process. Its pages are made present in the background.
 */
public final class SharedMapping implements Mapping {
    private static final System.Logger LOG = System.getLogger(SharedMapping.class.getName());
    private static final long POPULATE_STEP_BYTES = 16L << 20;
    private static final int RELEASE_STEPS = 40;
    private static final Duration RELEASE_STEP = Duration.ofMillis(50);

    private final Path path;
    private final FileChannel channel;
    private final Arena arena;
    private final MemorySegment memory;
    private final Thread populator;
    private volatile boolean closing;

    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private boolean closed;

    private SharedMapping(Path path, FileChannel channel, Arena arena, MemorySegment memory) {
        this.path = path;
        this.channel = channel;
        this.arena = arena;
        this.memory = memory;
        this.populator =
                Thread.ofPlatform()
                        .daemon()
                        .name("cassia-populate-" + path.getFileName())
                        .unstarted(this::populate);
    }

    /**
     * Maps zeroed memory. ERR_INVALID_ARGUMENT for a length below 1; ERR_MEMORY when the host's
     * shared memory has not so much left.
     */
    public static Outcome<SharedMapping> create(long lengthBytes) {
        if (lengthBytes < 1) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT, "cannot allocate " + lengthBytes + " bytes");
        }
        Path directory = SharedFiles.DIRECTORY;
        try {
            long usable = usableAfterSweep(lengthBytes);
            if (usable < lengthBytes) {
                // A sparse file could be mapped all the same, and then kill the process on a touch.
                return Outcome.failed(
                        TransferCode.ERR_MEMORY,
                        "%d bytes wanted, %s has %d left; make it larger or ask for less"
                                .formatted(lengthBytes, directory, usable));
            }
            return Outcome.ok(map(SharedFiles.next(), lengthBytes));
        } catch (IOException e) {
            return Outcome.failed(
                    TransferCode.ERR_MEMORY,
                    "mapping %d bytes in %s: %s".formatted(lengthBytes, directory, e));
        }
    }

    /**
     * Space for new files. Clients of a killed process notice its end within a second and only then
     * let go of its memory: what was swept just now is waited for a little.
     */
    private static long usableAfterSweep(long wantedBytes) throws IOException {
        FileStore store = Files.getFileStore(SharedFiles.DIRECTORY);
        int patience = SharedFiles.sweep() > 0 ? RELEASE_STEPS : 0;
        long usable = store.getUsableSpace();
        for (int i = 0; i < patience && usable < wantedBytes && !isInterrupted(); i++) {
            LockSupport.parkNanos(RELEASE_STEP.toNanos());
            usable = store.getUsableSpace();
        }
        return usable;
    }

    private static boolean isInterrupted() {
        return Thread.currentThread().isInterrupted();
    }

    @SuppressWarnings("MustBeClosedChecker") // closed by the mapping's own close, or right here
    private static SharedMapping map(Path path, long lengthBytes) throws IOException {
        FileChannel channel = SharedFiles.create(path);
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory =
                    channel.map(FileChannel.MapMode.READ_WRITE, 0, lengthBytes, arena);
            // A wish: without huge pages everything works, random access just costs more.
            boolean huge = MemoryAdvice.hugePages(memory);
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "shared-memory-mapped path={0} bytes={1} huge={2}",
                    path,
                    Long.toString(lengthBytes),
                    huge);
            // A process that is asked to end takes its files along; a killed one is swept up after.
            path.toFile().deleteOnExit();
            SharedMapping mapping = new SharedMapping(path, channel, arena, memory);
            mapping.populator.start();
            return mapping;
        } catch (IOException | RuntimeException e) {
            arena.close();
            channel.close();
            Files.deleteIfExists(path);
            throw e;
        }
    }

    private void populate() {
        long length = memory.byteSize();
        for (long at = 0; at < length && !closing; at += POPULATE_STEP_BYTES) {
            if (!MemoryAdvice.populate(
                    memory.asSlice(at, Math.min(POPULATE_STEP_BYTES, length - at)))) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "shared-memory-not-populated path={0} offset={1} bytes={2}"
                                + " remedy=\"give the host more shared memory\"",
                        path,
                        Long.toString(at),
                        Long.toString(length));
                return;
            }
        }
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    /** The file, for processes of the same user. */
    public Path path() {
        return path;
    }

    @Override
    public long number() {
        return SharedFiles.number(path);
    }

    /** Deletes the file, too. */
    @Override
    public Outcome<Done> close() {
        lock.lock();
        try {
            if (closed) {
                return Outcome.done();
            }
            closing = true;
            awaitPopulator();
            arena.close();
            closed = true;
            try (channel) {
                Files.deleteIfExists(path);
                // Other processes may map it for a while; the host needs the memory now.
                channel.truncate(0);
            }
            return Outcome.done();
        } catch (IllegalStateException e) {
            return Outcome.failed(
                    TransferCode.ERR_BATCH_BUSY,
                    "memory %s of %d bytes is in use: %s"
                            .formatted(path, memory.byteSize(), e.getMessage()));
        } catch (IOException e) {
            // Unmapped already: only the name is left, and the next sweep takes it.
            LOG.log(System.Logger.Level.WARNING, "shared-memory-not-deleted path={0}", path, e);
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }

    /** It stops at its next step. An interrupt is kept for later: memory must not stay for it. */
    private void awaitPopulator() {
        boolean interrupted = false;
        while (populator.isAlive()) {
            try {
                populator.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
