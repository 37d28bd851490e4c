package io.cassia.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cassia.base.ByteString;
import io.cassia.base.Deadline;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.MasterLink.Started;
import io.cassia.store.Transfers.Piece;
import io.cassia.store.Transfers.Written;
import io.cassia.transfer.Opcode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Objects that are started together, written range by range, and made readable together; each has
 * its own outcome at every step and disturbs no other (spec mooncake-store 2.5). Guarded.
 *
 * <pre>
 *   open ──write*──► commit: what is complete is readable, the rest is open as before
 *     └────────────► close: what was not committed is taken back
 * </pre>
 *
 * <p>Each byte is written at least once, from any memory, in any order. What an object is proved by
 * later are checksums of the bytes that were given to {@link #write}, so that whatever somebody
 * else writes to its memory is found. There is one exception: a chunk of 64 KiB of which a part was
 * written twice, other than by a write that covers all that had come of it before. It is read back
 * from a node at the commit, and what is there by then counts as right.
 */
public final class BatchWriteSession implements AutoCloseable {
    private final List<ByteString> keys;
    private final List<Outcome<WriteItem>> items;
    private final Map<ByteString, Outcome<WriteItem>> byKey = new HashMap<>();
    private final Deadline term;
    private final PutEnds ends;
    private final Transfers transfers;
    private final Staging staging;
    private final Supplier<Deadline> deadlines;
    private final ReentrantLock lock = new ReentrantLock();

    private BatchWriteSession(
            List<ByteString> keys,
            List<Outcome<WriteItem>> items,
            Deadline term,
            PutEnds ends,
            Transfers transfers,
            Staging staging,
            Supplier<Deadline> deadlines) {
        this.keys = keys;
        this.items = items;
        this.term = term;
        this.ends = ends;
        this.transfers = transfers;
        this.staging = staging;
        this.deadlines = deadlines;
        for (int i = 0; i < keys.size(); i++) {
            byKey.putIfAbsent(keys.get(i), items.get(i));
        }
    }

    static Outcome<BatchWriteSession> open(
            List<ByteString> keys,
            List<Long> sizesBytes,
            PutOptions options,
            Writes writes,
            Transfers transfers,
            Staging staging,
            Supplier<Deadline> deadlines) {
        Deadline deadline = deadlines.get();
        return writes.starts()
                .startPieces(keys, sizesBytes, options, deadline)
                .map(
                        started ->
                                new BatchWriteSession(
                                        List.copyOf(keys),
                                        items(keys, sizesBytes, started, writes.ends(), deadline),
                                        started.term(),
                                        writes.ends(),
                                        transfers,
                                        staging,
                                        deadlines));
    }

    private static List<Outcome<WriteItem>> items(
            List<ByteString> keys,
            List<Long> sizesBytes,
            Started<List<Outcome<List<ReplicaDescriptor>>>> started,
            PutEnds ends,
            Deadline deadline) {
        List<Outcome<WriteItem>> items = new ArrayList<>(keys.size());
        List<ByteString> useless = new ArrayList<>(0);
        List<Long> puts = new ArrayList<>(0);
        for (int i = 0; i < keys.size(); i++) {
            ByteString key = keys.get(i);
            long sizeBytes = sizesBytes.get(i);
            Outcome<List<ReplicaDescriptor>> answer = started.answer().get(i);
            Outcome<WriteItem> item =
                    answer.then(replicas -> WriteItem.of(key, sizeBytes, replicas));
            items.add(item);
            if (answer instanceof Outcome.Ok<List<ReplicaDescriptor>>(var replicas)
                    && !item.isOk()) {
                useless.add(key);
                puts.add(replicas.isEmpty() ? 0 : replicas.getFirst().id());
            }
        }
        if (!useless.isEmpty()) {
            // What cannot be taken back now comes back by the discard timeout.
            List<Outcome<Done>> _ = ends.revokePieces(useless, puts, deadline);
        }
        return items;
    }

    public List<ByteString> keys() {
        return keys;
    }

    /** Whether each key could be started, in order; the codes are those of a put. */
    public List<Outcome<Done>> started() {
        return items.stream().map(item -> item.map(_ -> Done.DONE)).toList();
    }

    /**
     * Writes ranges to every replica of their objects; one outcome each. INVALID_PARAMS when a
     * range leaves its object or meets another one of this call, when its memory is not native, and
     * for a key that is not of this session; INVALID_WRITE after the end of its object, and when
     * the session is open for longer than the master keeps its space; TRANSFER_FAIL or WRITE_FAIL
     * when a replica did not take it: its object can then only be taken back. For a key that could
     * not be started the code is that of its start.
     */
    public List<Outcome<Done>> write(List<RangeWrite> ranges) {
        lock.lock();
        try {
            List<Outcome<WriteItem>> targets = new ArrayList<>(ranges.size());
            List<Outcome<Done>> outcomes = new ArrayList<>(ranges.size());
            List<Piece> pieces = new ArrayList<>(ranges.size());
            plan(ranges, targets, outcomes, pieces);
            if (pieces.isEmpty()) {
                return outcomes;
            }
            Written written = transfers.write(pieces, deadlines.get().earlier(term));
            for (int i = 0; i < pieces.size(); i++) {
                int range = pieces.get(i).item();
                if (written.outcomes().get(i) instanceof Outcome.Failed<Done> failure
                        && targets.get(range) instanceof Outcome.Ok<WriteItem>(WriteItem item)) {
                    item.writeFailed(written.adrift());
                    if (outcomes.get(range).isOk()) {
                        outcomes.set(range, failure.in(item.context()));
                    }
                }
            }
            return outcomes;
        } finally {
            lock.unlock();
        }
    }

    /** Looks at each range, and notes the bytes of those that are to be written. */
    @GuardedBy("lock")
    private void plan(
            List<RangeWrite> ranges,
            List<Outcome<WriteItem>> targets,
            List<Outcome<Done>> outcomes,
            List<Piece> pieces) {
        for (RangeWrite range : ranges) {
            Outcome<WriteItem> target = find(range.key());
            targets.add(target);
            if (target instanceof Outcome.Ok<WriteItem>(WriteItem item)) {
                item.beginCall();
            }
        }
        boolean late = term.hasPassed();
        for (int i = 0; i < ranges.size(); i++) {
            RangeWrite range = ranges.get(i);
            Outcome<Done> outcome = targets.get(i).then(item -> item.take(range, late));
            outcomes.add(outcome);
            if (outcome.isOk() && targets.get(i) instanceof Outcome.Ok<WriteItem>(WriteItem item)) {
                item.addPieces(i, range, pieces);
                item.sums.add(range.offsetBytes(), range.bytes());
            }
        }
    }

    private Outcome<WriteItem> find(ByteString key) {
        Outcome<WriteItem> item = byKey.get(key);
        return item == null
                ? Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        "key " + Keys.show(key) + " was not started by this session")
                : item;
    }

    /**
     * Makes all objects readable that are complete, in one trip; one outcome per key, in order, the
     * value being the version. INVALID_WRITE when bytes are missing, a write has failed, or the
     * master has given the put up because it took too long: that object is not readable. What is
     * missing can be written still, and a later commit has the versions of this one as well. For a
     * key that could not be started the code is that of its start.
     */
    public List<Outcome<Long>> commit() {
        lock.lock();
        try {
            Deadline deadline = deadlines.get();
            List<Outcome<Long>> outcomes = new ArrayList<>(items.size());
            List<Integer> positions = new ArrayList<>(items.size());
            List<WrittenObject> objects = new ArrayList<>(items.size());
            List<Long> puts = new ArrayList<>(items.size());
            for (Outcome<WriteItem> started : items) {
                if (started instanceof Outcome.Ok<WriteItem>(WriteItem item) && item.isOpen()) {
                    Outcome<Done> ready = item.complete().then(_ -> settle(item, deadline));
                    if (ready.isOk()) {
                        positions.add(outcomes.size());
                        objects.add(item.written(ends.isChecked()));
                        puts.add(item.put);
                    }
                    outcomes.add(ready.map(_ -> 0L));
                } else {
                    outcomes.add(started.then(WriteItem::end));
                }
            }
            if (!objects.isEmpty()) {
                end(objects, puts, positions, outcomes, deadline);
            }
            return outcomes;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void end(
            List<WrittenObject> objects,
            List<Long> puts,
            List<Integer> positions,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        List<Outcome<Long>> ended = ends.endPieces(objects, puts, deadline);
        for (int i = 0; i < ended.size(); i++) {
            int position = positions.get(i);
            outcomes.set(position, ended.get(i));
            if (ended.get(i) instanceof Outcome.Ok<Long>(Long version)
                    && items.get(position) instanceof Outcome.Ok<WriteItem>(WriteItem item)) {
                item.committed(version);
            }
        }
    }

    /** Reads what the object's mixed chunks have become. */
    private Outcome<Done> settle(WriteItem item, Deadline deadline) {
        if (!ends.isChecked()) {
            return Outcome.done();
        }
        for (int chunk = item.sums.nextMixed(0);
                chunk >= 0;
                chunk = item.sums.nextMixed(chunk + 1)) {
            long left = item.sizeBytes - (long) chunk * Checksums.CHUNK_BYTES;
            int index = chunk;
            Outcome<Done> read =
                    staging.take(Math.min(Checksums.CHUNK_BYTES, left))
                            .then(block -> readBack(item, index, block, deadline));
            if (!read.isOk()) {
                return read;
            }
        }
        return Outcome.done();
    }

    private Outcome<Done> readBack(
            WriteItem item, int chunk, Staging.Block staged, Deadline deadline) {
        try (staged) {
            Piece piece = item.chunk(chunk, staged.memory());
            Outcome<Done> read = transfers.run(Opcode.READ, List.of(piece), deadline).getFirst();
            if (read instanceof Outcome.Failed<Done> failed) {
                return failed.in(item.context());
            }
            item.sums.settle(chunk, staged.memory());
            return read;
        }
    }

    /**
     * Takes back what was not committed, in one trip; one outcome per key, in order. INVALID_WRITE
     * for what has ended already; OBJECT_NOT_FOUND when the master has given it up; WRITE_FAIL when
     * a write did not end in time, so that bytes may still arrive at a node: the key and its space
     * come back by the master's own time-outs. For a key that could not be started the code is that
     * of its start.
     */
    public List<Outcome<Done>> revoke() {
        lock.lock();
        try {
            List<Outcome<Done>> outcomes = new ArrayList<>(items.size());
            List<Integer> positions = new ArrayList<>(items.size());
            List<ByteString> revoked = new ArrayList<>(items.size());
            List<Long> puts = new ArrayList<>(items.size());
            for (Outcome<WriteItem> started : items) {
                if (started instanceof Outcome.Ok<WriteItem>(WriteItem item)
                        && item.isOpen()
                        && !item.isAdrift()) {
                    positions.add(outcomes.size());
                    revoked.add(item.key);
                    puts.add(item.put);
                }
                outcomes.add(started.then(BatchWriteSession::giveUp));
            }
            if (!revoked.isEmpty()) {
                List<Outcome<Done>> answers = ends.revokePieces(revoked, puts, deadlines.get());
                for (int i = 0; i < answers.size(); i++) {
                    outcomes.set(positions.get(i), answers.get(i));
                }
            }
            return outcomes;
        } finally {
            lock.unlock();
        }
    }

    private static Outcome<Done> giveUp(WriteItem item) {
        if (!item.isOpen()) {
            return item.over();
        }
        item.revoked();
        return item.isAdrift()
                ? Outcome.failed(
                        StoreCode.WRITE_FAIL,
                        "a write of the "
                                + item.context()
                                + " did not end in time; the key is free again after the discard timeout")
                : Outcome.done();
    }

    /** Takes back what was not committed; the master does it later if it cannot be told. */
    @Override
    public void close() {
        List<Outcome<Done>> _ = revoke();
    }
}
