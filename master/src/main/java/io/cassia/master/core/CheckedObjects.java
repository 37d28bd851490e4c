package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.Acquire;
import io.cassia.rpc.cassia.CassiaMessages.Acquired;
import io.cassia.rpc.cassia.CheckedMessages.CheckedAcquired;
import io.cassia.rpc.cassia.CheckedMessages.CheckedObject;
import io.cassia.rpc.cassia.CheckedMessages.DropReplica;
import io.cassia.rpc.cassia.CheckedMessages.EndChecked;
import io.cassia.rpc.cassia.CheckedMessages.UpsertStartIf;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Confined to the master's lock. Reads and writes of clients that prove every byte: what they are
 * told beside the replicas, and what happens to a replica whose bytes are wrong.
 */
final class CheckedObjects {
    private static final int NONE = ObjectTable.NONE;

    /** Of a chunk's checksum. */
    private static final int SUM_BYTES = 4;

    private static final long CHUNK_BYTES = 65536;

    private final CoreState state;
    private final ObjectTable objects;
    private final Space space;
    private final Reads reads;
    private final Writes writes;

    CheckedObjects(CoreState state, Space space, Reads reads, Writes writes) {
        this.state = state;
        this.objects = state.objects;
        this.space = space;
        this.reads = reads;
        this.writes = writes;
    }

    CheckedAcquired acquire(Acquire wanted) {
        Acquired plain = reads.acquire(wanted);
        List<Outcome<CheckedObject>> checked = new ArrayList<>(plain.objects().size());
        for (int i = 0; i < plain.objects().size(); i++) {
            ByteString key = wanted.keys().get(i);
            checked.add(
                    plain.objects().get(i).map(found -> with(found, slotOf(key, wanted.tenant()))));
        }
        return new CheckedAcquired(plain.leaseId(), plain.leaseTtlMs(), checked);
    }

    private CheckedObject with(List<ReplicaDescriptor> replicas, int slot) {
        OptionalLong crc64 =
                objects.has(slot, ObjectTable.HAS_CHECKSUM)
                        ? OptionalLong.of(objects.checksum(slot))
                        : OptionalLong.empty();
        return new CheckedObject(
                replicas, state.versions.number(slot), crc64, state.versions.sums(slot));
    }

    List<Outcome<Long>> end(EndChecked batch, List<Long> puts) {
        List<Outcome<Long>> ended = new ArrayList<>(batch.objects().size());
        for (int i = 0; i < batch.objects().size(); i++) {
            long put = i < puts.size() ? puts.get(i) : 0;
            ended.add(end(batch, batch.objects().get(i), put));
        }
        return ended;
    }

    private Outcome<Long> end(EndChecked batch, WrittenObject written, long put) {
        return writes.end(
                        batch.client(),
                        new ObjectMeta(written.key(), written.crc64()),
                        ReplicaType.ALL.number(),
                        batch.tenant(),
                        put,
                        written.sums())
                .map(done -> writes.versionOf(written.key(), batch.tenant()));
    }

    /** Whether these can be the sums of an object of that size; none always can. */
    static boolean fit(ByteString sums, long objectBytes) {
        long chunks = (objectBytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
        return sums.isEmpty() || sums.length() == chunks * SUM_BYTES;
    }

    Outcome<List<ReplicaDescriptor>> startIf(UpsertStartIf wanted) {
        ByteString key = wanted.put().key();
        int slot = slotOf(key, wanted.put().tenant());
        boolean readable = slot != NONE && space.isReadable(slot);
        if (wanted.version() == UpsertStartIf.NO_VERSION) {
            boolean ownAgain =
                    slot != NONE && !readable && objects.isWriter(slot, wanted.put().client());
            return writes.start(wanted.put(), ownAgain);
        }
        if (!readable) {
            return Outcome.failed(StoreCode.OBJECT_NOT_FOUND, "no object has the key " + key);
        }
        long current = state.versions.number(slot);
        if (current != wanted.version()) {
            return Outcome.failed(
                    StoreCode.INVALID_VERSION,
                    "key %s has version %d, not %d".formatted(key, current, wanted.version()));
        }
        return writes.start(wanted.put(), true);
    }

    /** Readers that still have a lease keep the range to themselves until it ends. */
    boolean drop(DropReplica bad) {
        int slot = slotOf(bad.key(), bad.tenant());
        if (slot == NONE
                || !space.isReadable(slot)
                || state.versions.number(slot) != bad.version()) {
            return false;
        }
        ObjectExtra extra = objects.extra(slot);
        if (extra != null && extra.replication != null) {
            // Its end finds the sums wrong too, or leaves the others.
            return false;
        }
        boolean inline = objects.replicaId(slot) == bad.replica();
        if (extra == null || extra.replicas.isEmpty()) {
            return inline && dropLast(slot);
        }
        boolean there =
                inline
                        ? objects.has(slot, ObjectTable.COMPLETE)
                        : extra.replicas.stream()
                                .anyMatch(
                                        replica -> replica.complete && replica.id == bad.replica());
        if (there) {
            space.dropReplica(slot, bad.replica(), space.leasedUntil(slot));
        }
        return there;
    }

    /** An object without a right byte is none; one that is being replaced stays until then. */
    private boolean dropLast(int slot) {
        if (objects.has(slot, ObjectTable.IN_FLIGHT)) {
            return false;
        }
        space.eraseUnderLease(slot, Fate.CORRUPT);
        return true;
    }

    private int slotOf(ByteString key, ByteString tenant) {
        int number = state.tenants.find(tenant);
        return number < 0 ? NONE : objects.find(number, key.array());
    }
}
