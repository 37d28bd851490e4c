package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * One object that is written piece by piece: a {@link BatchWriteSession} of one key. Thread-safe.
 *
 * <pre>
 *   open ──write*──► commit: readable
 *     └────────────► close without commit: taken back
 * </pre>
 *
 * Each byte is written at least once, from any memory, in any order. Checksums are taken of what is
 * given to {@link #write}; only of chunks that are written over in part they are taken of what a
 * node has at the commit, as told there.
 */
public final class WriteSession implements AutoCloseable {
    private final BatchWriteSession batch;
    private final ByteString key;
    private final long sizeBytes;

    private WriteSession(BatchWriteSession batch, ByteString key, long sizeBytes) {
        this.batch = batch;
        this.key = key;
        this.sizeBytes = sizeBytes;
    }

    /** Of a session with that key alone; the failure of its start when there is one. */
    static Outcome<WriteSession> of(BatchWriteSession batch, long sizeBytes) {
        return batch.started()
                .getFirst()
                .map(_ -> new WriteSession(batch, batch.keys().getFirst(), sizeBytes));
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
        return batch.write(List.of(new RangeWrite(key, offsetBytes, bytes))).getFirst();
    }

    /**
     * Makes the object readable; the value is its version. INVALID_WRITE when bytes are missing, a
     * write has failed, or the master has given the put up because it took too long; nothing is
     * readable then.
     */
    public Outcome<Long> commit() {
        return batch.commit().getFirst();
    }

    /**
     * Takes the put back. INVALID_WRITE after the end; OBJECT_NOT_FOUND when the master has given
     * it up; WRITE_FAIL when a write did not end in time, so that bytes may still arrive at a node:
     * the key and its space come back by the master's own time-outs.
     */
    public Outcome<Done> revoke() {
        return batch.revoke().getFirst();
    }

    /** Takes back what was not committed; the master does it later if it cannot be told. */
    @Override
    public void close() {
        batch.close();
    }
}
