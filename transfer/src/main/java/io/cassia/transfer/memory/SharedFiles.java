package io.cassia.transfer.memory;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Names of this process's files in shared memory, and the removal of files whose process is gone.
 * Guarded.
 *
 * <pre>  cassia-{process token}-{number}    locked exclusively while its process lives</pre>
 *
 * The lock, not the process id, tells who lives: ids mean nothing between containers that share the
 * directory. This process never opens its own files again: closing such a second channel would drop
 * the lock of the first.
 */
final class SharedFiles {
    static final Path DIRECTORY = Path.of("/dev/shm");

    private static final String PREFIX = "cassia-";
    private static final String OWN =
            PREFIX + Long.toHexString(UUID.randomUUID().getMostSignificantBits()) + "-";
    private static final AtomicLong NUMBER = new AtomicLong();

    private SharedFiles() {}

    static Path next() {
        return DIRECTORY.resolve(OWN + NUMBER.incrementAndGet());
    }

    /**
     * Creates a file for this user alone and locks it. It gets its name only then: a file that can
     * be swept is always locked by somebody.
     */
    static FileChannel create(Path path) throws IOException {
        Path unnamed = path.resolveSibling("." + path.getFileName());
        FileChannel channel =
                FileChannel.open(
                        unnamed,
                        Set.of(
                                StandardOpenOption.CREATE_NEW,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rw-------")));
        try {
            if (channel.tryLock() == null) {
                throw new IOException("new file " + unnamed + " is locked by another process");
            }
            Files.move(unnamed, path, StandardCopyOption.ATOMIC_MOVE);
            return channel;
        } catch (IOException e) {
            channel.close();
            Files.deleteIfExists(unnamed);
            throw e;
        }
    }

    /** Deletes files of processes that were killed. */
    static void sweep() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(DIRECTORY, PREFIX + "*")) {
            for (Path file : files) {
                if (!file.getFileName().toString().startsWith(OWN)) {
                    deleteIfLeftBehind(file);
                }
            }
        }
    }

    private static void deleteIfLeftBehind(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            if (lock != null) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            // Another user's, or gone meanwhile: neither is ours to delete.
            System.getLogger(SharedFiles.class.getName())
                    .log(System.Logger.Level.DEBUG, "shared-memory-not-swept path={0}", file, e);
        }
    }
}
