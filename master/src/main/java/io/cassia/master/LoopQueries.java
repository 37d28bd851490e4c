package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.master.core.Command;
import io.cassia.master.core.Selection;
import io.cassia.master.http.AdminQueries;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Immutable. What the admin server asks, answered by the loop. */
final class LoopQueries implements AdminQueries {
    /** A timer that has not come round for so long never will. */
    private static final Duration LONGEST_TICK = Duration.ofSeconds(30);

    /** A master whose timer is so late is too busy for new clients. */
    private static final Duration READY_TICK = Duration.ofSeconds(3);

    private final MasterLoop loop;

    LoopQueries(MasterLoop loop) {
        this.loop = loop;
    }

    @Override
    public void forEachKey(Predicate<List<KeyInfo>> sink) {
        loop.forEachKey(sink);
    }

    @Override
    public Stats stats() {
        return loop.apply(new Command.Stats());
    }

    @Override
    public Outcome<ReplicaList> get(ByteString key) {
        return loop.apply(new Command.GetReplicaList(key, ByteString.EMPTY));
    }

    @Override
    public Outcome<List<ReplicaDescriptor>> find(ByteString key) {
        return loop.apply(new Command.FindReplicas(key, ByteString.EMPTY));
    }

    @Override
    public Outcome<SegmentStatus> segmentStatus(String name) {
        return loop.apply(new Command.QuerySegmentStatus(name));
    }

    @Override
    public Outcome<List<SegmentStats>> segmentsNamed(String name) {
        List<SegmentStats> found =
                stats().segments().stream()
                        .filter(
                                segment ->
                                        segment.name().equals(name)
                                                && segment.status() == SegmentStatus.OK.number())
                        .toList();
        return found.isEmpty()
                ? Outcome.failed(
                        StoreCode.SEGMENT_NOT_FOUND, "no allocatable segment is named " + name)
                : Outcome.ok(found);
    }

    @Override
    public Outcome<Long> removeAll(Optional<ByteString> tenant, boolean force) {
        return loop.remove(new Selection(tenant, Optional.empty()), force);
    }

    @Override
    public boolean isAlive() {
        return loop.sinceTick().compareTo(LONGEST_TICK) < 0;
    }

    @Override
    public boolean isReady() {
        return loop.sinceTick().compareTo(READY_TICK) < 0;
    }

    @Override
    public EventCounts events() {
        return EventCounts.OFF;
    }
}
