package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.Transfers.Piece;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * One object of a session, from its start to its end. Confined to its session's lock.
 *
 * <pre>
 *   OPEN ──► COMMITTED: readable
 *     └────► REVOKED: taken back, or left to the master's time-outs
 * </pre>
 */
final class WriteItem {
    private enum State {
        OPEN,
        COMMITTED,
        REVOKED
    }

    final ByteString key;
    final long sizeBytes;

    /** Which put it is: the id of its first replica. */
    final long put;

    final PieceSums sums;
    private final List<BufferDescriptor> replicas;

    /** What the ranges of one call take, from first to last byte behind. */
    private final TreeMap<Long, Long> taken = new TreeMap<>();

    private State state = State.OPEN;
    private long version;
    private boolean failed;
    private boolean adrift;

    private WriteItem(ByteString key, long sizeBytes, long put, List<BufferDescriptor> replicas) {
        this.key = key;
        this.sizeBytes = sizeBytes;
        this.put = put;
        this.replicas = replicas;
        this.sums = new PieceSums(sizeBytes);
    }

    /** INVALID_REPLICA when what the master answered cannot be written to. */
    static Outcome<WriteItem> of(ByteString key, long sizeBytes, List<ReplicaDescriptor> answer) {
        List<BufferDescriptor> replicas = new ArrayList<>(answer.size());
        for (ReplicaDescriptor replica : answer) {
            if (replica.placement() instanceof Placement.Memory(BufferDescriptor buffer)) {
                if (buffer.size() != sizeBytes) {
                    return Outcome.failed(
                            StoreCode.INVALID_REPLICA,
                            "put of %s: the master allocated %d bytes for an object of %d bytes"
                                    .formatted(Keys.show(key), buffer.size(), sizeBytes));
                }
                replicas.add(buffer);
            }
        }
        return replicas.isEmpty()
                ? Outcome.failed(
                        StoreCode.INVALID_REPLICA,
                        "put of %s: the master allocated no memory replica"
                                .formatted(Keys.show(key)))
                : Outcome.ok(new WriteItem(key, sizeBytes, answer.getFirst().id(), replicas));
    }

    String context() {
        return "put of " + Keys.show(key);
    }

    boolean isOpen() {
        return state == State.OPEN;
    }

    /** Whether bytes of a write that failed may still arrive: the space must stay this put's. */
    boolean isAdrift() {
        return adrift;
    }

    void beginCall() {
        taken.clear();
    }

    /** Takes a range for this call if it may be written. */
    Outcome<Done> take(RangeWrite range, boolean late) {
        long from = range.offsetBytes();
        long length = range.bytes().byteSize();
        if (from < 0 || from > sizeBytes || length > sizeBytes - from) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "bytes %d to %d of an object of %d bytes, %s"
                            .formatted(from, from + length, sizeBytes, context()));
        }
        Outcome.Failed<?> unusable = Memories.unreadable(range.bytes());
        if (unusable != null) {
            return unusable.in(context());
        }
        if (!isOpen()) {
            return over();
        }
        if (late) {
            failed = true;
            return Outcome.failed(
                    StoreCode.INVALID_WRITE,
                    "the "
                            + context()
                            + " took so long that the master has given it up; nothing was written");
        }
        Map.Entry<Long, Long> before = taken.lowerEntry(from + length);
        if (length > 0 && before != null && before.getValue() > from) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "bytes %d to %d of the %s: another range of the same call has some of them"
                            .formatted(from, from + length, context()));
        }
        if (length > 0) {
            taken.put(from, from + length);
        }
        return Outcome.done();
    }

    /** What is to be copied for a range, which goes to every replica. */
    void addPieces(int position, RangeWrite range, List<Piece> pieces) {
        MemorySegment bytes = range.bytes();
        if (bytes.byteSize() > 0) {
            for (BufferDescriptor replica : replicas) {
                pieces.add(new Piece(position, replica, range.offsetBytes(), bytes));
            }
        }
    }

    /** The bytes of a range did not get everywhere. */
    void writeFailed(boolean mayStillArrive) {
        failed = true;
        adrift |= mayStillArrive;
    }

    Outcome<Done> over() {
        return Outcome.failed(StoreCode.INVALID_WRITE, "the " + context() + " has ended");
    }

    /** Whether it may be made readable. */
    Outcome<Done> complete() {
        if (failed) {
            return Outcome.failed(
                    StoreCode.INVALID_WRITE, "a write of the " + context() + " failed");
        }
        long missing = sums.firstMissing();
        return missing == sizeBytes
                ? Outcome.done()
                : Outcome.failed(
                        StoreCode.INVALID_WRITE,
                        context() + ": byte " + missing + " was not written");
    }

    /** Where the bytes of a chunk are to be read from. */
    Piece chunk(int chunk, MemorySegment into) {
        return new Piece(0, replicas.getFirst(), (long) chunk * Checksums.CHUNK_BYTES, into);
    }

    WrittenObject written(boolean isChecked) {
        return new WrittenObject(
                key, OptionalLong.empty(), isChecked ? sums.sums() : ByteString.EMPTY);
    }

    void committed(long newVersion) {
        state = State.COMMITTED;
        version = newVersion;
    }

    void revoked() {
        state = State.REVOKED;
    }

    /** What the end was: its version; INVALID_WRITE when it was taken back. */
    Outcome<Long> end() {
        return state == State.COMMITTED ? Outcome.ok(version) : over().map(_ -> 0L);
    }
}
