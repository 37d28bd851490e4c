package io.cassia.datadist.cache;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.Arrays;

/**
 * The byte ranges to move for each selected tensor, as triples of source offset, destination offset
 * and length, offsets counted from the start of the tensor. Immutable. Neighbours that adjoin on
 * both sides are one piece.
 */
public final class Pieces {
    private final long[] triples;

    private Pieces(long[] triples) {
        this.triples = triples;
    }

    /** One contiguous range. */
    public static Pieces span(long srcOffset, long dstOffset, long lengthBytes) {
        return new Pieces(new long[] {srcOffset, dstOffset, lengthBytes});
    }

    /** Blocks {@code src[i]} to blocks {@code dst[i]}; both lists are equally long. */
    public static Pieces blocks(long[] src, long[] dst, long blockBytes) {
        Builder builder = new Builder(src.length);
        for (int i = 0; i < src.length; i++) {
            builder.add(src[i] * blockBytes, dst[i] * blockBytes, blockBytes);
        }
        return builder.build();
    }

    /**
     * A contiguous batch of {@code extentBytes}, beginning at {@code srcOffset}, cut into blocks;
     * the last block may be filled in part.
     */
    public static Pieces batchToBlocks(
            long srcOffset, long extentBytes, long[] dst, long blockBytes) {
        Builder builder = new Builder(dst.length);
        for (int i = 0; i < dst.length; i++) {
            long at = i * blockBytes;
            builder.add(
                    srcOffset + at, dst[i] * blockBytes, Math.min(blockBytes, extentBytes - at));
        }
        return builder.build();
    }

    public int count() {
        return triples.length / 3;
    }

    public long srcOffset(int piece) {
        return triples[3 * piece];
    }

    public long dstOffset(int piece) {
        return triples[3 * piece + 1];
    }

    public long lengthBytes(int piece) {
        return triples[3 * piece + 2];
    }

    /** Bytes of all pieces, for one tensor. */
    public long totalBytes() {
        long total = 0;
        for (int i = 2; i < triples.length; i += 3) {
            total += triples[i];
        }
        return total;
    }

    /** Pieces {@code from} to {@code to - 1}. */
    public Pieces slice(int from, int to) {
        return new Pieces(Arrays.copyOfRange(triples, 3 * from, 3 * to));
    }

    @Override
    public String toString() {
        return count() + " pieces of " + totalBytes() + " bytes";
    }

    /** Confined to one thread. Collects pieces in order and joins neighbours. */
    public static final class Builder {
        private long[] triples;
        private int used;

        public Builder(int expected) {
            triples = new long[3 * Math.max(1, expected)];
        }

        @CanIgnoreReturnValue
        public Builder add(long srcOffset, long dstOffset, long lengthBytes) {
            if (used > 0) {
                long last = triples[used - 1];
                if (triples[used - 3] + last == srcOffset
                        && triples[used - 2] + last == dstOffset) {
                    triples[used - 1] = last + lengthBytes;
                    return this;
                }
            }
            if (used == triples.length) {
                triples = Arrays.copyOf(triples, used * 2);
            }
            triples[used] = srcOffset;
            triples[used + 1] = dstOffset;
            triples[used + 2] = lengthBytes;
            used += 3;
            return this;
        }

        public Pieces build() {
            return new Pieces(used == triples.length ? triples : Arrays.copyOf(triples, used));
        }
    }
}
