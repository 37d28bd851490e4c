package io.cassia.datadist.cache;

/**
 * A bound key. Immutable.
 *
 * @param name the key in words
 * @param cacheId cache it names
 * @param batchIndex batch it names, 0 for block caches
 * @param ageNanos time since it was bound
 * @param remainingTensors tensors that no pull has fetched yet
 */
public record KeyInfo(
        String name, long cacheId, int batchIndex, long ageNanos, int remainingTensors) {}
