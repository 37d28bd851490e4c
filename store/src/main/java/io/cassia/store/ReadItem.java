package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaStatus;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * One object, or a range of one, on its way through its replicas. Confined to its call.
 *
 * <p>A range that does not begin and end with chunks is widened to them, so that it can be proved:
 * what the caller did not ask for passes through staging memory.
 *
 * <pre>
 *   chunks   |-------|-------|-------|-------|
 *   range         [=====================]
 *   parts    [head  ][ caller's memory ][tail ]
 * </pre>
 */
final class ReadItem implements AutoCloseable {
    private static final long CHUNK = Checksums.CHUNK_BYTES;

    final int index;
    final ByteString key;
    final Found found;

    /** Bytes that the caller asked for. */
    final long wantedBytes;

    /** Where the parts begin in the object. */
    private long fromBytes;

    /** The memory to read into, without gaps. */
    private final List<MemorySegment> parts = new ArrayList<>(1);

    /** Of each part, unless chunks lie in several parts or there is nothing to prove them by. */
    private List<Proof> proofs = List.of();

    private int wrongChunk;
    private final List<Edge> edges = new ArrayList<>(0);
    private final List<ReplicaDescriptor> untried = new ArrayList<>(1);

    /** Staging memory of which a part is the caller's. */
    private record Edge(Staging.Block block, MemorySegment from, MemorySegment to) {}

    /** Compares the chunks of one part with what the master keeps. */
    private static final class Proof extends Chunks {
        private final ByteString sums;
        private final int first;

        Proof(ByteString sums, int first, MemorySegment part) {
            super(part);
            this.sums = sums;
            this.first = first;
        }

        @Override
        boolean take(int chunk, int sum) {
            return sum == Checksums.read(sums, first + chunk);
        }

        /** The first wrong chunk, counted in the object; -1 when none is. */
        long firstWrong() {
            int wrong = finish();
            return wrong < 0 ? -1 : first + wrong;
        }
    }

    private ReadItem(int index, ByteString key, Found found, long wantedBytes) {
        this.index = index;
        this.key = key;
        this.found = found;
        this.wantedBytes = wantedBytes;
    }

    /**
     * A whole object into memory that may be longer than it. INVALID_PARAMS when it is too small or
     * not native, INVALID_REPLICA when no replica is in memory.
     */
    static Outcome<ReadItem> whole(
            int index, ByteString key, Found found, List<MemorySegment> into, Peers peers) {
        long size = found.sizeBytes();
        long room = Checksums.length(into);
        if (room < size) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "memory of " + room + " bytes for an object of " + size + " bytes");
        }
        ReadItem item = new ReadItem(index, key, found, size);
        long left = size;
        for (MemorySegment part : into) {
            Outcome.Failed<?> unusable = Memories.unwritable(part);
            if (unusable != null) {
                return unusable.as();
            }
            long length = Math.min(left, part.byteSize());
            if (length > 0) {
                item.parts.add(length == part.byteSize() ? part : part.asSlice(0, length));
            }
            left -= length;
        }
        return item.rank(peers);
    }

    /** A range. INVALID_READ when it ends behind the object; otherwise as {@link #whole}. */
    static Outcome<ReadItem> range(
            int index, Found found, RangeRead range, Peers peers, Staging staging) {
        long size = found.sizeBytes();
        long length = range.into().byteSize();
        long from = range.offsetBytes();
        if (from < 0 || from > size || length > size - from) {
            return Outcome.failed(
                    StoreCode.INVALID_READ,
                    "bytes %d to %d of an object of %d bytes".formatted(from, from + length, size));
        }
        Outcome.Failed<?> unusable = Memories.unwritable(range.into());
        if (unusable != null) {
            return unusable.as();
        }
        ReadItem item = new ReadItem(index, range.key(), found, length);
        item.fromBytes = from;
        if (length > 0 && found.isChecked()) {
            Outcome<ReadItem> widened = item.widen(from, range.into(), size, staging);
            if (!widened.isOk()) {
                item.close();
                return widened;
            }
        } else if (length > 0) {
            item.parts.add(range.into());
        }
        Outcome<ReadItem> ranked = item.rank(peers);
        if (!ranked.isOk()) {
            item.close();
        }
        return ranked;
    }

    private Outcome<ReadItem> widen(long from, MemorySegment into, long size, Staging staging) {
        long end = from + into.byteSize();
        fromBytes = from / CHUNK * CHUNK;
        long at = from;
        if (from != fromBytes) {
            long chunkEnd = Math.min(size, fromBytes + CHUNK);
            Outcome<ReadItem> edge =
                    edge(fromBytes, chunkEnd, from, Math.min(end, chunkEnd), into, staging, from);
            if (!edge.isOk()) {
                return edge;
            }
            at = Math.min(end, chunkEnd);
        }
        long wholeEnd = end == size ? end : Math.max(at, end / CHUNK * CHUNK);
        if (wholeEnd > at) {
            parts.add(into.asSlice(at - from, wholeEnd - at));
        }
        if (end > wholeEnd) {
            long chunkEnd = Math.min(size, wholeEnd + CHUNK);
            return edge(wholeEnd, chunkEnd, wholeEnd, end, into, staging, from);
        }
        return Outcome.ok(this);
    }

    /**
     * Chunk {@code first..last} through staging memory, {@code want..until} of it for the caller.
     */
    private Outcome<ReadItem> edge(
            long first,
            long last,
            long want,
            long until,
            MemorySegment into,
            Staging staging,
            long intoBegins) {
        return staging.take(last - first)
                .map(
                        block -> {
                            parts.add(block.memory());
                            edges.add(
                                    new Edge(
                                            block,
                                            block.memory().asSlice(want - first, until - want),
                                            into.asSlice(want - intoBegins, until - want)));
                            return this;
                        });
    }

    private Outcome<ReadItem> rank(Peers peers) {
        for (ReplicaDescriptor replica : found.replicas()) {
            if (replica.status() == ReplicaStatus.COMPLETE.number()
                    && replica.placement() instanceof Placement.Memory) {
                untried.add(replica);
            }
        }
        if (untried.isEmpty()) {
            return Outcome.failed(
                    StoreCode.INVALID_REPLICA,
                    "none of " + found.replicas().size() + " replicas is readable memory");
        }
        if (untried.size() > 1) {
            untried.sort(Comparator.comparingInt(replica -> peers.rank(endpoint(replica))));
        }
        return Outcome.ok(this);
    }

    static BufferDescriptor buffer(ReplicaDescriptor replica) {
        return ((Placement.Memory) replica.placement()).buffer();
    }

    private static String endpoint(ReplicaDescriptor replica) {
        return buffer(replica).transportEndpoint();
    }

    /** Passes over replicas that failed under an earlier lease, unless there are no others. */
    ReadItem avoiding(Set<String> failedEndpoints) {
        List<ReplicaDescriptor> others = new ArrayList<>(untried);
        others.removeIf(replica -> failedEndpoints.contains(endpoint(replica)));
        if (!others.isEmpty()) {
            untried.clear();
            untried.addAll(others);
        }
        return this;
    }

    boolean hasUntried() {
        return !untried.isEmpty();
    }

    ReplicaDescriptor next() {
        return untried.removeFirst();
    }

    /** The same replica once more. */
    void again(ReplicaDescriptor replica) {
        untried.add(replica);
    }

    void addPieces(int position, ReplicaDescriptor replica, List<Transfers.Piece> pieces) {
        long at = fromBytes;
        proofs = found.isChecked() && Chunks.isEachInOne(parts) ? proofs() : List.of();
        for (int i = 0; i < parts.size(); i++) {
            MemorySegment part = parts.get(i);
            Proof proof = proofs.isEmpty() ? null : proofs.get(i);
            pieces.add(new Transfers.Piece(position, buffer(replica), at, part, proof));
            at += part.byteSize();
        }
    }

    private List<Proof> proofs() {
        List<Proof> all = new ArrayList<>(parts.size());
        long at = fromBytes;
        for (MemorySegment part : parts) {
            all.add(new Proof(found.sums(), (int) (at / CHUNK), part));
            at += part.byteSize();
        }
        return all;
    }

    /**
     * What {@link #prove} found wrong, to be read into other memory: a chunk, or all of an object
     * that has upstream's checksum alone.
     */
    Transfers.Piece wrongPiece(ReplicaDescriptor replica, MemorySegment into) {
        return new Transfers.Piece(0, buffer(replica), wrongChunk * CHUNK, into);
    }

    long wrongBytes() {
        return found.isChecked()
                ? Math.min(CHUNK, found.sizeBytes() - wrongChunk * CHUNK)
                : found.sizeBytes();
    }

    /** Whether these bytes are wrong either. */
    boolean isWrongToo(MemorySegment bytes) {
        return found.isChecked()
                ? Checksums.firstWrong(found.sums(), wrongChunk * CHUNK, List.of(bytes)) >= 0
                : Crc64.of(List.of(bytes)) != found.crc64().orElseThrow();
    }

    int pieceCount() {
        return parts.size();
    }

    /** Whether it is all of the object, in the caller's own memory. */
    boolean isWhole() {
        return edges.isEmpty() && wantedBytes == found.sizeBytes();
    }

    /** Takes the object's bytes from a copy of it. */
    void fill(MemorySegment copy) {
        long at = 0;
        for (MemorySegment part : parts) {
            part.copyFrom(copy.asSlice(at, part.byteSize()));
            at += part.byteSize();
        }
    }

    /** Copies the object's bytes. */
    void drain(MemorySegment copy) {
        long at = 0;
        for (MemorySegment part : parts) {
            copy.asSlice(at, part.byteSize()).copyFrom(part);
            at += part.byteSize();
        }
    }

    /** Proves what was read and hands it over; what is wrong, or an empty text. */
    String prove() {
        if (found.isChecked()) {
            long chunk = firstWrong();
            if (chunk >= 0) {
                wrongChunk = (int) chunk;
                return "the 64 KiB at %d are not what was put".formatted(chunk * CHUNK);
            }
        } else if (found.crc64().isPresent() && wantedBytes == found.sizeBytes()) {
            long sum = Crc64.of(parts);
            if (sum != found.crc64().getAsLong()) {
                return "the CRC-64 is 0x%016x, not 0x%016x"
                        .formatted(sum, found.crc64().getAsLong());
            }
        }
        for (Edge edge : edges) {
            edge.to.copyFrom(edge.from);
        }
        return "";
    }

    private long firstWrong() {
        if (proofs.isEmpty()) {
            return Checksums.firstWrong(found.sums(), fromBytes, parts);
        }
        for (Proof proof : proofs) {
            long wrong = proof.firstWrong();
            if (wrong >= 0) {
                return wrong;
            }
        }
        return -1;
    }

    /** Gives staging memory back. */
    @Override
    public void close() {
        edges.forEach(edge -> edge.block.close());
        edges.clear();
    }
}
