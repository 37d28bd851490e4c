package io.cassia.datadist.cache;

/**
 * One batch of a peer's cache by number. Immutable.
 *
 * @param clusterId owner
 * @param cacheId number that the owner gave to the cache
 * @param batchIndex batch; has to be 0 where blocks are addressed
 */
public record CacheIndex(long clusterId, long cacheId, int batchIndex) implements CacheRef {
    /** The first batch, or all blocks. */
    public CacheIndex(long clusterId, long cacheId) {
        this(clusterId, cacheId, 0);
    }

    @Override
    public String toString() {
        return "cache %d batch %d of cluster %s"
                .formatted(cacheId, batchIndex, Long.toUnsignedString(clusterId));
    }
}
