package io.cassia.app.cli;

import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Local files as memory: the values that put sends and get receives. Immutable. */
final class LocalFiles {
    private static final int FIRST_CHUNK = 1 << 20;

    private LocalFiles() {}

    /** The file's bytes, mapped for as long as the arena lives. */
    static Outcome<MemorySegment> map(Path file, Arena arena) {
        if (Files.isDirectory(file)) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    file + ": it is a directory; store its files, or a tar of it from stdin");
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return Outcome.ok(channel.map(MapMode.READ_ONLY, 0, channel.size(), arena));
        } catch (IOException e) {
            return failed(StoreCode.FILE_READ_FAIL, file, e);
        }
    }

    /** Everything up to the end of the stream, at most {@code limit} bytes. */
    static Outcome<MemorySegment> readAll(InputStream in, long limit, Arena arena) {
        byte[] chunk = new byte[FIRST_CHUNK];
        MemorySegment memory = arena.allocate(FIRST_CHUNK, 64);
        long length = 0;
        try {
            for (int read; (read = in.read(chunk)) >= 0; ) {
                if (length + read > limit) {
                    return Outcome.failed(
                            StoreCode.INVALID_PARAMS,
                            "standard input is longer than --max-bytes " + limit);
                }
                if (length + read > memory.byteSize()) {
                    MemorySegment larger = arena.allocate(2 * memory.byteSize(), 64);
                    MemorySegment.copy(memory, 0, larger, 0, length);
                    memory = larger;
                }
                MemorySegment.copy(chunk, 0, memory, ValueLayout.JAVA_BYTE, length, read);
                length += read;
            }
        } catch (IOException e) {
            return Outcome.failed(StoreCode.FILE_READ_FAIL, "standard input: " + e.getMessage());
        }
        return Outcome.ok(memory.asSlice(0, length));
    }

    /** What fills the memory of a file that is being made; answers the number of bytes. */
    interface Fill {
        Outcome<Long> fill(MemorySegment memory);
    }

    /**
     * Makes a file of what is filled into its mapped memory. The name appears only when all of it
     * is there; on failure an older file of that name is untouched.
     *
     * @param bytes room; the file is cut to what was filled
     */
    static Outcome<Long> write(Path file, long bytes, Fill fill) {
        if (Files.isDirectory(file)) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS, file + ": it is a directory; name a file in it");
        }
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try {
            Outcome<Long> filled = fillPart(part, bytes, fill);
            if (filled.isOk()) {
                Files.move(
                        part,
                        file,
                        StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
            } else {
                Files.deleteIfExists(part);
            }
            return filled;
        } catch (IOException e) {
            return failed(StoreCode.FILE_WRITE_FAIL, file, e);
        }
    }

    private static Outcome<Long> fillPart(Path part, long bytes, Fill fill) throws IOException {
        try (FileChannel channel =
                FileChannel.open(
                        part,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            Outcome<Long> filled;
            try (Arena arena = Arena.ofShared()) {
                filled = fill.fill(channel.map(MapMode.READ_WRITE, 0, bytes, arena));
            }
            if (filled instanceof Outcome.Ok<Long>(Long length)) {
                channel.truncate(length);
                channel.force(true);
            }
            return filled;
        }
    }

    private static <T> Outcome<T> failed(StoreCode code, Path file, IOException e) {
        return switch (e) {
            case NoSuchFileException missing ->
                    Outcome.failed(StoreCode.FILE_NOT_FOUND, missing.getFile() + ": no such file");
            case AccessDeniedException denied ->
                    Outcome.failed(StoreCode.FILE_OPEN_FAIL, denied.getFile() + ": no access");
            default -> Outcome.failed(code, file + ": " + e.getMessage());
        };
    }
}
