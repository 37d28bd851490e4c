package io.cassia.store;

import io.cassia.base.ByteString;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The CRC32C of each 64 KiB chunk of an object, as the master keeps them: 4 bytes little-endian
 * each, in order. Immutable; holds no state.
 */
final class Checksums {
    static final int CHUNK_BYTES = 1 << 16;

    private static final int SUM_BYTES = 4;

    private Checksums() {}

    /** Takes the bytes of an object, or of whole chunks of one, in order. Confined to its user. */
    static final class Run {
        private final CRC32C crc = new CRC32C();
        private final byte[] sums;
        private int chunk;
        private int inChunk;

        /**
         * @param lengthBytes of all that will be added
         */
        Run(long lengthBytes) {
            sums = room(lengthBytes);
        }

        void add(MemorySegment bytes) {
            for (long at = 0; at < bytes.byteSize(); ) {
                long length = Math.min(CHUNK_BYTES - inChunk, bytes.byteSize() - at);
                crc.update(bytes.asSlice(at, length).asByteBuffer());
                at += length;
                inChunk += (int) length;
                if (inChunk == CHUNK_BYTES) {
                    endChunk();
                }
            }
        }

        private void endChunk() {
            write(sums, chunk++, (int) crc.getValue());
            crc.reset();
            inChunk = 0;
        }

        /** The sums of all that was added; the last chunk may be short. */
        ByteString finish() {
            if (inChunk > 0) {
                endChunk();
            }
            return ByteString.wrap(sums);
        }
    }

    /** For the sums of an object of that many bytes. */
    static byte[] room(long objectBytes) {
        return new byte[Math.toIntExact(chunks(objectBytes) * SUM_BYTES)];
    }

    static long chunks(long bytes) {
        return (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    }

    /** Whether these are the sums of an object of that many bytes. */
    static boolean fits(ByteString sums, long objectBytes) {
        return sums.length() == chunks(objectBytes) * SUM_BYTES;
    }

    static ByteString of(List<MemorySegment> parts) {
        if (parts.size() == 1 && parts.getFirst().byteSize() <= CHUNK_BYTES) {
            CRC32C crc = new CRC32C();
            crc.update(parts.getFirst().asByteBuffer());
            byte[] sum = new byte[SUM_BYTES];
            write(sum, 0, (int) crc.getValue());
            return ByteString.wrap(sum);
        }
        Run run = new Run(length(parts));
        parts.forEach(run::add);
        return run.finish();
    }

    static long length(List<MemorySegment> parts) {
        long length = 0;
        for (MemorySegment part : parts) {
            length += part.byteSize();
        }
        return length;
    }

    /**
     * The first chunk whose bytes are wrong; -1 when all are right.
     *
     * @param sums of the whole object
     * @param fromBytes where the parts begin in the object; a multiple of the chunk size
     * @param parts whole chunks, of which only the object's last may be short
     */
    static long firstWrong(ByteString sums, long fromBytes, List<MemorySegment> parts) {
        CRC32C crc = new CRC32C();
        int chunk = (int) (fromBytes / CHUNK_BYTES);
        int inChunk = 0;
        for (MemorySegment part : parts) {
            long length = part.byteSize();
            for (long at = 0; at < length; ) {
                int step = (int) Math.min(CHUNK_BYTES - inChunk, length - at);
                boolean whole = step == length;
                crc.update((whole ? part : part.asSlice(at, step)).asByteBuffer());
                at += step;
                inChunk += step;
                if (inChunk == CHUNK_BYTES) {
                    if ((int) crc.getValue() != read(sums, chunk)) {
                        return chunk;
                    }
                    crc.reset();
                    chunk++;
                    inChunk = 0;
                }
            }
        }
        return inChunk > 0 && (int) crc.getValue() != read(sums, chunk) ? chunk : -1;
    }

    static int read(ByteString sums, int chunk) {
        byte[] bytes = sums.array();
        int at = chunk * SUM_BYTES;
        return (bytes[at] & 0xFF)
                | (bytes[at + 1] & 0xFF) << 8
                | (bytes[at + 2] & 0xFF) << 16
                | bytes[at + 3] << 24;
    }

    static void write(byte[] sums, int chunk, int sum) {
        int at = chunk * SUM_BYTES;
        sums[at] = (byte) sum;
        sums[at + 1] = (byte) (sum >>> 8);
        sums[at + 2] = (byte) (sum >>> 16);
        sums[at + 3] = (byte) (sum >>> 24);
    }
}
