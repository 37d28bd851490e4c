package io.cassia.master.http;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.SegmentStatus;
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
}
