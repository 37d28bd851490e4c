package io.cassia.rpc.cassia;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CheckedMessages.EndChecked;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Outcome;
import java.util.List;

/**
 * Arguments and results of the methods by which a client has space before it has a key to put
 * there. Immutable data.
 *
 * <p>A space is named as a put is: by the id of its first replica. It is its client's until that
 * commits it, gives it back, or is not heard of for the release timeout of puts.
 */
public final class ReservedMessages {
    private ReservedMessages() {}

    /**
     * Space that is wanted for the next put.
     *
     * @param lengths in bytes, one per object; none when no space is wanted
     * @param placement of which replicas, preferences and host count
     */
    public record Wanted(List<Long> lengths, ReplicateConfig placement) {
        /** Bytes of all objects of one request; more is answered with nothing. */
        public static final long MOST_BYTES = 4L << 20;

        /** Objects of one request; more are answered with nothing. */
        public static final int MOST_OBJECTS = 1024;

        public static final Wanted NOTHING = new Wanted(List.of(), ReplicateConfig.DEFAULT);
    }

    /**
     * Space for all lengths that were asked for, or for none.
     *
     * @param ttlMs for how long after the request a put may begin to write there
     * @param termMs for how long after the request the space is the client's own at least: nobody
     *     writes there later (docs/adr/0065)
     * @param spaces the replicas for each length
     */
    public record Reserved(long ttlMs, long termMs, List<List<ReplicaDescriptor>> spaces) {
        public static final Reserved NOTHING = new Reserved(0, 0, List.of());
    }

    /**
     * {@code cassia::Master::EndReserving}.
     *
     * @param puts for each object the id of the first replica that its Start answered
     */
    public record EndReserving(EndChecked end, List<Long> puts, Wanted next) {}

    /**
     * {@code cassia::Master::Commit}: what was written to reserved space becomes objects.
     *
     * @param lengths of the objects, in bytes
     * @param spaces for each object its space
     * @param config as of a Start of these objects
     * @param upsert whether what has the key is replaced
     */
    public record Commit(
            Uuid client,
            List<WrittenObject> objects,
            List<Long> lengths,
            List<Long> spaces,
            ReplicateConfig config,
            boolean upsert,
            ByteString tenant,
            Wanted next) {}

    /**
     * What became of the objects.
     *
     * @param versions that became readable, one per object
     * @param next nothing when some object was refused
     */
    public record Ended(List<Outcome<Long>> versions, Reserved next) {}

    /** {@code cassia::Master::GiveBack}: nobody writes to these spaces any more. */
    public record GiveBack(Uuid client, List<Long> spaces) {}
}
