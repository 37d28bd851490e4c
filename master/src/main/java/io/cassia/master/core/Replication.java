package io.cassia.master.core;

import io.cassia.rpc.mooncake.Uuid;
import java.util.List;

/**
 * Confined to the master's lock. A copy or move of one replica that a client is carrying out (spec
 * mooncake-store 3.9). The targets are not replicas of the object until the End.
 */
final class Replication {
    enum Kind {
        COPY,
        MOVE
    }

    final Kind kind;
    final Uuid client;
    final long startNanos;
    final long sourceId;
    final List<Replica> targets;

    /**
     * What its End calls it: the id of the first target that its Start answered, or of the source
     * when there was no target.
     */
    final long number;

    /** A target's segment went away. */
    boolean targetLost;

    Replication(Kind kind, Uuid client, long startNanos, long sourceId, List<Replica> targets) {
        this.kind = kind;
        this.client = client;
        this.startNanos = startNanos;
        this.sourceId = sourceId;
        this.targets = targets;
        this.number = targets.isEmpty() ? sourceId : targets.getFirst().id;
    }

    void digest(Digest digest) {
        digest.add(kind == Kind.COPY ? 0 : 1);
        digest.add(client);
        digest.add(startNanos);
        digest.add(sourceId);
        digest.add(number);
        digest.add(targetLost ? 1 : 0);
        targets.forEach(target -> target.digest(digest));
    }
}
