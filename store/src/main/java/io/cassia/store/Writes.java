package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.cassia.CassiaMessages.SegmentStats;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.cassia.CheckedMessages.EndChecked;
import io.cassia.rpc.cassia.CheckedMessages.UpsertStartIf;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.cassia.CheckedMethods;
import io.cassia.rpc.cassia.ReservedMessages.Commit;
import io.cassia.rpc.cassia.ReservedMessages.EndReserving;
import io.cassia.rpc.cassia.ReservedMessages.Ended;
import io.cassia.rpc.cassia.ReservedMessages.Wanted;
import io.cassia.rpc.cassia.ReservedMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.MasterLink.Started;
import io.cassia.store.PutOptions.Condition;
import io.cassia.store.Reservations.Shape;
import io.cassia.store.Reservations.Space;
import io.cassia.store.Transfers.Piece;
import io.cassia.store.Transfers.Written;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The write path: PutStart, one-sided writes to every replica, PutEnd or PutRevoke (spec
 * mooncake-store 1.2). Thread-safe. A put that a node does not take is taken back and started again
 * elsewhere.
 */
final class Writes {
    /** How often one put is started, each time away from the nodes that have failed. */
    private static final int ATTEMPTS = 3;

    private final Uuid client;
    private final ByteString tenant;
    private final Clock clock;
    private final MasterLink master;
    private final Transfers transfers;
    private final Reservations reservations;
    private final boolean crc64;
    private final boolean sums;
    private final Counter retries;
    private final Counter commits;

    Writes(
            Uuid client,
            ByteString tenant,
            Clock clock,
            MasterLink master,
            Transfers transfers,
            Reservations reservations,
            StoreClientConfig.Memory memory,
            MeterRegistry meters) {
        this.client = client;
        this.tenant = tenant;
        this.clock = clock;
        this.master = master;
        this.transfers = transfers;
        this.reservations = reservations;
        this.crc64 = memory.crc64();
        this.sums = memory.sums() && master.isChecked();
        this.retries =
                Counter.builder("cassia_store_put_retries")
                        .description("Puts that were started again on other nodes")
                        .register(meters);
        this.commits =
                Counter.builder("cassia_store_put_commits")
                        .description("Puts to space that had been reserved ahead")
                        .register(meters);
    }

    /** One object of a batch on its way. Confined to its call. */
    private static final class Item {
        final int index;
        final ByteString key;
        final List<MemorySegment> parts;
        final long bytes;
        final OptionalLong crc64;
        final Sums sums;
        Outcome<List<ReplicaDescriptor>> started = NOT_STARTED;
        Outcome<Done> moved = Outcome.done();

        Item(
                int index,
                ByteString key,
                List<MemorySegment> parts,
                long bytes,
                OptionalLong crc64,
                Sums sums) {
            this.index = index;
            this.key = key;
            this.parts = parts;
            this.bytes = bytes;
            this.crc64 = crc64;
            this.sums = sums;
        }

        WrittenObject written() {
            return new WrittenObject(key, crc64, sums.all());
        }

        /** The id of this attempt. */
        long put() {
            return started instanceof Outcome.Ok<List<ReplicaDescriptor>>(var replicas)
                            && !replicas.isEmpty()
                    ? replicas.getFirst().id()
                    : 0;
        }

        String context() {
            return "put of " + Keys.show(key);
        }
    }

    private static final Outcome<List<ReplicaDescriptor>> NOT_STARTED = Outcome.ok(List.of());

