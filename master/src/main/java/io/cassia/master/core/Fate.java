package io.cassia.master.core;

import java.util.Locale;

/** Why an object, or a version of it, is no more. */
public enum Fate {
    /** Made room for a put of anybody. */
    EVICTED,
    /** Made room within its tenant's quota. */
    EVICTED_FOR_TENANT,
    /** Made room because there were too many objects or their records took too much heap. */
    EVICTED_FOR_COUNT,
    REMOVED,
    /** By a regular expression, or with all others. */
    REMOVED_WITH_OTHERS,
    /** By BatchReplicaClear. */
    CLEARED,
    /** Its writer took the unfinished put back. */
    REVOKED,
    /** An unfinished put that another writer took over. */
    TAKEN_OVER,
    /** An unfinished put whose writer was not heard of again. */
    TIMED_OUT,
    /** A new version took its place. */
    REPLACED,
    /** The segment of its last replica was unmounted. */
    UNMOUNTED,
    /** A reader found wrong bytes in its last replica. */
    CORRUPT,
    /** The client that held its last replica is dead. */
    NODE_LOST;

    /** In lower case with hyphens. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
