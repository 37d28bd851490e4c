package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Confined to the master's lock. Starts of many puts or upserts, each with its own outcome. */
final class BatchStarts {
    private final CoreState state;
    private final Writes writes;

    BatchStarts(CoreState state, Writes writes) {
        this.state = state;
        this.writes = writes;
    }

    /** Batch form; a size mismatch fails all items (spec 14, INVALID_PARAMS). */
    List<Outcome<List<ReplicaDescriptor>>> start(Args.BatchPutStart batch, boolean upsert) {
        int count = batch.keys().size();
        Optional<List<ByteString>> groups = batch.config().groupIds();
        if (batch.lengths().size() != count
                || (groups.isPresent() && groups.get().size() != count)) {
            return Collections.nCopies(
                    count,
                    Outcome.failed(
                            StoreCode.INVALID_PARAMS,
                            "keys="
                                    + count
                                    + " lengths="
                                    + batch.lengths().size()
                                    + " group-ids="
                                    + groups.map(List::size).orElse(count)
                                    + ": the counts differ"));
        }
        List<Outcome<List<ReplicaDescriptor>>> started = new ArrayList<>(count);
        ReplicateConfig config = batch.config();
        for (int i = 0; i < count; i++) {
            ReplicateConfig own = configOf(config, i);
            Outcome<List<ReplicaDescriptor>> one =
                    writes.start(
                            new Args.PutStart(
                                    batch.client(),
                                    batch.keys().get(i),
                                    batch.lengths().get(i),
                                    own,
                                    batch.tenant()),
                            upsert);
            started.add(one);
            if (i == 0 && config.preferAllocInSameNode() && one.isOk()) {
                config = preferring(config, batch.keys().getFirst(), batch.tenant());
            }
        }
        return started;
    }

    /** What one item of a batch asks for, of what all of them do. */
    static ReplicateConfig configOf(ReplicateConfig batch, int item) {
        return batch.groupIds().isEmpty()
                ? batch
                : withGroups(batch, batch.groupIds().map(all -> List.of(all.get(item))));
    }

    private ReplicateConfig preferring(ReplicateConfig config, ByteString key, ByteString tenant) {
        int slot = state.objects.find(state.tenants.find(tenant), key.array());
        ObjectExtra extra = state.objects.extra(slot);
        int segment =
                extra == null || extra.upsert == null
                        ? state.objects.segment(slot)
                        : extra.upsert.replicas.getFirst().segment;
        String name = state.segments.at(segment).wire.name();
        return new ReplicateConfig(
                config.replicaNum(),
                config.nofReplicaNum(),
                config.dfsReplicaNum(),
                config.softPinAction(),
                config.softPinTtlMs(),
                config.withHardPin(),
                config.preferredSegments(),
                name,
                config.preferredNofSegments(),
                true,
                config.dataType(),
                config.hostId(),
                config.groupIds());
    }

    private static ReplicateConfig withGroups(
            ReplicateConfig config, Optional<List<ByteString>> groups) {
        return new ReplicateConfig(
                config.replicaNum(),
                config.nofReplicaNum(),
                config.dfsReplicaNum(),
                config.softPinAction(),
                config.softPinTtlMs(),
                config.withHardPin(),
                config.preferredSegments(),
                config.preferredSegment(),
                config.preferredNofSegments(),
                config.preferAllocInSameNode(),
                config.dataType(),
                config.hostId(),
                groups);
    }
}
