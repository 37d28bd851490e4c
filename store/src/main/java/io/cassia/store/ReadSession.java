package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Deadline;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.MasterLink.Leased;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Objects asked for once and read in many ranges under one lease. Thread-safe. It does not renew
 * its lease: a read after its end is LEASE_EXPIRED, and a new session is to be opened.
 */
public final class ReadSession implements AutoCloseable {
    private final Map<ByteString, Outcome<Found>> objects;
    private final Leased leased;
    private final Reads reads;
    private final MasterLink master;
    private final Supplier<Deadline> deadlines;
    private final AtomicBoolean closed = new AtomicBoolean();

    private ReadSession(
            Map<ByteString, Outcome<Found>> objects,
            Leased leased,
            Reads reads,
            MasterLink master,
            Supplier<Deadline> deadlines) {
        this.objects = objects;
        this.leased = leased;
        this.reads = reads;
        this.master = master;
        this.deadlines = deadlines;
    }

    static Outcome<ReadSession> open(
            List<ByteString> keys,
            ByteString tenant,
            Reads reads,
            MasterLink master,
            Supplier<Deadline> deadlines) {
        return master.acquire(keys, tenant, false, deadlines.get())
                .map(
                        leased -> {
                            Map<ByteString, Outcome<Found>> objects = new LinkedHashMap<>();
                            for (int i = 0; i < keys.size(); i++) {
                                objects.put(keys.get(i), leased.objects().get(i));
                            }
                            return new ReadSession(objects, leased, reads, master, deadlines);
                        });
    }

    /**
     * What is leased of a key; OBJECT_NOT_FOUND, REPLICA_IS_NOT_READY when it was not readable,
     * INVALID_PARAMS when it is not of this session.
     */
    public Outcome<ObjectInfo> object(ByteString key) {
        return found(key).map(Found::info);
    }

    private Outcome<Found> found(ByteString key) {
        Outcome<Found> found = objects.get(key);
        return found == null
                ? Outcome.failed(
                        StoreCode.INVALID_PARAMS,
                        "key " + Keys.show(key) + " was not asked for by this session")
                : found;
    }

    /**
     * Reads ranges; one outcome each, the value being its length. INVALID_READ for a range that
     * ends behind its object, LEASE_EXPIRED when the bytes came too late; otherwise as a get.
     */
    public List<Outcome<Long>> read(List<RangeRead> ranges) {
        List<Outcome<Long>> outcomes = new ArrayList<>(ranges.size());
        for (List<RangeRead> window : reads.staging().windows(ranges)) {
            outcomes.addAll(readWindow(window));
        }
        return outcomes;
    }

    private List<Outcome<Long>> readWindow(List<RangeRead> ranges) {
        List<Outcome<Long>> outcomes = new ArrayList<>(ranges.size());
        List<ReadItem> items = new ArrayList<>(ranges.size());
        for (int i = 0; i < ranges.size(); i++) {
            RangeRead range = ranges.get(i);
            int index = i;
            Outcome<ReadItem> item =
                    closed.get()
                            ? Outcome.failed(StoreCode.INVALID_PARAMS, "the session is closed")
                            : found(range.key())
                                    .then(
                                            found ->
                                                    ReadItem.range(
                                                            index,
                                                            found,
                                                            range,
                                                            reads.peers(),
                                                            reads.staging()));
            switch (item) {
                case Outcome.Ok<ReadItem>(ReadItem planned) -> {
                    outcomes.add(Outcome.ok(planned.wantedBytes));
                    items.add(planned);
                }
                case Outcome.Failed<ReadItem> failed ->
                        outcomes.add(failed.in("get of " + Keys.show(range.key())));
            }
        }
        if (!items.isEmpty()) {
            Map<Integer, Set<String>> stale =
                    reads.run(items, leased.untilNanos(), outcomes, deadlines.get());
            for (int index : stale.keySet()) {
                outcomes.set(
                        index,
                        Outcome.failed(
                                StoreCode.LEASE_EXPIRED,
                                "get of %s: the session's lease ended while a replica failed"
                                        .formatted(Keys.show(ranges.get(index).key()))));
            }
        }
        return outcomes;
    }

    /** Gives the lease back. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            master.release(leased, deadlines.get());
        }
    }
}
