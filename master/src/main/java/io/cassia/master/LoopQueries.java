package io.cassia.master;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.core.Command;
import io.cassia.master.core.Selection;
import io.cassia.master.http.AdminQueries;
import io.cassia.rpc.cassia.CassiaMessages.ClientInfo;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMessages.DrainJob;
import io.cassia.rpc.cassia.CassiaMessages.Explanation;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
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
import io.cassia.status.StoreCode;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Immutable. What the admin server asks, answered by the loop. */
final class LoopQueries implements AdminQueries {
    private final MasterLoop loop;
    private final TenantAdmin tenants;
    private final Clock clock;

    LoopQueries(MasterLoop loop, TenantAdmin tenants, Clock clock) {
        this.loop = loop;
        this.tenants = tenants;
        this.clock = clock;
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
    public Outcome<Explanation> explain(ByteString key, ByteString tenant) {
        return loop.apply(new Command.Explain(key, tenant));
    }

    @Override
    public Outcome<PrefixHit> longestPrefix(List<ByteString> keys, ByteString tenant) {
        return loop.apply(
                new Command.LongestPrefix(new LongestPrefix(keys, tenant, 0, false, false)));
    }

    @Override
    public Outcome<List<TenantQuota>> tenantQuotas(ByteString tenant) {
        return tenants.list(tenant);
    }

    @Override
    public Outcome<TenantQuota> setTenantQuota(ByteString tenant, long requestedBytes) {
        return tenants.set(tenant, requestedBytes);
    }

    @Override
    public Outcome<Done> deleteTenantQuota(ByteString tenant) {
        return tenants.delete(tenant);
    }

    @Override
    public Outcome<Uuid> createDrainJob(CreateDrainJob job) {
        return loop.apply(new Command.CreateDrainJob(job, clock.epochMillis()));
    }

    @Override
    public Outcome<DrainJob> drainJob(Uuid id) {
        return loop.apply(new Command.QueryDrainJob(id));
    }

    @Override
    public Outcome<Done> cancelDrainJob(Uuid id) {
        return loop.apply(new Command.CancelDrainJob(id));
    }

    @Override
    public List<ClientInfo> clients() {
        return loop.apply(new Command.Clients(new Uuid(0, 0))).orThrow();
    }
}
