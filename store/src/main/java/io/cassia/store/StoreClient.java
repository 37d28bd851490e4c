package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A client of the object store: reads and writes nodes' memory one-sidedly, asks the master only
 * for descriptors. Thread-safe. Every call ends within the configured deadline.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class StoreClient implements AutoCloseable {
    private StoreClient() {}

    /**
     * Connects; RPC_FAIL when the master is not there, INVALID_VERSION when it is another release.
     */
    public static Outcome<StoreClient> connect(
            StoreClientConfig config, Clock clock, MeterRegistry meters) {
        throw new UnsupportedOperationException();
    }

    /** Stores a value; an existing key stays as it is and is OBJECT_ALREADY_EXISTS. */
    public Outcome<Done> put(ByteString key, MemorySegment value, PutOptions options) {
        throw new UnsupportedOperationException();
    }

    /** One outcome per key; a failed key does not disturb the others. */
    public List<Outcome<Done>> putBatch(
            List<ByteString> keys, List<MemorySegment> values, PutOptions options) {
        throw new UnsupportedOperationException();
    }

    /** Reads an object into the caller's memory; the value is its size in bytes. */
    public Outcome<Long> get(ByteString key, MemorySegment into) {
        throw new UnsupportedOperationException();
    }

    /** One outcome per key. */
    public List<Outcome<Long>> getBatch(List<ByteString> keys, List<MemorySegment> into) {
        throw new UnsupportedOperationException();
    }

    /**
     * Reads the leading readable keys under one lease in one go. The list is as long as that
     * prefix; an item is a failure when the key was readable by the master's word but its bytes
     * could not be had.
     */
    public List<Outcome<Long>> getPrefix(List<ByteString> keys, List<MemorySegment> into) {
        throw new UnsupportedOperationException();
    }

    public Outcome<Boolean> exists(ByteString key) {
        throw new UnsupportedOperationException();
    }

    public List<Outcome<Boolean>> existsBatch(List<ByteString> keys) {
        throw new UnsupportedOperationException();
    }

    /** Size of a readable object in bytes. */
    public Outcome<Long> size(ByteString key) {
        throw new UnsupportedOperationException();
    }

    public Outcome<Done> remove(ByteString key, boolean force) {
        throw new UnsupportedOperationException();
    }

    /** Removes all objects of this client's tenant; the value is their number. */
    public Outcome<Long> removeAll(boolean force) {
        throw new UnsupportedOperationException();
    }

    /** Keys in byte order, {@code limit} at most, behind {@code after}. */
    public Outcome<List<KeyInfo>> list(ByteString prefix, ByteString after, int limit) {
        throw new UnsupportedOperationException();
    }

    /** The pool at this moment. */
    public Outcome<Stats> stats() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
