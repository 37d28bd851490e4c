package io.cassia.datadist.cache;

/**
 * Name of a whole block cache. Immutable.
 *
 * @param clusterId owner; ignored when the cache is made
 * @param modelId model, 0 where there is one only
 */
public record BlocksCacheKey(long clusterId, long modelId) implements CacheRef {
    @Override
    public String toString() {
        return "block cache of model %s of cluster %s"
                .formatted(Long.toUnsignedString(modelId), Long.toUnsignedString(clusterId));
    }
}
