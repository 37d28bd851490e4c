package io.cassia.datadist.cache;

/** Whose memory a cache is. Immutable. */
public enum CacheOrigin {
    /** From a pool of the instance. */
    ALLOCATED,
    /** The user's, made known to the instance. */
    REGISTERED
}
