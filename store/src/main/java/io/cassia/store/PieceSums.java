package io.cassia.store;

import io.cassia.base.ByteString;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * The checksums of an object that comes in pieces, of any size and in any order, and which bytes of
 * it have come. Confined to its user.
 *
 * <p>Sums are of the pieces themselves; those of a chunk are put together. Of a chunk that was
 * written over in part nobody can tell from sums what it holds: it is {@link #nextMixed mixed}.
 *
 * <pre>
 *   chunk: missing ──► open, some pieces ──► whole: its sum is known
 *                        │                      ▲│ a part of it comes again
 *                        └── they overlap ──►   │▼
 *                                             mixed
 * </pre>
 */
final class PieceSums {
    private static final long CHUNK = Checksums.CHUNK_BYTES;

    /**
     * Bytes in a row, inside one chunk. Immutable.
     *
     * @param isMixed whether they came more than once, so that the sum is not known
     */
    private record Run(long from, long to, int sum, boolean isMixed) {
        boolean holds(Run other) {
            return from <= other.from && other.to <= to;
        }

        boolean overlaps(Run other) {
            return from < other.to && other.from < to;
        }

        /** With one that begins where this one ends. */
        Run followedBy(Run next) {
            return new Run(
                    from,
                    next.to,
                    Crc32c.combine(sum, next.sum, next.to - next.from),
                    isMixed || next.isMixed);
        }

        Run mixedWith(Run other) {
            return new Run(Math.min(from, other.from), Math.max(to, other.to), 0, true);
        }
    }

    private final long sizeBytes;
    private final long chunks;
    private final byte[] sums;
    private final CRC32C crc = new CRC32C();

    /** Chunks that are there as a whole. */
    private final BitSet whole = new BitSet();

    /** Those of them whose sum is not known. */
    private final BitSet mixed = new BitSet();

    /** What there is of other chunks, by its first byte; no two touch inside a chunk. */
    private final TreeMap<Long, Run> open = new TreeMap<>();

    PieceSums(long sizeBytes) {
        this.sizeBytes = sizeBytes;
        this.chunks = Checksums.chunks(sizeBytes);
        this.sums = Checksums.room(sizeBytes);
    }

    /** Takes a piece, which lies inside the object. */
    void add(long offsetBytes, MemorySegment bytes) {
        long end = offsetBytes + bytes.byteSize();
        for (long from = offsetBytes; from < end; ) {
            long to = Math.min(end, (from / CHUNK + 1) * CHUNK);
            crc.reset();
            crc.update(bytes.asSlice(from - offsetBytes, to - from).asByteBuffer());
            add((int) (from / CHUNK), new Run(from, to, (int) crc.getValue(), false));
            from = to;
        }
    }

    private void add(int chunk, Run piece) {
        Run all;
        long from = chunk * CHUNK;
        long to = end(chunk);
        if (whole.get(chunk)) {
            all = piece.from == from && piece.to == to ? piece : new Run(from, to, 0, true);
        } else {
            all = joined(piece, from, to);
        }
        if (all.from == from && all.to == to) {
            sum(chunk, all.sum);
            mixed.set(chunk, all.isMixed);
        } else {
            open.put(all.from, all);
        }
    }

    /** A piece with all that it touches of its chunk, which is taken out. */
    private Run joined(Run piece, long chunkFrom, long chunkTo) {
        Run all = piece;
        Map.Entry<Long, Run> first = open.floorEntry(piece.from);
        long from = first == null || first.getKey() < chunkFrom ? piece.from : first.getKey();
        var touched = open.subMap(from, true, Math.min(piece.to, chunkTo - 1), true);
        for (var runs = touched.values().iterator(); runs.hasNext(); ) {
            Run run = runs.next();
            if (all.overlaps(run)) {
                all = all.holds(run) ? all : all.mixedWith(run);
            } else if (run.to == all.from) {
                all = run.followedBy(all);
            } else if (run.from == all.to) {
                all = all.followedBy(run);
            } else {
                continue;
            }
            runs.remove();
        }
        return all;
    }

    private long end(int chunk) {
        return Math.min(sizeBytes, (chunk + 1) * CHUNK);
    }

    private void sum(int chunk, int sum) {
        Checksums.write(sums, chunk, sum);
        whole.set(chunk);
    }

    /** The first byte that has not come; the size when all have. */
    long firstMissing() {
        int chunk = whole.nextClearBit(0);
        if (chunk >= chunks) {
            return sizeBytes;
        }
        Run first = open.get(chunk * CHUNK);
        return first == null ? chunk * CHUNK : first.to;
    }

    /** The first chunk from that one on that is there but whose sum is not known; -1 for none. */
    int nextMixed(int chunk) {
        return mixed.nextSetBit(chunk);
    }

    /** The sum of a mixed chunk, from elsewhere. */
    void settle(int chunk, MemorySegment bytes) {
        crc.reset();
        crc.update(bytes.asByteBuffer());
        sum(chunk, (int) crc.getValue());
        mixed.clear(chunk);
    }

    /** Of each chunk, as the master keeps them; those of mixed and missing ones mean nothing. */
    ByteString sums() {
        return ByteString.wrap(sums);
    }
}
