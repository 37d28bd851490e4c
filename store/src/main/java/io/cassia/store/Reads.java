package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.MasterLink.Leased;
import io.cassia.store.Transfers.Piece;
import io.cassia.transfer.Opcode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntUnaryOperator;

/**
 * The read path: replicas under a lease, one-sided reads, the lease checked afterwards on this
 * process's own clock (spec mooncake-store 3.6), every chunk proved. Thread-safe. A replica that
 * cannot be read, or whose bytes are wrong, is replaced by the next one, nearest first.
 */
final class Reads {
    private static final System.Logger LOG = System.getLogger(Reads.class.getName());

    /** A replica gets so long, and more for more bytes, before another one is tried. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final long SLOWEST_BYTES_PER_SECOND = 50_000_000;

    /** How often one call asks the master anew because a lease ran out on failing replicas. */
    private static final int LEASES_PER_CALL = 8;

    private final ByteString tenant;
    private final Clock clock;
    private final MasterLink master;
    private final Transfers transfers;
    private final Staging staging;
    private final HotCache cache;
    private final Counter failovers;
    private final Counter expired;
    private final Counter mismatches;

    Reads(
            ByteString tenant,
            Clock clock,
            MasterLink master,
            Transfers transfers,
            Staging staging,
            HotCache cache,
            MeterRegistry meters) {
        this.tenant = tenant;
        this.clock = clock;
        this.master = master;
        this.transfers = transfers;
        this.staging = staging;
        this.cache = cache;
        this.failovers = counter(meters, "failovers", "Reads that went on to another replica");
        this.expired = counter(meters, "lease_expired", "Objects read too late and thrown away");
        this.mismatches = counter(meters, "checksum_mismatch", "Replicas with wrong bytes");
    }

    private static Counter counter(MeterRegistry meters, String name, String description) {
        return Counter.builder("cassia_store_read_" + name)
                .description(description)
                .register(meters);
    }

    /** Makes the item of a key from what the master says of it. */
    @FunctionalInterface
    interface Plan {
        Outcome<ReadItem> item(int index, Found found);
    }

    /** How long one attempt may take while there is something else to try. */
    static Duration patience(long bytes, Deadline deadline) {
        Duration half = deadline.remaining().dividedBy(2);
        Duration fair = PATIENCE.plusMillis(bytes / (SLOWEST_BYTES_PER_SECOND / 1000));
        return half.compareTo(fair) < 0 ? half : fair;
    }

    Peers peers() {
        return transfers.peers();
    }

    Staging staging() {
        return staging;
    }

    /** Reads what the plan makes of each key, all under one lease. */
    List<Outcome<Long>> all(
            List<ByteString> keys, boolean prefixOnly, Plan plan, Deadline deadline) {
        return switch (master.acquire(keys, tenant, prefixOnly, deadline)) {
            case Outcome.Ok<Leased>(Leased leased) -> {
                List<Outcome<Long>> outcomes = new ArrayList<>(leased.objects().size());
                Map<Integer, Set<String>> stale =
                        leased(keys, IntUnaryOperator.identity(), leased, plan, outcomes, deadline);
                if (!stale.isEmpty()) {
                    again(keys, stale, plan, outcomes, deadline);
                }
                yield outcomes;
            }
            case Outcome.Failed<Leased> failed -> {
                List<Outcome<Long>> outcomes = new ArrayList<>();
                for (int i = 0; i < (prefixOnly ? 1 : keys.size()); i++) {
                    outcomes.add(failed.in(context(keys.get(i))));
                }
                yield outcomes;
            }
        };
    }

    private static String context(ByteString key) {
        return "get of " + Keys.show(key);
    }

