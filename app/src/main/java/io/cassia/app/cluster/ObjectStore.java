package io.cassia.app.cluster;

import io.cassia.app.replay.BlockStore;
import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.store.PutOptions;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A connection to a store as the commands see it: {@link io.cassia.store.StoreClient}, or a map in
 * a test. Meanings and codes are those of the store client.
 */
public interface ObjectStore extends BlockStore, AutoCloseable {
    Outcome<Done> put(ByteString key, MemorySegment value, PutOptions options);

    Outcome<Long> get(ByteString key, MemorySegment into);

    List<Outcome<Boolean>> existsBatch(List<ByteString> keys);

    Outcome<Long> size(ByteString key);

    Outcome<Done> remove(ByteString key, boolean force);

    Outcome<Long> removeAll(boolean force);

    Outcome<List<KeyInfo>> list(ByteString prefix, ByteString after, int limit);

    Outcome<Stats> stats();

    @Override
    default Outcome<Long> evictedObjects() {
        return stats().map(Stats::evictedObjects);
    }

    @Override
    void close();
}
