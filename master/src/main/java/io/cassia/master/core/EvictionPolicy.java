package io.cassia.master.core;

/** Which objects an eviction takes first. */
public enum EvictionPolicy {
    /** The least recently used, as upstream; a put counts as a use. */
    LRU,
    /**
     * Objects that nobody has read since their put share half of the memory; beyond it the oldest
     * of them go first, so that a flood of objects that are never read cannot wash out those that
     * are. One that is put again soon after it went counts as read. Else as {@link #LRU}.
     */
    TWO_QUEUES
}
