package io.cassia.store;

import io.cassia.base.ByteString;
import io.cassia.base.Deadline;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.BufferDescriptor;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaStatus;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.MasterLink.Leased;
import io.cassia.store.Transfers.Piece;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.TransferEngine;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Makes further replicas of objects, and moves replicas. Thread-safe.
 *
 * <p>What is copied is proved first: wrong bytes are never spread. A replica that has them leaves
 * service, and the copy is made from another one if there is one; otherwise it fails with
 * CHECKSUM_MISMATCH. Objects without checksums are copied as they are.
 *
 * <pre>
 *   start ─► sums ─► prove ─► write ─► end
 *                      └─► revoke ─► drop the replica ─► start from another one
 * </pre>
 */
final class ReplicaCopies {
    private static final System.Logger LOG = System.getLogger(ReplicaCopies.class.getName());

    /** What a replica elsewhere passes through; whole chunks. */
    private static final long WINDOW_BYTES = 4L << 20;

    private final Uuid client;
    private final TransferEngine engine;
    private final Mounts mounts;
    private final Transfers transfers;
    private final MasterLink master;

    ReplicaCopies(
            Uuid client,
            TransferEngine engine,
            Mounts mounts,
            Transfers transfers,
            MasterLink master) {
        this.client = client;
        this.engine = engine;
        this.mounts = mounts;
        this.transfers = transfers;
        this.master = master;
    }

    /** A key with its tenant. Immutable. */
    record Subject(ByteString key, ByteString tenant) {
        Args.ClientKey by(Uuid client) {
            return new Args.ClientKey(client, key, tenant);
        }
    }

    /** What was under way, and how it ends. */
    private record Ways(
            RpcMethod<Args.ClientKey, Outcome<Done>> end,
            RpcMethod<Args.ClientKey, Outcome<Done>> revoke) {
        static final Ways COPY = new Ways(MasterMethods.COPY_END, MasterMethods.COPY_REVOKE);
        static final Ways MOVE = new Ways(MasterMethods.MOVE_END, MasterMethods.MOVE_REVOKE);
    }

    /**
     * Replicas in further segments, from the one in this node's memory. The master's own codes;
     * REPLICA_NOT_IN_LOCAL_MEMORY, CHECKSUM_MISMATCH, and those of the transfer.
     */
    Outcome<Done> copy(Subject subject, String source, List<String> targets, Deadline deadline) {
        Outcome<Done> copied = copyFrom(subject, source, targets, deadline, this::own);
        return isCorrupt(copied) ? elsewhere(subject, source, targets, copied, deadline) : copied;
    }

    /** The replica of this node's memory goes to another segment; the codes are those of a copy. */
    Outcome<Done> move(Subject subject, String source, String target, Deadline deadline) {
        Args.MoveStart start =
                new Args.MoveStart(client, subject.key, subject.tenant, source, target);
        Outcome<Done> moved =
                master.start(MasterMethods.MOVE_START, start, deadline)
                        .then(
                                move ->
                                        run(
                                                subject,
                                                move.answer().source(),
                                                move.answer()
                                                        .target()
                                                        .map(List::of)
                                                        .orElse(List.of()),
                                                Ways.MOVE,
                                                deadline,
                                                move.term(),
                                                this::own));
        return isCorrupt(moved)
                ? elsewhere(subject, source, List.of(target), moved, deadline)
                : moved;
    }

    private static boolean isCorrupt(Outcome<Done> outcome) {
        return outcome instanceof Outcome.Failed<Done> failed
                && failed.code() == StoreCode.CHECKSUM_MISMATCH;
    }

    private Outcome<Done> copyFrom(
            Subject subject,
            String source,
            List<String> targets,
            Deadline deadline,
            Carrier carrier) {
        Args.CopyStart start =
                new Args.CopyStart(client, subject.key, subject.tenant, source, targets);
        return master.start(MasterMethods.COPY_START, start, deadline)
                .then(
                        copy ->
                                run(
                                        subject,
                                        copy.answer().source(),
                                        copy.answer().targets(),
                                        Ways.COPY,
                                        deadline,
                                        copy.term(),
                                        carrier));
    }

