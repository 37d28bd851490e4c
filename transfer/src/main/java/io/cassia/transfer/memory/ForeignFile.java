package io.cassia.transfer.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A file of another program, opened once in this process however many parts of it are lent. Guarded
 * by the lock of all of them.
 *
 * <p>A part is locked while it is lent, so that no other part that overlaps it is lent by anybody.
 * Such a lock is the process's: closing any channel of the file would drop all of them, which is
 * why there is but one.
 */
final class ForeignFile {
    private static final ReentrantLock LOCK = new ReentrantLock();

    /** By device and inode, whatever name it was opened by. */
    @GuardedBy("LOCK")
    private static final Map<Object, ForeignFile> OPEN = new HashMap<>();

    private final Path path;
    private final Object key;
    private final FileChannel channel;

    @GuardedBy("LOCK")
    private int parts;

    /** A locked part. Immutable. */
    record Part(ForeignFile file, FileLock lock) {
        Path path() {
            return file.path;
        }

        FileChannel channel() {
            return file.channel;
        }

        /** Gives the part back, and the file with its last part. */
        void close() throws IOException {
            LOCK.lock();
            try {
                try {
                    lock.release();
                } finally {
                    file.leave();
                }
            } finally {
                LOCK.unlock();
            }
        }
    }

    private ForeignFile(Path path, Object key, FileChannel channel) {
        this.path = path;
        this.key = key;
        this.channel = channel;
    }

    /**
     * Opens and locks a part. ERR_INVALID_ARGUMENT when there is no such file for this user, it is
     * no plain file or one of Cassia's own, or it is too short; ERR_ADDRESS_OVERLAPPED when part of
     * it is locked already.
     */
    static Outcome<Part> open(Path path, long offsetBytes, long lengthBytes) {
        LOCK.lock();
        try {
            ForeignFile file = enter(path);
            try {
                Outcome<Part> part = file.lock(offsetBytes, lengthBytes);
                if (part.isOk()) {
                    file.parts++;
                }
                return part;
            } finally {
                file.closeUnused();
            }
        } catch (IOException e) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT, "cannot lend " + path + ": " + why(e));
        } finally {
            LOCK.unlock();
        }
    }

    private static String why(IOException e) {
        return e.getClass().equals(IOException.class) ? String.valueOf(e.getMessage()) : "" + e;
    }

    @GuardedBy("LOCK")
    private static ForeignFile enter(Path path) throws IOException {
        Object key = require(path);
        ForeignFile known = OPEN.get(key);
        if (known != null) {
            return known;
        }
        FileChannel channel =
                FileChannel.open(
                        path,
                        Set.of(
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE,
                                LinkOption.NOFOLLOW_LINKS));
        boolean same = false;
        try {
            same = require(path).equals(key);
        } finally {
            if (!same) {
                channel.close();
            }
        }
        if (!same) {
            throw new IOException("it is being replaced by another file");
        }
        ForeignFile file = new ForeignFile(path, key, channel);
        OPEN.put(key, file);
        return file;
    }

    /** Its device and inode, when it is a file that may be lent. */
    private static Object require(Path path) throws IOException {
        BasicFileAttributes file =
                Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (file.isSymbolicLink()) {
            throw new IOException("it is a symbolic link");
        }
        if (!file.isRegularFile()) {
            throw new IOException("it is no regular file");
        }
        if (SharedFiles.isReserved(path)) {
            throw new IOException("it is a file of Cassia itself");
        }
        // A second name could be that of a file from elsewhere.
        Object names = Files.getAttribute(path, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
        if (!names.equals(1)) {
            throw new IOException("it has " + names + " names (hard links)");
        }
        return file.fileKey();
    }

    @GuardedBy("LOCK")
    private Outcome<Part> lock(long offsetBytes, long lengthBytes) throws IOException {
        long size = channel.size();
        if (offsetBytes > size || lengthBytes > size - offsetBytes) {
            return Outcome.failed(
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "cannot lend %d bytes at %d of %s: it has %d"
                            .formatted(lengthBytes, offsetBytes, path, size));
        }
        try {
            FileLock locked = channel.tryLock(offsetBytes, lengthBytes, false);
            return locked == null
                    ? overlap(offsetBytes, lengthBytes, "another process has locked")
                    : Outcome.ok(new Part(this, locked));
        } catch (OverlappingFileLockException e) {
            return overlap(offsetBytes, lengthBytes, "this process lends already");
        }
    }

    private Outcome<Part> overlap(long offsetBytes, long lengthBytes, String who) {
        return Outcome.failed(
                TransferCode.ERR_ADDRESS_OVERLAPPED,
                "%s part of the %d bytes at %d of %s"
                        .formatted(who, lengthBytes, offsetBytes, path));
    }

    @GuardedBy("LOCK")
    private void leave() throws IOException {
        parts--;
        closeUnused();
    }

    @GuardedBy("LOCK")
    private void closeUnused() throws IOException {
        if (parts == 0) {
            OPEN.remove(key);
            channel.close();
        }
    }
}
