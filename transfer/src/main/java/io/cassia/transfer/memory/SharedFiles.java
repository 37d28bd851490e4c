package io.cassia.transfer.memory;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/**
 * Names of this process's files in shared memory, the files of other processes, and the removal of
 * those whose process is gone. Guarded.
 *
 * <pre>
 *   cassia-{process token}-{number}      locked exclusively while its process lives
 *   cassia-{process token}-{number}.d    directory beside a file, left behind with it
 * </pre>
 *
 * The lock, not the process id, tells who lives: ids mean nothing between containers that share the
 * directory. This process never opens its own files again: closing such a second channel would drop
 * the lock of the first.
 */
public final class SharedFiles {
    static final Path DIRECTORY = Path.of("/dev/shm");

    private static final String PREFIX = "cassia-";
    private static final String BESIDE = ".d";
    private static final String OWN =
            PREFIX + Long.toHexString(UUID.randomUUID().getMostSignificantBits()) + "-";
    private static final Pattern NAME = Pattern.compile("cassia-[0-9a-f]{1,16}-[0-9]{1,18}");
    private static final String PERMISSIONS = "rw-------";
    private static final AtomicLong NUMBER = new AtomicLong();
    private static final ReentrantLock SWEEPING = new ReentrantLock();

    private SharedFiles() {}

    /** A new name of this process. */
    public static Path next() {
        return DIRECTORY.resolve(OWN + NUMBER.incrementAndGet());
    }

    /** Whether a peer's text is a name of this kind, and so no path to anywhere else. */
    public static boolean isName(String name) {
        return name.length() <= 64 && NAME.matcher(name).matches();
    }

    /** Whether a file may be one of this or another Cassia process, by its name. */
    static boolean isReserved(Path path) {
        String name = String.valueOf(path.getFileName());
        return name.startsWith(PREFIX) || name.startsWith("." + PREFIX);
    }

    /** Whether a name belongs to this process, which must not open it. */
    public static boolean isOwn(String name) {
        return name.startsWith(OWN);
    }

    /** The number in a name. */
    static long number(Path path) {
        String name = path.getFileName().toString();
        return Long.parseLong(name.substring(name.lastIndexOf('-') + 1));
    }

    /** The name of another file of the process that a name belongs to. */
    public static String sibling(String name, long number) {
        return name.substring(0, name.lastIndexOf('-') + 1) + number;
    }

    /** The directory beside a file; it may not exist. */
    public static Path beside(String name) {
        return DIRECTORY.resolve(name + BESIDE);
    }

    /**
     * Creates a file for this user alone and locks it. It gets its name only then: a file that can
     * be swept is always locked by somebody.
     */
    public static FileChannel create(Path path) throws IOException {
        Path unnamed = path.resolveSibling("." + path.getFileName());
        FileChannel channel =
                FileChannel.open(
                        unnamed,
                        Set.of(
                                StandardOpenOption.CREATE_NEW,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString(PERMISSIONS)));
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

    /**
     * Opens a file of another process, when it is one that only this user can have made and
     * changed.
     */
    static FileChannel open(String name) throws IOException {
        if (!isName(name) || isOwn(name)) {
            throw new IOException("\"" + name + "\" is no name of another process's shared memory");
        }
        return openPrivate(DIRECTORY.resolve(name));
    }

    /** Opens a file that belongs to this user and that nobody else may touch. */
    static FileChannel openPrivate(Path path) throws IOException {
        requirePrivate(path);
        return FileChannel.open(
                path,
                Set.of(
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS));
    }

    private static void requirePrivate(Path path) throws IOException {
        PosixFileAttributes file =
                Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        Object owner = Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        if (!file.isRegularFile()
                || !owner.equals(user)
                || !PosixFilePermissions.toString(file.permissions()).equals(PERMISSIONS)) {
            throw new IOException(path + " is not a file of this user alone");
        }
    }

    /**
     * Deletes files of processes that were killed.
     *
     * @return bytes of the deleted files; the host gets them back when nobody maps them any more
     */
    @CanIgnoreReturnValue
    public static long sweep() throws IOException {
        // One at a time: a file that another thread has just locked would look alive, or worse.
        SWEEPING.lock();
        try {
            return sweepAlone();
        } finally {
            SWEEPING.unlock();
        }
    }

    private static long sweepAlone() throws IOException {
        long bytes = 0;
        List<Path> beside = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(DIRECTORY, PREFIX + "*")) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (name.endsWith(BESIDE)) {
                    beside.add(file);
                } else if (!name.startsWith(OWN)) {
                    bytes += deleteIfLeftBehind(file);
                }
            }
        }
        for (Path directory : beside) {
            String name = directory.getFileName().toString();
            // It is made after its file, and deleted before it.
            if (Files.notExists(
                    DIRECTORY.resolve(name.substring(0, name.length() - BESIDE.length())))) {
                deleteDirectory(directory);
            }
        }
        return bytes;
    }

    private static long deleteIfLeftBehind(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            long bytes = channel.size();
            return lock != null && Files.deleteIfExists(file) ? bytes : 0;
        } catch (IOException e) {
            // Another user's, or gone meanwhile: neither is ours to delete.
            notSwept(file, e);
            return 0;
        }
    }

    /** Deletes the directory beside a file, with the files in it. */
    public static void deleteDirectory(Path directory) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            notSwept(directory, e);
        }
    }

    private static void notSwept(Path path, IOException e) {
        System.getLogger(SharedFiles.class.getName())
                .log(System.Logger.Level.DEBUG, "shared-memory-not-swept path={0}", path, e);
    }
}
