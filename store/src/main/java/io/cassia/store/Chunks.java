package io.cassia.store;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The chunks of one piece of memory whose checksums are proved or made, in any order and by several
 * threads, while the bytes are in their caches. Each chunk is one thread's at a time; {@link
 * #finish} is for the caller when the others are done, and does what none of them did.
 */
abstract class Chunks {
    private static final int CHUNK = Checksums.CHUNK_BYTES;

    private final MemorySegment memory;
    private final boolean[] done;

    /**
     * A piece.
     *
     * @param memory whole chunks, of which only the object's last may be short
     */
    Chunks(MemorySegment memory) {
        this.memory = memory;
        this.done = new boolean[Math.toIntExact(Checksums.chunks(memory.byteSize()))];
    }

    /** Whether no chunk of what lies in these, one after the other, lies in two of them. */
    static boolean isEachInOne(List<MemorySegment> parts) {
        for (int i = 0; i < parts.size() - 1; i++) {
            if (parts.get(i).byteSize() % CHUNK != 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether the chunk of that number in this piece is as it should be. */
    abstract boolean take(int chunk, int sum);

    /**
     * Looks at the whole chunks in a range; what it begins with and ends with in parts is left for
     * later.
     */
    final void look(long fromBytes, long toBytes) {
        int end = (int) (toBytes == memory.byteSize() ? done.length : toBytes / CHUNK);
        CRC32C crc = new CRC32C();
        for (int chunk = (int) Checksums.chunks(fromBytes); chunk < end; chunk++) {
            done[chunk] = take(chunk, sum(crc, chunk));
        }
    }

    private int sum(CRC32C crc, int chunk) {
        long from = (long) chunk * CHUNK;
        long length = Math.min(CHUNK, memory.byteSize() - from);
        crc.reset();
        crc.update(memory.asSlice(from, length).asByteBuffer());
        return (int) crc.getValue();
    }

    /** The bytes are not those any more that were looked at. */
    final void forget() {
        Arrays.fill(done, false);
    }

    /** Looks at what is left; the first chunk that is not as it should be, -1 when all are. */
    final int finish() {
        CRC32C crc = new CRC32C();
        for (int chunk = 0; chunk < done.length; chunk++) {
            if (!done[chunk] && !take(chunk, sum(crc, chunk))) {
                return chunk;
            }
            done[chunk] = true;
        }
        return -1;
    }
}
