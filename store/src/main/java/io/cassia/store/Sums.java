package io.cassia.store;

import io.cassia.base.ByteString;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The checksums of an object that is being put, made of each part when its bytes are in the caches
 * anyway. Confined to its call, which lends the chunks of a part to those who carry it.
 */
final class Sums {
    /** Of an object that gets none. */
    static final Sums NONE = new Sums(null);

    private final @Nullable List<MemorySegment> parts;

    /** Of each part; empty when chunks lie in several parts. */
    private final List<Making> makings;

    private final byte[] sums;

    Sums(@Nullable List<MemorySegment> parts) {
        this.parts = parts;
        if (parts == null || !Chunks.isEachInOne(parts)) {
            this.makings = List.of();
            this.sums = new byte[0];
            return;
        }
        this.makings = new ArrayList<>(parts.size());
        this.sums = Checksums.room(Checksums.length(parts));
        int first = 0;
        for (MemorySegment part : parts) {
            Making making = new Making(sums, first, part);
            makings.add(making);
            first += (int) Checksums.chunks(part.byteSize());
        }
    }

    /** Writes down what the chunks of one part add up to. */
    private static final class Making extends Chunks {
        private final byte[] sums;
        private final int first;

        Making(byte[] sums, int first, MemorySegment part) {
            super(part);
            this.sums = sums;
            this.first = first;
        }

        @Override
        boolean take(int chunk, int sum) {
            Checksums.write(sums, first + chunk, sum);
            return true;
        }
    }

    /** The chunks of a part; null when they are made at the end. */
    @Nullable Chunks ofPart(int part) {
        return makings.isEmpty() ? null : makings.get(part);
    }

    /** All of them, when nobody carries a part any more. */
    ByteString all() {
        if (parts == null) {
            return ByteString.EMPTY;
        }
        if (makings.isEmpty()) {
            return Checksums.of(parts);
        }
        for (Making making : makings) {
            // Whatever a chunk adds up to is right.
            int _ = making.finish();
        }
        return ByteString.wrap(sums);
    }
}