    /** From replicas in other nodes, one after the other; the first failure when none will do. */
    private Outcome<Done> elsewhere(
            Subject subject,
            String bad,
            List<String> targets,
            Outcome<Done> first,
            Deadline deadline) {
        if (!(find(subject, deadline) instanceof Outcome.Ok<Found>(Found found))) {
            return first;
        }
        for (ReplicaDescriptor replica : found.replicas()) {
            if (replica.status() == ReplicaStatus.COMPLETE.number()
                    && replica.placement() instanceof Placement.Memory(BufferDescriptor buffer)
                    && !buffer.transportEndpoint().equals(bad)
                    && copyFrom(
                                    subject,
                                    buffer.transportEndpoint(),
                                    targets,
                                    deadline,
                                    this::fetched)
                            .isOk()) {
                return Outcome.done();
            }
        }
        return first;
    }

    /** Brings the proved bytes of a source to the targets. */
    private interface Carrier {
        Outcome<Done> carry(
                Found found,
                BufferDescriptor source,
                List<BufferDescriptor> targets,
                Deadline deadline);
    }

    private Outcome<Done> run(
            Subject subject,
            ReplicaDescriptor source,
            List<ReplicaDescriptor> targets,
            Ways ways,
            Deadline deadline,
            Deadline term,
            Carrier carrier) {
        // While it is being copied an object is not replaced: these are the sums of the source.
        Outcome<Found> found = find(subject, deadline);
        Outcome<Done> written =
                found.then(
                        object -> carry(object, source, targets, deadline.earlier(term), carrier));
        // What the master knows this copy by, also when words of an earlier one are still about.
        long number = targets.isEmpty() ? source.id() : targets.getFirst().id();
        if (written.isOk()) {
            return master.call(ways.end, subject.by(client), number, deadline);
        }
        Outcome<Done> revoked = master.call(ways.revoke, subject.by(client), number, deadline);
        if (revoked instanceof Outcome.Failed<Done>(Code code, String detail)) {
            LOG.log(
                    Level.WARNING,
                    "copy not taken back key={0} code={1} detail={2}",
                    Keys.show(subject.key),
                    code.label(),
                    detail);
        }
        if (written instanceof Outcome.Failed<Done> failed
                && failed.code() == StoreCode.CHECKSUM_MISMATCH) {
            drop(subject, found.orThrow(), source, failed.detail(), deadline);
        }
        return written;
    }

    private Outcome<Found> find(Subject subject, Deadline deadline) {
        return master.acquire(List.of(subject.key), subject.tenant, false, deadline)
                .then(
                        (Leased leased) -> {
                            master.release(leased, deadline);
                            return leased.objects().getFirst();
                        });
    }

    /** A replica with wrong bytes leaves service. */
    private void drop(
            Subject subject,
            Found found,
            ReplicaDescriptor replica,
            String wrong,
            Deadline deadline) {
        LOG.log(
                Level.WARNING,
                "replica corrupt key={0} endpoint={1} detail=\"{2}\"",
                Keys.show(subject.key),
                ReadItem.buffer(replica).transportEndpoint(),
                wrong);
        if (found.version() != 0) {
            master.drop(subject.key, subject.tenant, found, replica, deadline);
        }
    }

    private static Outcome<Done> carry(
            Found found,
            ReplicaDescriptor source,
            List<ReplicaDescriptor> targets,
            Deadline deadline,
            Carrier carrier) {
        if (!(source.placement() instanceof Placement.Memory(BufferDescriptor from))) {
            return Outcome.failed(StoreCode.INVALID_PARAMS, "the source is not in memory");
        }
        List<BufferDescriptor> into = new ArrayList<>(targets.size());
        for (ReplicaDescriptor target : targets) {
            if (target.placement() instanceof Placement.Memory(BufferDescriptor to)) {
                into.add(to);
            }
        }
        return into.isEmpty() ? Outcome.done() : carrier.carry(found, from, into, deadline);
    }

