package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaStatus;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.MasterLink.Leased;
import io.cassia.store.ReplicaTransfers.Piece;
import io.cassia.transfer.Opcode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The read path: replicas under a lease, one-sided reads, the lease checked afterwards on this
 * process's own clock (spec mooncake-store 3.6). Thread-safe. A replica that cannot be read is
 * replaced by the next one.
 */
final class Reads {
    private final ByteString tenant;
    private final Clock clock;
    private final MasterLink master;
    private final ReplicaTransfers transfers;
    private final Counter failovers;
    private final Counter expired;

    Reads(
            ByteString tenant,
            Clock clock,
            MasterLink master,
            ReplicaTransfers transfers,
            MeterRegistry meters) {
        this.tenant = tenant;
        this.clock = clock;
        this.master = master;
        this.transfers = transfers;
        this.failovers =
                Counter.builder("cassia_store_read_failovers")
                        .description("Reads that went on to another replica")
                        .register(meters);
        this.expired =
                Counter.builder("cassia_store_read_lease_expired")
                        .description("Objects read too late and thrown away")
                        .register(meters);
    }

    /** One object of a batch on its way through its replicas. */
    private static final class Item {
        final int index;
        final long sizeBytes;
        final MemorySegment memory;
        final List<BufferDescriptor> untried;

        Item(int index, long sizeBytes, MemorySegment memory, List<BufferDescriptor> untried) {
            this.index = index;
            this.sizeBytes = sizeBytes;
            this.memory = memory;
            this.untried = untried;
        }
    }

    List<Outcome<Long>> all(List<ByteString> keys, List<MemorySegment> into, Deadline deadline) {
        return read(keys, into, false, deadline);
    }

    List<Outcome<Long>> prefix(List<ByteString> keys, List<MemorySegment> into, Deadline deadline) {
        return read(keys, into, true, deadline);
    }

    Outcome<Long> size(ByteString key, Deadline deadline) {
        return replicas(key, deadline).map(replicas -> sizeBytes(replicas.getFirst()));
    }

    Outcome<List<ReplicaDescriptor>> replicas(ByteString key, Deadline deadline) {
        return master.acquire(List.of(key), tenant, false, deadline)
                .then(
                        leased -> {
                            master.release(leased, deadline);
                            return leased.objects().getFirst();
                        });
    }

    private List<Outcome<Long>> read(
            List<ByteString> keys,
            List<MemorySegment> into,
            boolean prefixOnly,
            Deadline deadline) {
        return switch (master.acquire(keys, tenant, prefixOnly, deadline)) {
            case Outcome.Ok<Leased>(Leased leased) -> read(keys, into, leased, deadline);
            case Outcome.Failed<Leased> failed -> {
                List<Outcome<Long>> outcomes = new ArrayList<>();
                for (int i = 0; i < (prefixOnly ? 1 : keys.size()); i++) {
                    outcomes.add(failed.in("get of " + Keys.show(keys.get(i))));
                }
                yield outcomes;
            }
        };
    }

    private List<Outcome<Long>> read(
            List<ByteString> keys, List<MemorySegment> into, Leased leased, Deadline deadline) {
        List<Outcome<Long>> outcomes = new ArrayList<>(leased.objects().size());
        List<Item> items = new ArrayList<>(leased.objects().size());
        for (int i = 0; i < leased.objects().size(); i++) {
            Outcome<Item> item = plan(i, leased.objects().get(i), into.get(i));
            if (item instanceof Outcome.Ok<Item>(Item planned)) {
                items.add(planned);
            }
            String key = "get of " + Keys.show(keys.get(i));
            outcomes.add(
                    switch (item) {
                        case Outcome.Ok<Item>(Item planned) -> Outcome.ok(planned.sizeBytes);
                        case Outcome.Failed<Item> failed -> failed.in(key);
                    });
        }
        readItems(keys, items, outcomes, deadline);
        discardIfExpired(keys, items, leased, outcomes);
        master.release(leased, deadline);
        return outcomes;
    }

