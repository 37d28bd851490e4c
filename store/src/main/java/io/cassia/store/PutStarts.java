package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.cassia.CheckedMessages.UpsertStartIf;
import io.cassia.rpc.cassia.CheckedMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.MasterLink.Started;
import io.cassia.store.PutOptions.Condition;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How puts begin: space for them is reserved at the master, away from the nodes that fail.
 * Thread-safe.
 */
final class PutStarts {
    private final Uuid client;
    private final ByteString tenant;
    private final Clock clock;
    private final MasterLink master;
    private final Peers peers;

    PutStarts(Uuid client, ByteString tenant, Clock clock, MasterLink master, Peers peers) {
        this.client = client;
        this.tenant = tenant;
        this.clock = clock;
        this.master = master;
        this.peers = peers;
    }

    /** INVALID_PARAMS for what no put takes; null when the options are good. */
    static Outcome.@Nullable Failed<?> refusal(PutOptions options) {
        ReplicateConfig config = options.replicate();
        if (config.replicaNum() < 0) {
            // On the wire it would be a very large number.
            return invalid(config.replicaNum() + " replicas are wanted; at least 1 is needed");
        }
        if (config.preferAllocInSameNode()
                && (config.replicaNum() != 1 || config.nofReplicaNum() != 0)) {
            return invalid(
                    "objects on the same node have 1 replica there, not %d, and none elsewhere, not %d"
                            .formatted(config.replicaNum(), config.nofReplicaNum()));
        }
        if (options.condition() instanceof Condition.IfVersion(long version) && version < 1) {
            return invalid(
                    version
                            + " is no version: they count from 1; to put what is not there, do not ask for one");
        }
        return null;
    }

    private static <T> Outcome.Failed<T> invalid(String detail) {
        return Outcome.failed(StoreCode.INVALID_PARAMS, detail);
    }

    /**
     * Segments in the order in which they should be tried: those of nodes that nothing speaks
     * against, then those under suspicion, but none that has failed this put. Empty when no node is
     * suspected, and when nobody can tell.
     */
    private List<String> preferred(Set<String> failed, Deadline deadline) {
        Set<String> suspects = peers.suspects();
        if (suspects.isEmpty() || !master.isCassia()) {
            return List.of();
        }
        List<String> healthy = new ArrayList<>();
        List<String> doubtful = new ArrayList<>();
        if (master.call(CassiaMethods.STATS, Done.DONE, deadline)
                instanceof Outcome.Ok<Stats>(Stats stats)) {
            for (SegmentStats segment : stats.segments()) {
                String endpoint = segment.endpoint();
                List<String> names = suspects.contains(endpoint) ? doubtful : healthy;
                if (segment.status() == SegmentStatus.OK.number()
                        && !failed.contains(endpoint)
                        && !names.contains(segment.name())) {
                    names.add(segment.name());
                }
            }
        }
        // Each client begins with another one, and with another one each time.
        Collections.rotate(healthy, (int) (clock.nanos() >>> 10) & 0xFF);
        healthy.addAll(doubtful);
        return healthy;
    }

    /**
     * Reserves space; the answer is until when it is the items' own.
     *
     * @param failed nodes that have failed these puts
     * @param adrift an earlier attempt may still be writing: its space must stay its own, which is
     *     what an upsert does and a revoke does not
     */
    Deadline start(
            List<PutItem> open,
            int batchSize,
            PutOptions options,
            Set<String> failed,
            boolean adrift,
            Deadline deadline) {
        PutOptions fitted = fit(options, preferred(failed, deadline), open, batchSize);
        if (options.condition() instanceof Condition.IfVersion(long version)) {
            return startEachIf(open, fitted, version, deadline);
        }
        if (adrift && options.condition() instanceof Condition.IfAbsent && master.isChecked()) {
            // An upsert would also replace what somebody else has put meanwhile.
            return startEachIf(open, fitted, UpsertStartIf.NO_VERSION, deadline);
        }
        List<ByteString> keys = new ArrayList<>(open.size());
        List<Long> lengths = new ArrayList<>(open.size());
        for (PutItem item : open) {
            keys.add(item.key);
            lengths.add(item.bytes);
        }
        Args.BatchPutStart batch =
                new Args.BatchPutStart(client, keys, lengths, fitted.replicate(), tenant);
        boolean upsert = adrift || options.condition() instanceof Condition.Always;
        Started<List<Outcome<List<ReplicaDescriptor>>>> started =
                master.startBatch(
                        upsert ? MasterMethods.BATCH_UPSERT_START : MasterMethods.BATCH_PUT_START,
                        batch,
                        open.size(),
                        deadline);
        for (int i = 0; i < open.size(); i++) {
            open.get(i).started = started.answer().get(i);
        }
        return started.term();
    }