    /** Out of this node's own memory, and no other's; by the engine where it is lent. */
    private Outcome<Done> own(
            Found found,
            BufferDescriptor source,
            List<BufferDescriptor> targets,
            Deadline deadline) {
        boolean own = source.transportEndpoint().equals(engine.localName());
        if (own && mounts.isLent(source.address(), source.size())) {
            return fetched(found, source, targets, deadline);
        }
        Optional<MemorySegment> memory =
                own ? mounts.memory(source.address(), source.size()) : Optional.empty();
        if (memory.isEmpty()) {
            return Outcome.failed(
                    StoreCode.REPLICA_NOT_IN_LOCAL_MEMORY,
                    "the source is at %s, this node is %s"
                            .formatted(source.transportEndpoint(), engine.localName()));
        }
        return prove(found, source, 0, memory.get())
                .then(_ -> write(targets, 0, memory.get(), deadline));
    }

    /** By the engine, a window at a time. */
    private Outcome<Done> fetched(
            Found found,
            BufferDescriptor source,
            List<BufferDescriptor> targets,
            Deadline deadline) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment window = arena.allocate(Math.min(WINDOW_BYTES, source.size()), 64);
            for (long at = 0; at < source.size(); at += WINDOW_BYTES) {
                long from = at;
                MemorySegment part =
                        window.asSlice(0, Math.min(window.byteSize(), source.size() - at));
                Piece piece = new Piece(0, source, at, part);
                Outcome<Done> carried =
                        transfers
                                .run(Opcode.READ, List.of(piece), deadline)
                                .getFirst()
                                .then(_ -> prove(found, source, from, part))
                                .then(_ -> write(targets, from, part, deadline));
                if (!carried.isOk()) {
                    return carried;
                }
            }
            return Outcome.done();
        }
    }

    /**
     * @param fromBytes where the bytes are in the object; a multiple of the size of a chunk
     */
    private static Outcome<Done> prove(
            Found found, BufferDescriptor source, long fromBytes, MemorySegment bytes) {
        if (found.isChecked()) {
            long chunk = Checksums.firstWrong(found.sums(), fromBytes, List.of(bytes));
            if (chunk >= 0) {
                return wrong(
                        source,
                        "the 64 KiB at %d are not what was put"
                                .formatted(chunk * Checksums.CHUNK_BYTES));
            }
        } else if (found.crc64().isPresent() && bytes.byteSize() == found.sizeBytes()) {
            long sum = Crc64.of(List.of(bytes));
            if (sum != found.crc64().getAsLong()) {
                return wrong(
                        source,
                        "the CRC-64 is 0x%016x, not 0x%016x"
                                .formatted(sum, found.crc64().getAsLong()));
            }
        }
        return Outcome.done();
    }

    private static Outcome<Done> wrong(BufferDescriptor source, String what) {
        return Outcome.failed(
                StoreCode.CHECKSUM_MISMATCH,
                "replica at %s: %s; it was not copied".formatted(source.transportEndpoint(), what));
    }

    private Outcome<Done> write(
            List<BufferDescriptor> targets,
            long fromBytes,
            MemorySegment bytes,
            Deadline deadline) {
        List<Piece> pieces = new ArrayList<>(targets.size());
        for (BufferDescriptor target : targets) {
            pieces.add(new Piece(0, target, fromBytes, bytes));
        }
        for (Outcome<Done> moved : transfers.write(pieces, deadline).outcomes()) {
            if (!moved.isOk()) {
                return moved;
            }
        }
        return Outcome.done();
    }
}