    /** Replicas to try, nearest first; fails when there is none or the memory is too small. */
    private Outcome<Item> plan(
            int index, Outcome<List<ReplicaDescriptor>> found, MemorySegment into) {
        return found.then(
                replicas -> {
                    List<BufferDescriptor> buffers = readable(replicas);
                    if (buffers.isEmpty()) {
                        return Outcome.failed(
                                StoreCode.INVALID_REPLICA,
                                "none of " + replicas.size() + " replicas is complete in memory");
                    }
                    long size = buffers.getFirst().size();
                    if (into.byteSize() < size) {
                        return Outcome.failed(
                                StoreCode.INVALID_PARAMS,
                                "the object has %d bytes, the memory given only %d"
                                        .formatted(size, into.byteSize()));
                    }
                    return Outcome.ok(new Item(index, size, into.asSlice(0, size), buffers));
                });
    }

    private List<BufferDescriptor> readable(List<ReplicaDescriptor> replicas) {
        List<BufferDescriptor> buffers = new ArrayList<>(replicas.size());
        for (ReplicaDescriptor replica : replicas) {
            if (replica.status() == ReplicaStatus.COMPLETE.number()
                    && replica.placement() instanceof Placement.Memory(var buffer)) {
                boolean local = transfers.isLocal(buffer.transportEndpoint());
                buffers.add(local ? 0 : buffers.size(), buffer);
            }
        }
        return buffers;
    }

    /** Reads all items, going on to the next replica of those that failed. */
    private void readItems(
            List<ByteString> keys,
            List<Item> items,
            List<Outcome<Long>> outcomes,
            Deadline deadline) {
        List<Item> open = items;
        while (!open.isEmpty()) {
            List<Piece> pieces = new ArrayList<>(open.size());
            for (Item item : open) {
                pieces.add(new Piece(item.index, item.untried.removeFirst(), item.memory));
            }
            List<Outcome<Done>> moved = transfers.run(Opcode.READ, pieces, deadline);
            List<Item> again = new ArrayList<>();
            for (int i = 0; i < open.size(); i++) {
                Item item = open.get(i);
                switch (moved.get(i)) {
                    case Outcome.Ok<Done> ok ->
                            outcomes.set(item.index, Outcome.ok(item.sizeBytes));
                    case Outcome.Failed<Done> failed -> {
                        String context = "get of " + Keys.show(keys.get(item.index));
                        outcomes.set(item.index, failed.in(context));
                        if (!item.untried.isEmpty() && !deadline.hasPassed()) {
                            failovers.increment();
                            again.add(item);
                        }
                    }
                }
            }
            open = again;
        }
    }

    /** Bytes that arrived after the lease may be another object's by now: they are no result. */
    private void discardIfExpired(
            List<ByteString> keys, List<Item> items, Leased leased, List<Outcome<Long>> outcomes) {
        long late = clock.nanos() - leased.untilNanos();
        if (late < 0) {
            return;
        }
        for (Item item : items) {
            if (outcomes.get(item.index).isOk()) {
                expired.increment();
                outcomes.set(
                        item.index,
                        Outcome.failed(
                                StoreCode.LEASE_EXPIRED,
                                "get of %s: %d bytes arrived %d ms after the lease ended; read again"
                                        .formatted(
                                                Keys.show(keys.get(item.index)),
                                                item.sizeBytes,
                                                late / 1_000_000)));
            }
        }
    }

    private static long sizeBytes(ReplicaDescriptor replica) {
        return switch (replica.placement()) {
            case Placement.Memory(BufferDescriptor buffer) -> buffer.size();
            case Placement.Nof(BufferDescriptor buffer) -> buffer.size();
            case Placement.Disk disk -> disk.objectSize();
            case Placement.LocalDisk disk -> disk.objectSize();
            case Placement.Dfs dfs -> dfs.objectSize();
        };
    }
}
