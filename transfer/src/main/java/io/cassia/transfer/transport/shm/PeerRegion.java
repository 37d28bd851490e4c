package io.cassia.transfer.transport.shm;

import io.cassia.transfer.memory.PeerFile;
import io.cassia.transfer.memory.SharedFiles;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A shared file of a peer with registered memory in it, mapped once and unmapped when nobody copies
 * any more. Guarded.
 */
final class PeerRegion implements AutoCloseable {
    private final long number;
    private final PeerFile file;
    private final Users users;

    private PeerRegion(long number, PeerFile file) {
        this.number = number;
        this.file = file;
        this.users = new Users(file::close);
    }

    /** Maps the file of a number that lies beside a control file. */
    static PeerRegion map(String control, long number) throws IOException {
        PeerFile file = PeerFile.map(SharedFiles.sibling(control, number));
        file.adviseHugePages();
        return new PeerRegion(number, file);
    }

    /** Whether the caller may copy; then it must {@link #leave}. */
    boolean enter() {
        return users.enter();
    }

    void leave() {
        users.leave();
    }

    MemorySegment memory() {
        return file.memory();
    }

    /** Whether it holds all of a slot. */
    boolean holds(SlotIndex.Slot slot) {
        long size = file.memory().byteSize();
        return slot.file() == number
                && slot.offset() >= 0
                && slot.lengthBytes() >= 0
                && slot.offset() <= size
                && slot.lengthBytes() <= size - slot.offset();
    }

    /** Unmaps it as soon as nobody copies. */
    @Override
    public void close() {
        users.close();
    }
}
