package io.cassia.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.ByteString;
import io.cassia.base.Deadline;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.Transfers.Piece;
import io.cassia.store.Transfers.Written;
import io.cassia.transfer.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/**
 * One object that is written piece by piece. Guarded.
 *
 * <pre>
 *   open ──write*──► commit: readable
 *     └────────────► close without commit: taken back
 * </pre>
 *
 * Each byte is written at least once. In order, from any memory, costs least: chunks that are
 * written in pieces and out of order are read back at the commit, so that they can be proved.
 */
public final class WriteSession implements AutoCloseable {
    private static final long CHUNK = Checksums.CHUNK_BYTES;

    private final ByteString key;
    private final long sizeBytes;
    private final long put;
    private final Deadline term;
    private final List<BufferDescriptor> replicas;
    private final Writes writes;
    private final Transfers transfers;
    private final Staging staging;
    private final Supplier<Deadline> deadlines;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final byte[] sums;

    /** Chunks whose sum is known. */
    @GuardedBy("lock")
    private final BitSet summed = new BitSet();

    /** Written ranges outside the run, as first and last byte behind. */
    @GuardedBy("lock")
    private final List<long[]> written = new ArrayList<>();

    /** Running sum of the chunk that the bytes in order have reached. */
    @GuardedBy("lock")
    private final CRC32C running = new CRC32C();

    @GuardedBy("lock")
    private long inOrderBytes;

    @GuardedBy("lock")
    private boolean ended;

    @GuardedBy("lock")
    private boolean failed;

    /** Bytes of a write that failed may still arrive: the space must stay this put's. */
    @GuardedBy("lock")
    private boolean adrift;

    private WriteSession(
            ByteString key,
            long sizeBytes,
            long put,
            Deadline term,
            List<BufferDescriptor> replicas,
            Writes writes,
            Transfers transfers,
            Staging staging,
            Supplier<Deadline> deadlines) {
        this.key = key;
        this.sizeBytes = sizeBytes;
        this.put = put;
        this.term = term;
        this.replicas = replicas;
        this.writes = writes;
        this.transfers = transfers;
        this.staging = staging;
        this.deadlines = deadlines;
        this.sums = new byte[Math.toIntExact(Checksums.chunks(sizeBytes) * 4)];
    }