    private Deadline startEachIf(
            List<PutItem> open, PutOptions options, long version, Deadline deadline) {
        List<ByteString> groups = options.replicate().groupIds().orElse(List.of());
        Deadline term = Deadline.never(clock);
        for (int i = 0; i < open.size(); i++) {
            PutOptions own =
                    groups.size() == open.size()
                            ? options.withGroups(List.of(groups.get(i)))
                            : options;
            Outcome<Started<List<ReplicaDescriptor>>> one =
                    startIf(open.get(i), own, version, deadline);
            open.get(i).started = one.map(Started::answer);
            if (one instanceof Outcome.Ok<Started<List<ReplicaDescriptor>>>(var started)) {
                term = term.earlier(started.term());
            }
        }
        return term;
    }

    private Outcome<Started<List<ReplicaDescriptor>>> startIf(
            PutItem item, PutOptions options, long version, Deadline deadline) {
        return master.isChecked()
                ? master.start(
                        CheckedMethods.UPSERT_START_IF,
                        new UpsertStartIf(
                                new Args.PutStart(
                                        client, item.key, item.bytes, options.replicate(), tenant),
                                version),
                        deadline)
                : Outcome.failed(
                        StoreCode.NOT_SUPPORTED,
                        "a put by version needs a Cassia master, this one is not");
    }

    /** The options for the items that are left of the batch. */
    static PutOptions fit(
            PutOptions options, List<String> healthy, List<PutItem> open, int batchSize) {
        PutOptions fitted = options;
        if (!healthy.isEmpty()) {
            List<String> preferred = new ArrayList<>(options.replicate().preferredSegments());
            preferred.retainAll(healthy);
            healthy.stream().filter(name -> !preferred.contains(name)).forEach(preferred::add);
            fitted = fitted.withPreferred(preferred);
        }
        List<ByteString> groups = options.replicate().groupIds().orElse(List.of());
        if (open.size() < batchSize && groups.size() == batchSize) {
            fitted = fitted.withGroups(open.stream().map(item -> groups.get(item.index)).toList());
        }
        return fitted;
    }

    static Outcome<Done> startFailed(PutItem item, Outcome.Failed<List<ReplicaDescriptor>> failed) {
        return MasterLink.isUnanswered(failed)
                ? Outcome.failed(
                        failed.code(),
                        "start of %s: %s; nothing is readable, the key may stay reserved until the discard timeout"
                                .formatted(item.context(), failed.detail()))
                : failed.in(item.context());
    }

    /**
     * Reserves space for objects that are written piece by piece: one outcome per key, in order.
     * INVALID_PARAMS for all of it when the options are no session's, and for a key alone that was
     * named before or whose size is negative.
     */
    Outcome<Started<List<Outcome<List<ReplicaDescriptor>>>>> startPieces(
            List<ByteString> keys, List<Long> sizesBytes, PutOptions options, Deadline deadline) {
        Outcome.Failed<?> refusal = refusal(options);
        if (refusal != null) {
            return refusal.as();
        }
        if (options.replicate().nofReplicaNum() != 0 || options.replicate().dfsReplicaNum() != 0) {
            return invalid("objects are written piece by piece to memory alone");
        }
        List<Outcome<List<ReplicaDescriptor>>> outcomes = new ArrayList<>(keys.size());
        List<PutItem> items = new ArrayList<>(keys.size());
        Set<ByteString> named = new HashSet<>();
        for (int i = 0; i < keys.size(); i++) {
            ByteString key = keys.get(i);
            long bytes = sizesBytes.get(i);
            if (bytes < 0 || !named.add(key)) {
                outcomes.add(
                        invalid(
                                "put of %s: %s"
                                        .formatted(
                                                Keys.show(key),
                                                bytes < 0
                                                        ? "an object of " + bytes + " bytes"
                                                        : "the key was named before")));
            } else {
                outcomes.add(PutItem.NOT_STARTED);
                items.add(new PutItem(i, key, List.of(), bytes, OptionalLong.empty(), Sums.NONE));
            }
        }
        Deadline term =
                items.isEmpty()
                        ? deadline
                        : start(items, keys.size(), options, Set.of(), false, deadline);
        for (PutItem item : items) {
            outcomes.set(
                    item.index,
                    item.started instanceof Outcome.Failed<List<ReplicaDescriptor>> failed
                            ? startFailed(item, failed).map(_ -> List.of())
                            : item.started);
        }
        return Outcome.ok(new Started<>(outcomes, term));
    }
}