    /**
     * Reads what was leased. The answer is those whose lease ran out while a replica did not
     * answer, with the nodes that failed.
     *
     * @param position place of a leased object in the call
     */
    private Map<Integer, Set<String>> leased(
            List<ByteString> keys,
            IntUnaryOperator position,
            Leased leased,
            Plan plan,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        int count = leased.objects().size();
        List<ReadItem> items = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int index = position.applyAsInt(i);
            Outcome<Long> planned =
                    switch (leased.objects().get(i).then(found -> plan.item(index, found))) {
                        case Outcome.Ok<ReadItem>(ReadItem item) -> {
                            items.add(item);
                            yield Outcome.ok(item.wantedBytes);
                        }
                        case Outcome.Failed<ReadItem> failed -> failed.in(context(keys.get(index)));
                    };
            if (index == outcomes.size()) {
                outcomes.add(planned);
            } else {
                outcomes.set(index, planned);
            }
        }
        Map<Integer, Set<String>> stale =
                items.isEmpty() ? Map.of() : run(items, leased.untilNanos(), outcomes, deadline);
        master.release(leased, deadline);
        return stale;
    }

    /** Asks for new leases for those that may still find a replica that answers. */
    private void again(
            List<ByteString> keys,
            Map<Integer, Set<String>> first,
            Plan plan,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        Map<Integer, Set<String>> failed = first;
        for (int i = 1; i < LEASES_PER_CALL && !failed.isEmpty() && !deadline.hasPassed(); i++) {
            List<Integer> positions = List.copyOf(failed.keySet());
            List<ByteString> open = positions.stream().map(keys::get).toList();
            Map<Integer, Set<String>> avoid = failed;
            Plan elsewhere =
                    (index, found) ->
                            plan.item(index, found)
                                    .map(
                                            item ->
                                                    item.avoiding(
                                                            avoid.getOrDefault(index, Set.of())));
            switch (master.acquire(open, tenant, false, deadline)) {
                case Outcome.Ok<Leased>(Leased leased) ->
                        failed =
                                leased(keys, positions::get, leased, elsewhere, outcomes, deadline);
                case Outcome.Failed<Leased> unreachable -> {
                    for (int position : positions) {
                        outcomes.set(position, unreachable.in(context(keys.get(position))));
                    }
                    return;
                }
            }
        }
    }

    /**
     * Reads items, each of which has its place in {@code outcomes}. Every item is closed on return.
     */
    Map<Integer, Set<String>> run(
            List<ReadItem> items,
            long untilNanos,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        Map<Integer, Set<String>> stale = new HashMap<>();
        try {
            List<ReadItem> open = new ArrayList<>(items.size());
            for (ReadItem item : items) {
                if (item.pieceCount() > 0 && !cache.serve(item)) {
                    open.add(item);
                }
            }
            Set<String> failed = new HashSet<>();
            while (!open.isEmpty()) {
                open = round(open, untilNanos, outcomes, failed, stale, deadline);
            }
        } finally {
            items.forEach(ReadItem::close);
        }
        return stale;
    }

    /** Tries one replica of each; answers those that have another one to try. */
    private List<ReadItem> round(
            List<ReadItem> open,
            long untilNanos,
            List<Outcome<Long>> outcomes,
            Set<String> failedEndpoints,
            Map<Integer, Set<String>> stale,
            Deadline deadline) {
        List<Piece> pieces = new ArrayList<>(open.size());
        ReplicaDescriptor[] replicas = new ReplicaDescriptor[open.size()];
        boolean alternatives = false;
        long bytes = 0;
        for (int i = 0; i < replicas.length; i++) {
            ReadItem item = open.get(i);
            replicas[i] = item.next();
            item.addPieces(i, replicas[i], pieces);
            alternatives |= item.hasUntried();
            bytes += item.wantedBytes;
        }
        Deadline limit = alternatives ? Deadline.after(clock, patience(bytes, deadline)) : deadline;
        List<Outcome<Done>> moved = transfers.run(Opcode.READ, pieces, limit);
        long late = clock.nanos() - untilNanos;
        List<ReadItem> again = new ArrayList<>(0);
        int at = 0;
        for (int i = 0; i < replicas.length; i++) {
            ReadItem item = open.get(i);
            List<Outcome<Done>> own = moved.subList(at, at + item.pieceCount());
            at += item.pieceCount();
            Outcome<Long> outcome = judge(item, replicas[i], own, late, deadline);
            outcomes.set(item.index, outcome);
            if (outcome.isOk() || isCode(outcome, StoreCode.LEASE_EXPIRED)) {
                continue;
            }
            failedEndpoints.add(ReadItem.buffer(replicas[i]).transportEndpoint());
            boolean capped = alternatives && !item.hasUntried();
            if (deadline.hasPassed()) {
                continue;
            }
            if (late >= 0) {
                if (item.found.replicas().size() > 1) {
                    stale.put(item.index, failedEndpoints);
                }
            } else if (item.hasUntried()) {
                failovers.increment();
                again.add(item);
            } else if (capped && isCode(outcome, StoreCode.TRANSFER_FAIL)) {
                // It was given less time for the sake of the others.
                item.again(replicas[i]);
                again.add(item);
            }
        }
        return again;
    }

    private static boolean isCode(Outcome<?> outcome, StoreCode code) {
        return outcome instanceof Outcome.Failed<?> failed && failed.code() == code;
    }

    /** Whether what was read of one replica is right. */
    private Outcome<Long> judge(
            ReadItem item,
            ReplicaDescriptor replica,
            List<Outcome<Done>> pieces,
            long late,
            Deadline deadline) {
        for (Outcome<Done> piece : pieces) {
            if (piece instanceof Outcome.Failed<Done> failed) {
                return failed.in(context(item.key));
            }
        }
        if (late >= 0) {
            return tooLate(item, late);
        }
        String wrong = item.prove();
        if (wrong.isEmpty()) {
            cache.offer(item, replica);
            return Outcome.ok(item.wantedBytes);
        }
        mismatches.increment();
        report(item, replica, wrong, deadline);
        return Outcome.failed(
                StoreCode.CHECKSUM_MISMATCH,
                "%s: replica at %s: %s"
                        .formatted(
                                context(item.key),
                                ReadItem.buffer(replica).transportEndpoint(),
                                wrong));
    }

    /** Bytes that arrived after the lease may be another object's by now: they are no result. */
    private Outcome<Long> tooLate(ReadItem item, long late) {
        expired.increment();
        return Outcome.failed(
                StoreCode.LEASE_EXPIRED,
                "%s: %d bytes arrived %d ms after the lease ended; read again"
                        .formatted(context(item.key), item.wantedBytes, late / 1_000_000));
    }

    /** A replica with wrong bytes leaves service. */
    private void report(ReadItem item, ReplicaDescriptor replica, String wrong, Deadline deadline) {
        LOG.log(
                Level.WARNING,
                "replica corrupt key={0} endpoint={1} address={2} detail=\"{3}\"",
                Keys.show(item.key),
                ReadItem.buffer(replica).transportEndpoint(),
                Long.toHexString(ReadItem.buffer(replica).address()),
                wrong);
        if (item.found.version() != 0 && isConfirmed(item, replica, deadline)) {
            master.drop(item.key, tenant, item.found, replica, deadline);
        }
    }

    /**
     * Reads what was wrong once more, into memory that nobody else knows: two reads into the same
     * memory of the caller spoil each other, and no replica is to be blamed for that.
     */
    private boolean isConfirmed(ReadItem item, ReplicaDescriptor replica, Deadline deadline) {
        return staging.take(item.wrongBytes())
                                .then(
                                        block -> {
                                            try (block) {
                                                Piece again =
                                                        item.wrongPiece(replica, block.memory());
                                                return transfers
                                                        .run(
                                                                Opcode.READ,
                                                                List.of(again),
                                                                Deadline.after(
                                                                        clock,
                                                                        patience(
                                                                                item.wrongBytes(),
                                                                                deadline)))
                                                        .getFirst()
                                                        .map(_ -> item.isWrongToo(block.memory()));
                                            }
                                        })
                        instanceof Outcome.Ok<Boolean>(Boolean wrong)
                && wrong;
    }

    /** What the master says of some keys, without keeping a lease. */
    List<Outcome<Found>> find(List<ByteString> keys, boolean prefixOnly, Deadline deadline) {
        return switch (master.acquire(keys, tenant, prefixOnly, deadline)) {
            case Outcome.Ok<Leased>(Leased leased) -> {
                master.release(leased, deadline);
                List<Outcome<Found>> found = new ArrayList<>(leased.objects().size());
                for (int i = 0; i < leased.objects().size(); i++) {
                    Outcome<Found> one = leased.objects().get(i);
                    found.add(
                            one instanceof Outcome.Failed<Found> failed
                                    ? failed.in(Keys.show(keys.get(i)))
                                    : one);
                }
                yield found;
            }
            case Outcome.Failed<Leased> failed -> {
                List<Outcome<Found>> all = new ArrayList<>();
                keys.forEach(_ -> all.add(failed.as()));
                yield all;
            }
        };
    }
}
