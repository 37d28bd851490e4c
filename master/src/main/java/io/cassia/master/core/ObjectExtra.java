package io.cassia.master.core;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Confined to the master's lock. What few objects have. */
final class ObjectExtra {
    /** Memory replicas beyond the inline one. */
    final List<Replica> replicas = new ArrayList<>(1);

    /** The new version in flight. */
    @Nullable Upsert upsert;

    /**
     * Id of the first replica that the Start of the current version answered, when the inline one
     * is not that any more; else 0.
     */
    long put;

    /** The copy or move under way. */
    @Nullable Replication replication;

    /** The objects that it is leased and evicted with. */
    GroupTable.@Nullable Group group;

    /** End of the soft pin; 0 when none. */
    long softPinUntil;

    /** Soft pin that the End of the put in flight will set. */
    long pendingSoftPinNanos;

    void digest(Digest digest) {
        replicas.forEach(replica -> replica.digest(digest));
        digest.add(put);
        digest.add(softPinUntil);
        digest.add(pendingSoftPinNanos);
        if (group != null) {
            digest.add(group.text.array());
            digest.add(group.joined ? 1 : 0);
        }
        if (replication != null) {
            replication.digest(digest);
        }
        if (upsert != null) {
            digest.add(upsert.writer);
            digest.add(upsert.startNanos);
            digest.add(upsert.size);
            upsert.replicas.forEach(replica -> replica.digest(digest));
        }
    }

    boolean isEmpty() {
        return replicas.isEmpty()
                && upsert == null
                && replication == null
                && put == 0
                && group == null
                && softPinUntil == 0
                && pendingSoftPinNanos == 0;
    }
}
