package io.cassia.master.http;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.ClientInfo;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMessages.DrainJob;
import io.cassia.rpc.cassia.CassiaMessages.Explanation;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.PrefixHit;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.cassia.CassiaMessages.TenantQuota;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
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

    /** Readable replicas of an object of the default tenant, which is leased. */
    Outcome<ReplicaList> get(ByteString key);

    /** As {@link #get} without a lease. */
    Outcome<List<ReplicaDescriptor>> find(ByteString key);

    Outcome<SegmentStatus> segmentStatus(String name);

    /** The allocatable segments of a name; SEGMENT_NOT_FOUND when there are none. */
    Outcome<List<SegmentStats>> segmentsNamed(String name);

    /** Removes the objects of one tenant or of all; how many. */
    Outcome<Long> removeAll(Optional<ByteString> tenant, boolean force);

    /** What became of a key. */
    Outcome<Explanation> explain(ByteString key, ByteString tenant);

    /** How many leading keys are readable now; these get the lease of a read. */
    Outcome<PrefixHit> longestPrefix(List<ByteString> keys, ByteString tenant);

    /** One tenant's quota, or all when the name is empty; OBJECT_NOT_FOUND when unknown. */
    Outcome<List<TenantQuota>> tenantQuotas(ByteString tenant);

    /** Registers a tenant or changes its quota; INVALID_PARAMS, PERSISTENT_FAIL. */
    Outcome<TenantQuota> setTenantQuota(ByteString tenant, long requestedBytes);

    /** OBJECT_NOT_FOUND, TENANT_NOT_EMPTY, PERSISTENT_FAIL. */
    Outcome<Done> deleteTenantQuota(ByteString tenant);

    /** The id of the new job; INVALID_PARAMS, SEGMENT_NOT_FOUND, UNAVAILABLE_IN_CURRENT_STATUS. */
    Outcome<Uuid> createDrainJob(CreateDrainJob job);

    /** JOB_NOT_FOUND. */
    Outcome<DrainJob> drainJob(Uuid id);

    /** JOB_NOT_FOUND, UNAVAILABLE_IN_CURRENT_STATUS. */
    Outcome<Done> cancelDrainJob(Uuid id);

    /** All clients, the longest silent first. */
    List<ClientInfo> clients();
}