    static Outcome<WriteSession> open(
            ByteString key,
            long sizeBytes,
            PutOptions options,
            Writes writes,
            Transfers transfers,
            Staging staging,
            Supplier<Deadline> deadlines) {
        if (sizeBytes < 0) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "put of %s: an object of %d bytes".formatted(Keys.show(key), sizeBytes));
        }
        return writes.startOne(key, sizeBytes, options, deadlines.get())
                .then(
                        started -> {
                            List<BufferDescriptor> memory = memory(started.answer());
                            return memory.isEmpty()
                                    ? Outcome.failed(
                                            StoreCode.INVALID_REPLICA,
                                            "put of %s: the master allocated no memory replica"
                                                    .formatted(Keys.show(key)))
                                    : Outcome.ok(
                                            new WriteSession(
                                                    key,
                                                    sizeBytes,
                                                    started.answer().getFirst().id(),
                                                    started.term(),
                                                    memory,
                                                    writes,
                                                    transfers,
                                                    staging,
                                                    deadlines));
                        });
    }

    private static List<BufferDescriptor> memory(List<ReplicaDescriptor> replicas) {
        List<BufferDescriptor> memory = new ArrayList<>(replicas.size());
        for (ReplicaDescriptor replica : replicas) {
            if (replica.placement() instanceof Placement.Memory(BufferDescriptor buffer)) {
                memory.add(buffer);
            }
        }
        return memory;
    }

    public ByteString key() {
        return key;
    }

    public long sizeBytes() {
        return sizeBytes;
    }

    /**
     * Writes a range to every replica. INVALID_PARAMS when it leaves the object or the memory is
     * not native; INVALID_WRITE after the end, and when the session is open for longer than the
     * master keeps its space; TRANSFER_FAIL or WRITE_FAIL when a replica did not take it: the
     * session can then only be closed.
     */
    public Outcome<Done> write(long offsetBytes, MemorySegment bytes) {
        long length = bytes.byteSize();
        if (offsetBytes < 0 || offsetBytes > sizeBytes || length > sizeBytes - offsetBytes) {
            return Outcome.failed(
                    StoreCode.INVALID_PARAMS,
                    "bytes %d to %d of an object of %d bytes, put of %s"
                            .formatted(
                                    offsetBytes, offsetBytes + length, sizeBytes, Keys.show(key)));
        }
        Outcome.Failed<?> unusable = Memories.unreadable(bytes);
        if (unusable != null) {
            return unusable.in("put of " + Keys.show(key));
        }
        lock.lock();
        try {
            if (ended) {
                return over();
            }
            if (term.hasPassed()) {
                failed = true;
                return Outcome.failed(
                        StoreCode.INVALID_WRITE,
                        "the put of %s took so long that the master has given it up; nothing was written"
                                .formatted(Keys.show(key)));
            }
            List<Piece> pieces = new ArrayList<>(replicas.size());
            for (BufferDescriptor replica : replicas) {
                if (length > 0) {
                    pieces.add(new Piece(0, replica, offsetBytes, bytes));
                }
            }
            note(offsetBytes, bytes);
            Written written = transfers.write(pieces, deadlines.get().earlier(term));
            adrift |= written.adrift();
            for (Outcome<Done> moved : written.outcomes()) {
                if (moved instanceof Outcome.Failed<Done> failure) {
                    failed = true;
                    return failure.in("put of " + Keys.show(key));
                }
            }
            return Outcome.done();
        } finally {
            lock.unlock();
        }
    }

    private Outcome<Done> over() {
        return Outcome.failed(
                StoreCode.INVALID_WRITE, "the put of " + Keys.show(key) + " has ended");
    }

    @GuardedBy("lock")
    private void note(long offset, MemorySegment bytes) {
        long length = bytes.byteSize();
        if (offset == inOrderBytes) {
            for (long at = 0; at < length; ) {
                long step = Math.min(CHUNK - inOrderBytes % CHUNK, length - at);
                running.update(bytes.asSlice(at, step).asByteBuffer());
                at += step;
                inOrderBytes += step;
                if (inOrderBytes % CHUNK == 0 || inOrderBytes == sizeBytes) {
                    sum((inOrderBytes - 1) / CHUNK, (int) running.getValue());
                    running.reset();
                }
            }
            return;
        }
        written.add(new long[] {offset, offset + length});
        long end = offset + length;
        for (long chunk = offset / CHUNK; chunk * CHUNK < end; chunk++) {
            long from = chunk * CHUNK;
            long to = Math.min(sizeBytes, from + CHUNK);
            if (from >= offset && to <= end) {
                CRC32C crc = new CRC32C();
                crc.update(bytes.asSlice(from - offset, to - from).asByteBuffer());
                sum(chunk, (int) crc.getValue());
            } else {
                summed.clear((int) chunk);
            }
        }
        if (offset < inOrderBytes) {
            // The run's last chunk was written over: what it adds up to is not known any more.
            written.add(new long[] {0, inOrderBytes});
            inOrderBytes = Long.MAX_VALUE;
        }
    }

    @GuardedBy("lock")
    private void sum(long chunk, int value) {
        Checksums.write(sums, (int) chunk, value);
        summed.set((int) chunk);
    }

    /**
     * Makes the object readable; the value is its version. INVALID_WRITE when bytes are missing, a
     * write has failed, or the master has given the put up because it took too long; nothing is
     * readable then.
     */
    public Outcome<Long> commit() {
        lock.lock();
        try {
            if (ended) {
                return over().map(done -> 0L);
            }
            long hole = firstHole();
            if (hole < sizeBytes || failed) {
                return Outcome.failed(
                        StoreCode.INVALID_WRITE,
                        failed
                                ? "a write of the put of %s failed".formatted(Keys.show(key))
                                : "put of %s: byte %d was not written"
                                        .formatted(Keys.show(key), hole));
            }
            Deadline deadline = deadlines.get();
            ByteString known = ByteString.EMPTY;
            if (writes.isChecked()) {
                Outcome<Done> complete = sumTheRest(deadline);
                if (complete instanceof Outcome.Failed<Done> incomplete) {
                    return incomplete.as();
                }
                known = ByteString.wrap(sums);
            }
            Outcome<Long> committed = writes.endOne(key, put, known, deadline);
            ended = committed.isOk();
            return committed;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private long firstHole() {
        if (inOrderBytes != Long.MAX_VALUE) {
            written.add(new long[] {0, inOrderBytes});
        }
        written.sort((a, b) -> Long.compare(a[0], b[0]));
        long reached = 0;
        for (long[] range : written) {
            if (range[0] > reached) {
                return reached;
            }
            reached = Math.max(reached, range[1]);
        }
        return reached;
    }

    @GuardedBy("lock")
    private Outcome<Done> sumTheRest(Deadline deadline) {
        long chunks = Checksums.chunks(sizeBytes);
        for (int chunk = summed.nextClearBit(0);
                chunk < chunks;
                chunk = summed.nextClearBit(chunk)) {
            long from = chunk * CHUNK;
            int index = chunk;
            Outcome<Done> read =
                    staging.take(Math.min(CHUNK, sizeBytes - from))
                            .then(block -> readBack(index, block, deadline));
            if (!read.isOk()) {
                return read;
            }
        }
        return Outcome.done();
    }

    private Outcome<Done> readBack(int chunk, Staging.Block staged, Deadline deadline) {
        try (staged) {
            Piece piece = new Piece(0, replicas.getFirst(), chunk * CHUNK, staged.memory());
            Outcome<Done> read = transfers.run(Opcode.READ, List.of(piece), deadline).getFirst();
            if (read.isOk()) {
                CRC32C crc = new CRC32C();
                crc.update(staged.memory().asByteBuffer());
                lock.lock();
                try {
                    sum(chunk, (int) crc.getValue());
                } finally {
                    lock.unlock();
                }
            }
            return read;
        }
    }

    /**
     * Takes the put back. INVALID_WRITE after the end; WRITE_FAIL when a write did not end in time,
     * so that bytes may still arrive at a node: the key and its space come back by the master's own
     * time-outs.
     */
    public Outcome<Done> revoke() {
        lock.lock();
        try {
            if (ended) {
                return over();
            }
            ended = true;
            if (adrift) {
                return Outcome.failed(
                        StoreCode.WRITE_FAIL,
                        "a write of the put of %s did not end in time; the key is free again after the discard timeout"
                                .formatted(Keys.show(key)));
            }
            return writes.revokeOne(key, put, deadlines.get());
        } finally {
            lock.unlock();
        }
    }

    /** Takes back what was not committed; the master does it later if it cannot be told. */
    @Override
    public void close() {
        Outcome<Done> _ = revoke();
    }
}
