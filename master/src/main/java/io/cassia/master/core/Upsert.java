package io.cassia.master.core;

import io.cassia.rpc.mooncake.Uuid;
import java.util.List;

/**
 * Confined to the master's lock. The new version of an object that stays readable in its old
 * version until the End: readers never see bytes of both (upstream writes in place, spec
 * mooncake-store 3.4 case B).
 */
final class Upsert {
    final Uuid writer;
    final long startNanos;
    final long size;
    final PutTraits traits;
    final List<Replica> replicas;

    /** Id of the first replica that was answered, whatever becomes of that. */
    final long put;

    Upsert(Uuid writer, long startNanos, long size, PutTraits traits, List<Replica> replicas) {
        this.writer = writer;
        this.startNanos = startNanos;
        this.size = size;
        this.traits = traits;
        this.replicas = replicas;
        this.put = replicas.getFirst().id;
    }
}
