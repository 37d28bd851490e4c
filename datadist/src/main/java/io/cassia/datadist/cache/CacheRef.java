package io.cassia.datadist.cache;

/**
 * How a cluster's cache is named by its peers. Immutable. Request and prefix keys name one batch,
 * block keys a whole block cache, an index either.
 */
public sealed interface CacheRef permits CacheIndex, CacheKey, BlocksCacheKey {
    /** The cluster that owns the cache. */
    long clusterId();
}
