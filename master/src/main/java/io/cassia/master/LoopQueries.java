package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.core.Command;
import io.cassia.master.core.Selection;
import io.cassia.master.http.AdminQueries;
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
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Immutable. What the admin server asks, answered by the loop. */
final class LoopQueries implements AdminQueries {
    /** A timer that has not come round for so long never will. */
    private static final Duration LONGEST_TICK = Duration.ofSeconds(30);

    /** A master whose timer is so late is too busy for new clients. */
    private static final Duration READY_TICK = Duration.ofSeconds(3);

    private final MasterLoop loop;
    private final Clock clock;
    private final TenantAdmin tenants;
    private final Supplier<EventCounts> events;

    LoopQueries(MasterLoop loop, Clock clock, TenantAdmin tenants, Supplier<EventCounts> events) {
        this.events = events;
        this.loop = loop;
        this.clock = clock;
        this.tenants = tenants;
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
    public List<Segment> segments() {
        return loop.segments();
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
    public Outcome<Explanation> explain(Explain query) {
        return loop.apply(new Command.Explain(query.key(), query.tenant()));
    }

    @Override
    public Outcome<PrefixHit> longestPrefix(LongestPrefix query) {
        return loop.longestPrefix(query);
    }

    @Override
    public Outcome<Uuid> createDrainJob(CreateDrainJob wanted) {
        return loop.apply(new Command.CreateDrainJob(wanted, clock.epochMillis()));
    }

    @Override
    public Outcome<DrainJob> queryDrainJob(Uuid id) {
        return loop.apply(new Command.QueryDrainJob(id));
    }

    @Override
    public Outcome<Done> cancelDrainJob(Uuid id) {
        return loop.apply(new Command.CancelDrainJob(id));
    }

    @Override
    public Outcome<List<TenantQuota>> tenantQuotas(ByteString tenant) {
        return tenants.list(tenant);
    }

    @Override
    public Outcome<TenantQuota> setTenantQuota(SetTenantQuota wanted) {
        return tenants.set(wanted.tenant(), wanted.requestedBytes());
    }

    @Override
    public Outcome<Done> deleteTenantQuota(ByteString tenant) {
        return tenants.delete(tenant);
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
        return events.get();
    }
}
