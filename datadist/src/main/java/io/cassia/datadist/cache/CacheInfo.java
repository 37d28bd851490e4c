package io.cassia.datadist.cache;

/**
 * A cache as the instance sees it. Immutable.
 *
 * @param cacheId its number
 * @param desc what it looks like
 * @param origin whose memory it is
 * @param blocks whether it was made as a block cache
 * @param deallocated whether only keys or transfers still hold it
 * @param keys keys bound to it
 * @param pins transfers and copies that use it now
 */
public record CacheInfo(
        long cacheId,
        CacheDesc desc,
        CacheOrigin origin,
        boolean blocks,
        boolean deallocated,
        int keys,
        int pins) {}
