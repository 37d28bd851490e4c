package io.cassia.app.replay;

import io.cassia.base.ByteString;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** What a replay needs of a store: one connection, used by one thread at a time. */
public interface BlockStore {
    /**
     * Reads the leading stored blocks. The list is as long as that prefix; an item is a failure
     * when the block counts as stored but its bytes could not be had.
     */
    List<Outcome<Long>> getPrefix(List<ByteString> keys, List<MemorySegment> into);

    /** Stores blocks; one outcome per key. A block that is there stays and is reported so. */
    List<Outcome<Done>> putBatch(List<ByteString> keys, List<MemorySegment> values);

    /** Objects that the whole store has evicted so far. */
    Outcome<Long> evictedObjects();
}
