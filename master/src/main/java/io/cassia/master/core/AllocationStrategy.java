package io.cassia.master.core;

/** In which order segment names are tried for a new replica (spec mooncake-store 4.4). */
public enum AllocationStrategy {
    /** From a random name on, one after the other. */
    RANDOM,
    /** The name with the largest share of free bytes in a random sample first. */
    FREE_RATIO_FIRST,
    /**
     * The name whose client has the largest share of free SSD first. Without reports of SSDs, which
     * this master does not take yet, as {@link #FREE_RATIO_FIRST}.
     */
    SSD_FREE_RATIO_FIRST,
    /** Names on the writer's host first, then as {@link #RANDOM}; only for one replica. */
    LOCAL_FIRST
}
