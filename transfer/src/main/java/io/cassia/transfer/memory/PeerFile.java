package io.cassia.transfer.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;

/**
 * A shared file of another process of the same user, mapped whole with an arena of its own. Guarded
 * by whoever holds it: he closes it when nobody uses the memory.
 *
 * <p>The file may be deleted and cut while it is mapped; copying then throws {@link InternalError}.
 */
public final class PeerFile implements AutoCloseable {
    private final Arena arena;
    private final MemorySegment memory;

    private PeerFile(Arena arena, MemorySegment memory) {
        this.arena = arena;
        this.memory = memory;
    }

    /**
     * Maps a file by its name.
     *
     * @throws IOException when there is none, it is empty, or it is not one of this user alone
     */
    @SuppressWarnings("MustBeClosedChecker") // closed by close, or right here
    public static PeerFile map(String name) throws IOException {
        try (FileChannel channel = SharedFiles.open(name)) {
            long size = channel.size();
            if (size == 0) {
                throw new IOException("shared memory " + name + " is empty");
            }
            Arena arena = Arena.ofShared();
            try {
                MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, size, arena);
                return new PeerFile(arena, memory);
            } catch (IOException | RuntimeException e) {
                arena.close();
                throw e;
            }
        }
    }

    /** Asks for huge pages, where the file has some. */
    public void adviseHugePages() {
        boolean huge = MemoryAdvice.hugePages(memory);
        System.getLogger(PeerFile.class.getName())
                .log(
                        System.Logger.Level.DEBUG,
                        "peer-memory-mapped bytes={0} huge={1}",
                        Long.toString(memory.byteSize()),
                        huge);
    }

    public MemorySegment memory() {
        return memory;
    }

    /** Unmaps it; done once. */
    @Override
    public void close() {
        arena.close();
    }
}
