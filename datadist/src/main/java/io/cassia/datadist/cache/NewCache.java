package io.cassia.datadist.cache;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A cache about to enter the table. Immutable.
 *
 * @param desc what it looks like
 * @param geometry its checked sizes
 * @param origin whose memory it is
 * @param blocks whether it was made as a block cache
 * @param tensors its memory
 * @param keys keys by batch; placeholders allowed
 * @param blocksKey key of the whole, for block caches
 * @param onFree gives the memory back; called without a lock, and again when it has failed
 */
public record NewCache(
        CacheDesc desc,
        Geometry geometry,
        CacheOrigin origin,
        boolean blocks,
        List<MemorySegment> tensors,
        List<CacheKey> keys,
        Optional<BlocksCacheKey> blocksKey,
        Supplier<Outcome<Done>> onFree) {
    public NewCache {
        tensors = List.copyOf(tensors);
        keys = List.copyOf(keys);
    }
}
