package io.cassia.master.http;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMessages.DrainJob;
import io.cassia.rpc.cassia.CassiaMessages.Explain;
import io.cassia.rpc.cassia.CassiaMessages.Explanation;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
import io.cassia.rpc.cassia.CassiaMessages.PrefixHit;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.SetTenantQuota;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.cassia.CassiaMessages.TenantQuota;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** What the admin endpoints want to know of the master. Thread-safe. */
public interface AdminQueries {
    /** Hands the default tenant's objects to the sink, part by part, until it answers false. */
    void forEachKey(Predicate<List<KeyInfo>> sink);

    Stats stats();

    /** The mounted segments as their owners described them. */
    List<Segment> segments();

    /** Readable replicas of an object of the default tenant, which is leased. */
    Outcome<ReplicaList> get(ByteString key);

    /** As {@link #get} without a lease. */
    Outcome<List<ReplicaDescriptor>> find(ByteString key);

    Outcome<SegmentStatus> segmentStatus(String name);

    /** The allocatable segments of a name; SEGMENT_NOT_FOUND when there are none. */
    Outcome<List<SegmentStats>> segmentsNamed(String name);

    Outcome<Explanation> explain(Explain query);

    /** How many leading keys are readable, which are leased. */
    Outcome<PrefixHit> longestPrefix(LongestPrefix query);

    Outcome<Uuid> createDrainJob(CreateDrainJob wanted);

    Outcome<DrainJob> queryDrainJob(Uuid id);

    Outcome<Done> cancelDrainJob(Uuid id);

    /** One tenant's quota, or those of all when the name is empty. */
    Outcome<List<TenantQuota>> tenantQuotas(ByteString tenant);

    Outcome<TenantQuota> setTenantQuota(SetTenantQuota wanted);

    Outcome<Done> deleteTenantQuota(ByteString tenant);

    /** The pool's figures in one line, {@code name=value}. */
    default String summary() {
        return StatusEndpoints.pool(stats());
    }

    /** Whether the master's timer, and with it its lock, came round lately. */
    boolean isAlive();

    /** Whether requests should be sent to this master. */
    boolean isReady();

    EventCounts events();

    /**
     * What became of the events of stored and removed objects. Immutable.
     *
     * @param skippedKeys events that were not published because the key is no number
     */
    record EventCounts(
            boolean enabled,
            long publishedBatches,
            long publishedEvents,
            long droppedEvents,
            long skippedKeys) {
        public static final EventCounts OFF = new EventCounts(false, 0, 0, 0, 0);
    }

    /** Removes the objects of one tenant or of all; how many. */
    Outcome<Long> removeAll(Optional<ByteString> tenant, boolean force);
}