    /**
     * One outcome per key, the value being the version.
     *
     * @param values the parts of each object, in order
     */
    List<Outcome<Long>> put(
            List<ByteString> keys,
            List<List<MemorySegment>> values,
            PutOptions options,
            Deadline deadline) {
        List<Outcome<Long>> outcomes = new ArrayList<>(keys.size());
        List<Item> open = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            Outcome<Item> item = item(i, keys.get(i), values.get(i));
            outcomes.add(item.map(_ -> 0L));
            if (item instanceof Outcome.Ok<Item>(Item ready)) {
                open.add(ready);
            }
        }
        Outcome.Failed<?> refusal = refusal(options);
        if (refusal != null) {
            return Collections.nCopies(keys.size(), refusal.as());
        }
        if (options.condition() instanceof Condition.IfVersion(long version) && version < 1) {
            return Collections.nCopies(keys.size(), noVersion(version));
        }
        Optional<Shape> shape =
                reservations.areOn() && open.size() == keys.size()
                        ? shape(open, options)
                        : Optional.empty();
        attempts(open, keys.size(), options, shape, outcomes, deadline);
        boolean stored = outcomes.stream().allMatch(Outcome::isOk);
        reservations.ended(stored ? shape : Optional.empty());
        return outcomes;
    }

    /** INVALID_PARAMS for what no put takes; null when the options are good. */
    private static Outcome.@Nullable Failed<?> refusal(PutOptions options) {
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
        return null;
    }

    private static <T> Outcome.Failed<T> invalid(String detail) {
        return Outcome.failed(StoreCode.INVALID_PARAMS, detail);
    }

    private static <T> Outcome<T> noVersion(long version) {
        return Outcome.failed(
                StoreCode.INVALID_PARAMS,
                version
                        + " is no version: they count from 1; to put what is not there, do not ask for one");
    }

    /** Empty when space for such puts is not reserved, or not now. */
    private Optional<Shape> shape(List<Item> items, PutOptions options) {
        boolean byVersion = options.condition() instanceof Condition.IfVersion;
        if (byVersion || !transfers.peers().suspects().isEmpty()) {
            return Optional.empty();
        }
        return Shape.of(items.stream().map(item -> item.bytes).toList(), options.replicate());
    }

    private void attempts(
            List<Item> items,
            int batchSize,
            PutOptions options,
            Optional<Shape> shape,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        List<Item> open = items;
        Set<String> failed = new HashSet<>();
        Optional<Space> space = reservations.take(shape, deadline);
        if (space.isPresent()) {
            open = putAhead(space.get(), items, options, outcomes, failed, deadline);
        }
        boolean adrift = false;
        for (int attempt = 0; !open.isEmpty(); attempt++) {
            boolean last = attempt == ATTEMPTS - 1;
            boolean first = attempt == 0 && space.isEmpty();
            Deadline term =
                    start(open, batchSize, options, preferred(failed, deadline), adrift, deadline);
            Deadline limit =
                    last ? deadline : Deadline.after(clock, Reads.patience(bytes(open), deadline));
            adrift = write(open, limit.earlier(term), failed);
            open =
                    end(
                            open,
                            outcomes,
                            first ? shape : Optional.empty(),
                            last || deadline.hasPassed(),
                            adrift,
                            deadline);
        }
    }

    /**
     * Writes to space that is there already, and has what is written made readable in one trip;
     * answers what is to be put in the ordinary way.
     */
    private List<Item> putAhead(
            Space space,
            List<Item> items,
            PutOptions options,
            List<Outcome<Long>> outcomes,
            Set<String> failed,
            Deadline deadline) {
        for (int i = 0; i < items.size(); i++) {
            items.get(i).started = Outcome.ok(space.replicas().get(i));
        }
        Deadline limit = Deadline.after(clock, Reads.patience(bytes(items), deadline));
        boolean adrift = write(items, limit.earlier(space.term(clock)), failed);
        List<Item> good = new ArrayList<>(items.size());
        List<Item> bad = new ArrayList<>(0);
        for (Item item : items) {
            if (item.moved.isOk()) {
                good.add(item);
            } else {
                outcomes.set(item.index, ((Outcome.Failed<Done>) item.moved).as());
                bad.add(item);
            }
        }
        if (!adrift) {
            reservations.giveBack(puts(bad), deadline);
        }
        // Else the node may still take the bytes: the space stays this client's until the master
        // takes it back by the release timeout. The key has not been started, and is free.
        List<Item> again = new ArrayList<>(0);
        bad.stream().filter(Writes::mayWorkElsewhere).forEach(again::add);
        retries.increment(again.size());
        if (!good.isEmpty()) {
            Optional<Shape> shape = bad.isEmpty() ? Optional.of(space.shape()) : Optional.empty();
            again.addAll(commit(good, items.size(), options, shape, outcomes, deadline));
        }
        return deadline.hasPassed() ? List.of() : again;
    }

    /** Answers what the master had no space for any more. */
    private List<Item> commit(
            List<Item> items,
            int batchSize,
            PutOptions options,
            Optional<Shape> shape,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        Wanted next = reservations.next(shape);
        long sentNanos = clock.nanos();
        List<WrittenObject> written = new ArrayList<>(items.size());
        List<Long> lengths = new ArrayList<>(items.size());
        for (Item item : items) {
            written.add(item.written());
            lengths.add(item.bytes);
        }
        Commit commit =
                new Commit(
                        client,
                        written,
                        lengths,
                        puts(items),
                        fit(options, List.of(), items, batchSize).replicate(),
                        options.condition() instanceof Condition.Always,
                        tenant,
                        next);
        Outcome<Ended> answer = master.end(ReservedMethods.COMMIT, commit, items.size(), deadline);
        List<Outcome<Long>> versions = ended(answer, items.size(), shape, next, sentNanos);
        List<Item> again = new ArrayList<>(0);
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            boolean gone =
                    versions.get(i) instanceof Outcome.Failed<Long> failed
                            && failed.code() == StoreCode.INVALID_WRITE;
            if (gone) {
                again.add(item);
            }
            outcomes.set(item.index, committed(item, versions.get(i)));
        }
        commits.increment((double) versions.stream().filter(Outcome::isOk).count());
        if (!answer.isOk()) {
            // If it was not done yet, it will not be.
            reservations.giveBack(puts(items), deadline);
        }
        return again;
    }

    private static Outcome<Long> committed(Item item, Outcome<Long> version) {
        if (!(version instanceof Outcome.Failed<Long> failed)) {
            return version;
        }
        return MasterLink.isUnanswered(failed)
                ? endFailed(item.key, failed)
                : failed.in(item.context());
    }

    /** One outcome per object, and keeps the space that has come with them. */
    private List<Outcome<Long>> ended(
            Outcome<Ended> answer, int size, Optional<Shape> shape, Wanted next, long sentNanos) {
        return switch (answer) {
            case Outcome.Ok<Ended>(Ended ended) -> {
                if (shape.isPresent() && !next.lengths().isEmpty()) {
                    reservations.keep(shape.get(), ended.next(), sentNanos);
                }
                yield ended.versions();
            }
            case Outcome.Failed<Ended> failed -> {
                if (!next.lengths().isEmpty()) {
                    reservations.unanswered();
                }
                yield Collections.nCopies(size, failed.as());
            }
        };
    }

    private Outcome<Item> item(int index, ByteString key, List<MemorySegment> parts) {
        for (MemorySegment part : parts) {
            Outcome.Failed<?> unusable = Memories.unreadable(part);
            if (unusable != null) {
                return unusable.in("put of " + Keys.show(key));
            }
        }
        long bytes = Checksums.length(parts);
        OptionalLong sum = crc64 ? OptionalLong.of(Crc64.of(parts)) : OptionalLong.empty();
        return Outcome.ok(
                new Item(index, key, parts, bytes, sum, sums ? new Sums(parts) : Sums.NONE));
    }

    private static long bytes(List<Item> items) {
        long bytes = 0;
        for (Item item : items) {
            bytes += item.bytes;
        }
        return bytes;
    }

    /**
     * Segments in the order in which they should be tried: those of nodes that nothing speaks
     * against, then those under suspicion, but none that has failed this put. Empty when no node is
     * suspected, and when nobody can tell.
     */
    private List<String> preferred(Set<String> failed, Deadline deadline) {
        Set<String> suspects = transfers.peers().suspects();
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
     * @param adrift an earlier attempt may still be writing: its space must stay its own, which is
     *     what an upsert does and a revoke does not
     */
    private Deadline start(
            List<Item> open,
            int batchSize,
            PutOptions options,
            List<String> preferred,
            boolean adrift,
            Deadline deadline) {
        PutOptions fitted = fit(options, preferred, open, batchSize);
        if (options.condition() instanceof Condition.IfVersion(long version)) {
            return startEachIf(open, fitted, version, deadline);
        }
        if (adrift && options.condition() instanceof Condition.IfAbsent && master.isChecked()) {
            // An upsert would also replace what somebody else has put meanwhile.
            return startEachIf(open, fitted, UpsertStartIf.NO_VERSION, deadline);
        }
        List<ByteString> keys = new ArrayList<>(open.size());
        List<Long> lengths = new ArrayList<>(open.size());
        for (Item item : open) {
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
            List<Item> open, PutOptions options, long version, Deadline deadline) {
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
            Item item, PutOptions options, long version, Deadline deadline) {
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
    private static PutOptions fit(
            PutOptions options, List<String> healthy, List<Item> open, int batchSize) {
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

    /**
     * Writes every allocated replica; the outcome of a key is that of its worst replica. Whether
     * bytes of those that failed may still arrive.
     *
     * @param failedEndpoints gets the nodes that did not take what they should
     */
    private boolean write(List<Item> open, Deadline limit, Set<String> failedEndpoints) {
        List<Piece> pieces = new ArrayList<>(open.size());
        for (int i = 0; i < open.size(); i++) {
            Item item = open.get(i);
            item.moved =
                    switch (item.started) {
                        case Outcome.Ok<List<ReplicaDescriptor>>(
                                        List<ReplicaDescriptor> replicas) ->
                                addPieces(i, item, replicas, pieces);
                        case Outcome.Failed<List<ReplicaDescriptor>> failed ->
                                startFailed(item, failed);
                    };
        }
        boolean late = limit.hasPassed();
        Written written = transfers.write(pieces, limit);
        for (int i = 0; i < pieces.size(); i++) {
            if (written.outcomes().get(i) instanceof Outcome.Failed<Done> failed) {
                Item item = open.get(pieces.get(i).item());
                item.moved = failed.in(item.context());
                if (!late) {
                    failedEndpoints.add(pieces.get(i).buffer().transportEndpoint());
                }
            }
        }
        return written.adrift();
    }

    private static Outcome<Done> startFailed(
            Item item, Outcome.Failed<List<ReplicaDescriptor>> failed) {
        return MasterLink.isUnanswered(failed)
                ? Outcome.failed(
                        failed.code(),
                        "start of %s: %s; nothing is readable, the key may stay reserved until the discard timeout"
                                .formatted(item.context(), failed.detail()))
                : failed.in(item.context());
    }

    private static Outcome<Done> addPieces(
            int position, Item item, List<ReplicaDescriptor> replicas, List<Piece> pieces) {
        int before = pieces.size();
        boolean first = true;
        for (ReplicaDescriptor replica : replicas) {
            if (replica.placement() instanceof Placement.Memory(BufferDescriptor buffer)) {
                if (buffer.size() != item.bytes) {
                    return Outcome.failed(
                            StoreCode.INVALID_REPLICA,
                            "%s: the master allocated %d bytes for an object of %d bytes"
                                    .formatted(item.context(), buffer.size(), item.bytes));
                }
                long at = 0;
                for (int i = 0; i < item.parts.size(); i++) {
                    MemorySegment part = item.parts.get(i);
                    if (part.byteSize() > 0) {
                        // Once is enough for all replicas.
                        Chunks chunks = first ? item.sums.ofPart(i) : null;
                        pieces.add(new Piece(position, buffer, at, part, chunks));
                    }
                    at += part.byteSize();
                }
                first = false;
            }
        }
        return pieces.size() > before
                ? Outcome.done()
                : Outcome.failed(
                        StoreCode.INVALID_REPLICA,
                        item.context() + ": the master allocated no memory replica");
    }

    /** Makes written keys readable and takes the others back; answers those to start again. */
    private List<Item> end(
            List<Item> open,
            List<Outcome<Long>> outcomes,
            Optional<Shape> shape,
            boolean last,
            boolean adrift,
            Deadline deadline) {
        List<Item> good = new ArrayList<>(open.size());
        List<Item> bad = new ArrayList<>(0);
        for (Item item : open) {
            if (item.moved.isOk()) {
                good.add(item);
            } else {
                outcomes.set(item.index, ((Outcome.Failed<Done>) item.moved).as());
                if (item.started.isOk()) {
                    bad.add(item);
                }
            }
        }
        if (!good.isEmpty()) {
            boolean all = good.size() == open.size();
            finish(good, all ? shape : Optional.empty(), outcomes, deadline);
        }
        if (bad.isEmpty()) {
            return List.of();
        }
        List<Item> again =
                last ? List.of() : bad.stream().filter(Writes::mayWorkElsewhere).toList();
        retries.increment(again.size());
        if (!adrift) {
            revoke(bad, outcomes, deadline);
        } else if (last) {
            // The node may still take the bytes: the space stays reserved until the master drops
            // the put, so that they land in nobody else's object.
            for (Item item : bad) {
                append(item, outcomes, "; the key is free again after the discard timeout");
            }
        }
        return again;
    }

    private static boolean mayWorkElsewhere(Item item) {
        return item.moved instanceof Outcome.Failed<Done> failed
                && (failed.code() == StoreCode.TRANSFER_FAIL
                        || failed.code() == StoreCode.WRITE_FAIL);
    }

    /** Which puts are meant: by their first replicas. */
    private static List<Long> puts(List<Item> items) {
        List<Long> puts = new ArrayList<>(items.size());
        for (Item item : items) {
            puts.add(item.put());
        }
        return puts;
    }

    private void finish(
            List<Item> items,
            Optional<Shape> shape,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        List<WrittenObject> written = new ArrayList<>(items.size());
        for (Item item : items) {
            written.add(item.written());
        }
        Wanted next = reservations.next(shape);
        List<Outcome<Long>> ended =
                next.lengths().isEmpty()
                        ? master.end(client, written, puts(items), tenant, deadline)
                        : endReserving(written, puts(items), shape, next, deadline);
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            outcomes.set(
                    item.index,
                    ended.get(i) instanceof Outcome.Failed<Long> failed
                            ? endFailed(item.key, failed)
                            : ended.get(i));
        }
    }

    private List<Outcome<Long>> endReserving(
            List<WrittenObject> written,
            List<Long> puts,
            Optional<Shape> shape,
            Wanted next,
            Deadline deadline) {
        long sentNanos = clock.nanos();
        EndReserving end = new EndReserving(new EndChecked(client, written, tenant), puts, next);
        return ended(
                master.end(ReservedMethods.END_RESERVING, end, puts.size(), deadline),
                puts.size(),
                shape,
                next,
                sentNanos);
    }

    private static Outcome<Long> endFailed(ByteString key, Outcome.Failed<Long> failed) {
        String unknown =
                MasterLink.isUnanswered(failed)
                        ? "; it may be readable or not, ask whether it exists"
                        : RpcClient.wasNotSent(failed)
                                ? "; nothing is readable, the key is free again after the discard timeout"
                                : "";
        return Outcome.failed(
                endCode(failed),
                "end of put of " + Keys.show(key) + ": " + failed.detail() + unknown);
    }

    /** Of a put that it has given up the master knows nothing any more. */
    private static Code endCode(Outcome.Failed<?> failed) {
        return failed.code() == StoreCode.OBJECT_NOT_FOUND
                ? StoreCode.INVALID_WRITE
                : failed.code();
    }

    private void revoke(List<Item> items, List<Outcome<Long>> outcomes, Deadline deadline) {
        List<ByteString> revoked = new ArrayList<>(items.size());
        for (Item item : items) {
            revoked.add(item.key);
        }
        List<Outcome<Done>> answers = revokePieces(revoked, puts(items), deadline);
        for (int i = 0; i < items.size(); i++) {
            if (answers.get(i) instanceof Outcome.Failed<Done> failed) {
                append(
                        items.get(i),
                        outcomes,
                        "; taking the put back failed too ("
                                + failed.code().label()
                                + "), the key is free again after the discard timeout");
            }
        }
    }

    private static void append(Item item, List<Outcome<Long>> outcomes, String what) {
        if (outcomes.get(item.index) instanceof Outcome.Failed<Long> cause) {
            outcomes.set(item.index, Outcome.failed(cause.code(), cause.detail() + what));
        }
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
        List<Item> items = new ArrayList<>(keys.size());
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
                outcomes.add(NOT_STARTED);
                items.add(new Item(i, key, List.of(), bytes, OptionalLong.empty(), Sums.NONE));
            }
        }
        Deadline term =
                items.isEmpty()
                        ? deadline
                        : start(
                                items,
                                keys.size(),
                                options,
                                preferred(Set.of(), deadline),
                                false,
                                deadline);
        for (Item item : items) {
            outcomes.set(
                    item.index,
                    item.started instanceof Outcome.Failed<List<ReplicaDescriptor>> failed
                            ? startFailed(item, failed).map(_ -> List.of())
                            : item.started);
        }
        return Outcome.ok(new Started<>(outcomes, term));
    }

    /**
     * Makes objects readable that were written piece by piece; one version per object.
     *
     * @param puts for each object the id of the first replica that its start answered
     */
    List<Outcome<Long>> endPieces(List<WrittenObject> written, List<Long> puts, Deadline deadline) {
        List<Outcome<Long>> ended = new ArrayList<>(written.size());
        for (Outcome<Long> version : master.end(client, written, puts, tenant, deadline)) {
            ended.add(
                    version instanceof Outcome.Failed<Long> failed
                            ? endFailed(written.get(ended.size()).key(), failed)
                            : version);
        }
        return ended;
    }

    /** Takes puts back; one outcome per key. The puts are named as for {@link #endPieces}. */
    List<Outcome<Done>> revokePieces(List<ByteString> keys, List<Long> puts, Deadline deadline) {
        Args.BatchPutRevoke revoke =
                new Args.BatchPutRevoke(client, keys, ReplicaType.ALL.number(), tenant);
        return master.callBatch(MasterMethods.BATCH_PUT_REVOKE, revoke, puts, deadline);
    }

    /** Whether sums of chunks are wanted at the end of a put. */
    boolean isChecked() {
        return master.isChecked();
    }
}
