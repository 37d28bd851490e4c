package io.cassia.master.core;

/** What the state machine counts from its start on; the order is that of the digest. */
public enum CoreCount {
    /** Objects that lost their memory replicas to an eviction. */
    EVICTED_OBJECTS,
    EVICTED_BYTES,
    /** Runs of an eviction, on demand or above the watermark. */
    EVICTIONS_ATTEMPTED,
    /** Runs that freed something. */
    EVICTIONS_SUCCESSFUL,
    /** Runs on demand that freed nothing, or not enough for the put. */
    EVICTIONS_FRUITLESS,
    /** Puts that found no space. */
    PUT_ALLOCATION_FAILURES,
    /** Puts that got fewer replicas than wanted. */
    PUT_PARTIAL_ALLOCATIONS,
    /** Unfinished puts that another writer took over. */
    PUT_DISCARDED,
    /** Unfinished puts whose space was given back by the release timeout. */
    PUT_RELEASED,
    /** Clients that did not ping in time. */
    CLIENTS_EXPIRED,
    /** Counted leases that ran out without a Release. */
    LEASES_EXPIRED,
    /** Reads that found a readable object. */
    GET_HITS,
    /** Bytes of the objects that such reads found. */
    GET_HIT_BYTES,
    /** Reads of objects, found or not. */
    GETS,
    /** Copies and moves that did not end in time, or whose client died. */
    REPLICATIONS_DROPPED,
    /** Copies and moves that ended well. */
    REPLICATIONS_DONE,
    /** Tasks that failed because nobody fetched or ended them in time. */
    TASKS_TIMED_OUT,
    /** Finished tasks that were forgotten. */
    TASKS_PRUNED,
    /** Bytes evicted to make room within a tenant's quota. */
    TENANT_EVICTED_BYTES,
    /** Writes that their tenant's quota refused. */
    TENANT_REJECTS,
    /** Clients that fell silent; their data was kept. */
    CLIENTS_SUSPECTED,
    /** Segments unmounted by another client than their owner. */
    FOREIGN_UNMOUNTS,
    /** Nanoseconds that the timer was late, which clients get on top of their time to live. */
    STALLED_NANOS
}
