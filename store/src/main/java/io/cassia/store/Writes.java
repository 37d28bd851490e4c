package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Deadline;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.ReplicaTransfers.Piece;
import io.cassia.transfer.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * The write path: PutStart, one-sided writes to every replica, PutEnd or PutRevoke (spec
 * mooncake-store 1.2). Thread-safe.
 */
final class Writes {
    private final Uuid client;
    private final ByteString tenant;
    private final MasterLink master;
    private final ReplicaTransfers transfers;

    Writes(Uuid client, ByteString tenant, MasterLink master, ReplicaTransfers transfers) {
        this.client = client;
        this.tenant = tenant;
        this.master = master;
        this.transfers = transfers;
    }

    List<Outcome<Done>> put(
            List<ByteString> keys,
            List<MemorySegment> values,
            PutOptions options,
            Deadline deadline) {
        List<Long> lengths = new ArrayList<>(values.size());
        for (MemorySegment value : values) {
            lengths.add(value.byteSize());
        }
        Args.BatchPutStart start =
                new Args.BatchPutStart(client, keys, lengths, options.replicate(), tenant);
        List<Outcome<List<ReplicaDescriptor>>> started =
                master.callBatch(MasterMethods.BATCH_PUT_START, start, keys.size(), deadline);
        List<Outcome<Done>> outcomes = write(keys, values, started, deadline);
        end(keys, started, outcomes, deadline);
        return outcomes;
    }

    /** Writes every allocated replica; the outcome of a key is that of its worst replica. */
    private List<Outcome<Done>> write(
            List<ByteString> keys,
            List<MemorySegment> values,
            List<Outcome<List<ReplicaDescriptor>>> started,
            Deadline deadline) {
        List<Outcome<Done>> outcomes = new ArrayList<>(keys.size());
        List<Piece> pieces = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            switch (started.get(i)) {
                case Outcome.Ok<List<ReplicaDescriptor>>(List<ReplicaDescriptor> replicas) ->
                        outcomes.add(addPieces(i, replicas, values.get(i), pieces));
                case Outcome.Failed<List<ReplicaDescriptor>> failed ->
                        outcomes.add(failed.in("put of " + Keys.show(keys.get(i))));
            }
        }
        List<Outcome<Done>> written = transfers.run(Opcode.WRITE, pieces, deadline);
        for (int i = 0; i < pieces.size(); i++) {
            int item = pieces.get(i).item();
            if (written.get(i) instanceof Outcome.Failed<Done> failed) {
                outcomes.set(item, failed.in("put of " + Keys.show(keys.get(item))));
            }
        }
        return outcomes;
    }

    private static Outcome<Done> addPieces(
            int item, List<ReplicaDescriptor> replicas, MemorySegment value, List<Piece> pieces) {
        int before = pieces.size();
        for (ReplicaDescriptor replica : replicas) {
            if (replica.placement() instanceof Placement.Memory(var buffer)) {
                if (buffer.size() != value.byteSize()) {
                    return Outcome.failed(
                            StoreCode.INVALID_REPLICA,
                            "the master allocated %d bytes for a value of %d"
                                    .formatted(buffer.size(), value.byteSize()));
                }
                pieces.add(new Piece(item, buffer, value));
            }
        }
        return pieces.size() > before
                ? Outcome.done()
                : Outcome.failed(
                        StoreCode.INVALID_REPLICA, "the master allocated no memory replica");
    }

    /** Makes written keys readable and takes the others back. */
    private void end(
            List<ByteString> keys,
            List<Outcome<List<ReplicaDescriptor>>> started,
            List<Outcome<Done>> outcomes,
            Deadline deadline) {
        List<Integer> good = new ArrayList<>(keys.size());
        List<Integer> bad = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            if (started.get(i).isOk()) {
                (outcomes.get(i).isOk() ? good : bad).add(i);
            }
        }
        if (!good.isEmpty()) {
            finish(keys, good, outcomes, deadline);
        }
        if (!bad.isEmpty()) {
            revoke(keys, bad, outcomes, deadline);
        }
    }

    private void finish(
            List<ByteString> keys,
            List<Integer> items,
            List<Outcome<Done>> outcomes,
            Deadline deadline) {
        List<ObjectMeta> metas = new ArrayList<>(items.size());
        for (int item : items) {
            metas.add(new ObjectMeta(keys.get(item), OptionalLong.empty()));
        }
        Args.BatchPutEnd end =
                new Args.BatchPutEnd(client, metas, ReplicaType.ALL.number(), tenant);
        List<Outcome<Done>> ended =
                master.callBatch(MasterMethods.BATCH_PUT_END, end, items.size(), deadline);
        for (int i = 0; i < items.size(); i++) {
            if (ended.get(i) instanceof Outcome.Failed<Done> failed) {
                int item = items.get(i);
                outcomes.set(item, failed.in("end of put of " + Keys.show(keys.get(item))));
            }
        }
    }

    private void revoke(
            List<ByteString> keys,
            List<Integer> items,
            List<Outcome<Done>> outcomes,
            Deadline deadline) {
        List<ByteString> revoked = new ArrayList<>(items.size());
        for (int item : items) {
            revoked.add(keys.get(item));
        }
        Args.BatchPutRevoke revoke =
                new Args.BatchPutRevoke(client, revoked, ReplicaType.ALL.number(), tenant);
        List<Outcome<Done>> answers =
                master.callBatch(MasterMethods.BATCH_PUT_REVOKE, revoke, items.size(), deadline);
        for (int i = 0; i < items.size(); i++) {
            if (answers.get(i) instanceof Outcome.Failed<Done> failed
                    && outcomes.get(items.get(i)) instanceof Outcome.Failed<Done> cause) {
                outcomes.set(
                        items.get(i),
                        Outcome.failed(
                                cause.code(),
                                cause.detail()
                                        + "; taking the put back failed too ("
                                        + failed.code().label()
                                        + "), the key is free again after the discard timeout"));
            }
        }
    }
}
