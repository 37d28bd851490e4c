package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
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

/**
 * The write path: PutStart, one-sided writes to every replica, PutEnd or PutRevoke (spec
 * mooncake-store 1.2). Thread-safe. A put that a node does not take is taken back and started again
 * elsewhere.
 */
final class Writes {
    /** How often one put is started, each time away from the nodes that have failed. */
    private static final int ATTEMPTS = 3;

    private final Clock clock;
    private final Transfers transfers;
    private final Reservations reservations;
    private final boolean crc64;
    private final boolean sums;
    private final Counter retries;
    private final PutStarts starts;
    private final PutEnds ends;

    Writes(
            Uuid client,
            ByteString tenant,
            Clock clock,
            MasterLink master,
            Transfers transfers,
            Reservations reservations,
            StoreClientConfig.Memory memory,
            MeterRegistry meters) {
        this.clock = clock;
        this.transfers = transfers;
        this.reservations = reservations;
        this.crc64 = memory.crc64();
        this.sums = memory.sums() && master.isChecked();
        this.retries =
                Counter.builder("cassia_store_put_retries")
                        .description("Puts that were started again on other nodes")
                        .register(meters);
        this.starts = new PutStarts(client, tenant, clock, master, transfers.peers());
        this.ends = new PutEnds(client, tenant, clock, master, reservations, meters);
    }

    PutStarts starts() {
        return starts;
    }

    PutEnds ends() {
        return ends;
    }

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
        Outcome.Failed<?> refusal = PutStarts.refusal(options);
        if (refusal != null) {
            return Collections.nCopies(keys.size(), refusal.as());
        }
        List<Outcome<Long>> outcomes = new ArrayList<>(keys.size());
        List<PutItem> open = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            Outcome<PutItem> item = item(i, keys.get(i), values.get(i));
            outcomes.add(item.map(_ -> 0L));
            if (item instanceof Outcome.Ok<PutItem>(PutItem ready)) {
                open.add(ready);
            }
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

    /** Empty when space for such puts is not reserved, or not now. */
    private Optional<Shape> shape(List<PutItem> items, PutOptions options) {
        boolean byVersion = options.condition() instanceof Condition.IfVersion;
        if (byVersion || !transfers.peers().suspects().isEmpty()) {
            return Optional.empty();
        }
        return Shape.of(items.stream().map(item -> item.bytes).toList(), options.replicate());
    }

