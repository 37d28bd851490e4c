package io.cassia.master.core;

/** What space may cost others. Immutable. */
enum Room {
    /** Nothing: what is free. */
    FREE,
    /** Objects that nothing protects: nobody waits for this space yet. */
    UNPROTECTED,
    /** A write waits: exist leases and soft pins do not protect when there is nothing else. */
    DEMANDED
}