    private void attempts(
            List<PutItem> items,
            int batchSize,
            PutOptions options,
            Optional<Shape> shape,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        List<PutItem> open = items;
        Set<String> failed = new HashSet<>();
        Optional<Space> space = reservations.take(shape, deadline);
        if (space.isPresent()) {
            open = putAhead(space.get(), items, options, outcomes, failed, deadline);
        }
        boolean adrift = false;
        for (int attempt = 0; !open.isEmpty(); attempt++) {
            boolean last = attempt == ATTEMPTS - 1;
            boolean first = attempt == 0 && space.isEmpty();
            Deadline term = starts.start(open, batchSize, options, failed, adrift, deadline);
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
    private List<PutItem> putAhead(
            Space space,
            List<PutItem> items,
            PutOptions options,
            List<Outcome<Long>> outcomes,
            Set<String> failed,
            Deadline deadline) {
        for (int i = 0; i < items.size(); i++) {
            items.get(i).started = Outcome.ok(space.replicas().get(i));
        }
        Deadline limit = Deadline.after(clock, Reads.patience(bytes(items), deadline));
        boolean adrift = write(items, limit.earlier(space.term(clock)), failed);
        List<PutItem> good = new ArrayList<>(items.size());
        List<PutItem> bad = new ArrayList<>(0);
        sort(items, good, bad, outcomes);
        if (!adrift) {
            reservations.giveBack(PutItem.puts(bad), deadline);
        }
        // Else the node may still take the bytes: the space stays this client's until the master
        // takes it back by the release timeout. The key has not been started, and is free.
        List<PutItem> again = new ArrayList<>(0);
        bad.stream().filter(Writes::mayWorkElsewhere).forEach(again::add);
        retries.increment(again.size());
        if (!good.isEmpty()) {
            Optional<Shape> shape = bad.isEmpty() ? Optional.of(space.shape()) : Optional.empty();
            again.addAll(ends.commit(good, items.size(), options, shape, outcomes, deadline));
        }
        return deadline.hasPassed() ? List.of() : again;
    }

    private Outcome<PutItem> item(int index, ByteString key, List<MemorySegment> parts) {
        for (MemorySegment part : parts) {
            Outcome.Failed<?> unusable = Memories.unreadable(part);
            if (unusable != null) {
                return unusable.in("put of " + Keys.show(key));
            }
        }
        long bytes = Checksums.length(parts);
        OptionalLong sum = crc64 ? OptionalLong.of(Crc64.of(parts)) : OptionalLong.empty();
        return Outcome.ok(
                new PutItem(index, key, parts, bytes, sum, sums ? new Sums(parts) : Sums.NONE));
    }

    private static long bytes(List<PutItem> items) {
        long bytes = 0;
        for (PutItem item : items) {
            bytes += item.bytes;
        }
        return bytes;
    }

    /**
     * Writes every allocated replica; the outcome of a key is that of its worst replica. Whether
     * bytes of those that failed may still arrive.
     *
     * @param failedEndpoints gets the nodes that did not take what they should
     */
    private boolean write(List<PutItem> open, Deadline limit, Set<String> failedEndpoints) {
        List<Piece> pieces = new ArrayList<>(open.size());
        for (int i = 0; i < open.size(); i++) {
            PutItem item = open.get(i);
            item.moved =
                    switch (item.started) {
                        case Outcome.Ok<List<ReplicaDescriptor>>(
                                        List<ReplicaDescriptor> replicas) ->
                                addPieces(i, item, replicas, pieces);
                        case Outcome.Failed<List<ReplicaDescriptor>> failed ->
                                PutStarts.startFailed(item, failed);
                    };
        }
        boolean late = limit.hasPassed();
        Written written = transfers.write(pieces, limit);
        for (int i = 0; i < pieces.size(); i++) {
            if (written.outcomes().get(i) instanceof Outcome.Failed<Done> failed) {
                PutItem item = open.get(pieces.get(i).item());
                item.moved = failed.in(item.context());
                if (!late) {
                    failedEndpoints.add(pieces.get(i).buffer().transportEndpoint());
                }
            }
        }
        return written.adrift();
    }

    private static Outcome<Done> addPieces(
            int position, PutItem item, List<ReplicaDescriptor> replicas, List<Piece> pieces) {
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
    private List<PutItem> end(
            List<PutItem> open,
            List<Outcome<Long>> outcomes,
            Optional<Shape> shape,
            boolean last,
            boolean adrift,
            Deadline deadline) {
        List<PutItem> good = new ArrayList<>(open.size());
        List<PutItem> bad = new ArrayList<>(0);
        sort(open, good, bad, outcomes);
        if (!good.isEmpty()) {
            boolean all = good.size() == open.size();
            ends.finish(good, all ? shape : Optional.empty(), outcomes, deadline);
        }
        if (bad.isEmpty()) {
            return List.of();
        }
        List<PutItem> again =
                last ? List.of() : bad.stream().filter(Writes::mayWorkElsewhere).toList();
        retries.increment(again.size());
        if (!adrift) {
            revoke(bad, outcomes, deadline);
        } else if (last) {
            // The node may still take the bytes: the space stays reserved until the master drops
            // the put, so that they land in nobody else's object.
            for (PutItem item : bad) {
                append(item, outcomes, "; the key is free again after the discard timeout");
            }
        }
        return again;
    }

    /**
     * Tells apart what was written and what was started in vain, and notes why all that is not good
     * is not.
     */
    private static void sort(
            List<PutItem> items,
            List<PutItem> good,
            List<PutItem> bad,
            List<Outcome<Long>> outcomes) {
        for (PutItem item : items) {
            if (!(item.moved instanceof Outcome.Failed<Done> failed)) {
                good.add(item);
                continue;
            }
            outcomes.set(item.index, failed.as());
            if (item.started.isOk()) {
                bad.add(item);
            }
        }
    }

    private static boolean mayWorkElsewhere(PutItem item) {
        return item.moved instanceof Outcome.Failed<Done> failed
                && (failed.code() == StoreCode.TRANSFER_FAIL
                        || failed.code() == StoreCode.WRITE_FAIL);
    }

    private void revoke(List<PutItem> items, List<Outcome<Long>> outcomes, Deadline deadline) {
        List<ByteString> revoked = new ArrayList<>(items.size());
        for (PutItem item : items) {
            revoked.add(item.key);
        }
        List<Outcome<Done>> answers = ends.revokePieces(revoked, PutItem.puts(items), deadline);
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

    private static void append(PutItem item, List<Outcome<Long>> outcomes, String what) {
        if (outcomes.get(item.index) instanceof Outcome.Failed<Long> cause) {
            outcomes.set(item.index, Outcome.failed(cause.code(), cause.detail() + what));
        }
    }
}
