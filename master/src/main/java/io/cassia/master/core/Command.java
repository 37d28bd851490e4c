package io.cassia.master.core;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages;
import io.cassia.rpc.cassia.CheckedMessages;
import io.cassia.rpc.cassia.ReservedMessages;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.CopyStartResult;
import io.cassia.rpc.mooncake.MoveStartResult;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.PingResult;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.SegmentStatus;
import io.cassia.rpc.mooncake.TaskInfo;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.util.List;
import java.util.Map;

/**
 * Everything that can be asked of the state machine: data only, so that a list of commands and
 * times can be written down and replayed. Immutable.
 *
 * @param <R> the answer
 */
@SuppressWarnings("UnusedTypeParameter") // says what MasterCore.apply answers
public sealed interface Command<R> {
    record ExistKey(ByteString key, ByteString tenant) implements Command<Outcome<Boolean>> {}

    record BatchExistKey(Args.Keys args) implements Command<List<Outcome<Boolean>>> {}

    record GetReplicaList(ByteString key, ByteString tenant)
            implements Command<Outcome<ReplicaList>> {}

    record BatchGetReplicaList(Args.Keys args) implements Command<List<Outcome<ReplicaList>>> {}

    record PutStart(Args.PutStart args) implements Command<Outcome<List<ReplicaDescriptor>>> {}

    record UpsertStart(Args.PutStart args) implements Command<Outcome<List<ReplicaDescriptor>>> {}

    record BatchPutStart(Args.BatchPutStart args)
            implements Command<List<Outcome<List<ReplicaDescriptor>>>> {}

    record BatchUpsertStart(Args.BatchPutStart args)
            implements Command<List<Outcome<List<ReplicaDescriptor>>>> {}

    /**
     * Of a put or an upsert.
     *
     * @param put id of the first replica that its Start answered; 0 when the client does not say
     */
    record PutEnd(Args.PutEnd args, long put) implements Command<Outcome<Done>> {
        public PutEnd(Args.PutEnd args) {
            this(args, 0);
        }
    }

    /**
     * As {@link PutEnd} for many.
     *
     * @param puts one per object, or empty
     */
    record BatchPutEnd(
            Uuid client,
            List<ObjectMeta> objects,
            int replicaType,
            ByteString tenant,
            List<Long> puts)
            implements Command<List<Outcome<Done>>> {
        public BatchPutEnd(
                Uuid client, List<ObjectMeta> objects, int replicaType, ByteString tenant) {
            this(client, objects, replicaType, tenant, List.of());
        }
    }

    /** Of a put or an upsert. */
    record PutRevoke(Args.PutRevoke args, long put) implements Command<Outcome<Done>> {
        public PutRevoke(Args.PutRevoke args) {
            this(args, 0);
        }
    }

    record BatchPutRevoke(
            Uuid client, List<ByteString> keys, int replicaType, ByteString tenant, List<Long> puts)
            implements Command<List<Outcome<Done>>> {
        public BatchPutRevoke(
                Uuid client, List<ByteString> keys, int replicaType, ByteString tenant) {
            this(client, keys, replicaType, tenant, List.of());
        }
    }

    record Remove(ByteString key, boolean force, ByteString tenant)
            implements Command<Outcome<Done>> {}

    record BatchRemove(Args.BatchRemove args) implements Command<List<Outcome<Done>>> {}

    record BatchReplicaClear(Args.BatchReplicaClear args)
            implements Command<Outcome<List<ByteString>>> {}

    /**
     * One slice of RemoveAll or RemoveByRegex.
     *
     * @param selection which objects
     * @param from where this slice starts
     */
    record RemoveSlice(Selection selection, boolean force, Cursor from)
            implements Command<Outcome<Slice<Long>>> {}

    /** One slice of GetReplicaListByRegex, which leases what it finds. */
    record GetSlice(Selection selection, Cursor from)
            implements Command<Outcome<Slice<Map<ByteString, List<ReplicaDescriptor>>>>> {}

    /** Readable replicas without a lease, for people. */
    record FindReplicas(ByteString key, ByteString tenant)
            implements Command<Outcome<List<ReplicaDescriptor>>> {}

    /** Whether there is an object, readable or not. */
    record IsPresent(ByteString key, ByteString tenant) implements Command<Boolean> {}

    record MountSegment(Args.MountSegment args) implements Command<Outcome<Done>> {}

    record ReMountSegment(Args.ReMountSegment args) implements Command<Outcome<Done>> {}

    record UnmountSegment(Args.UnmountSegment args) implements Command<Outcome<Done>> {}

    record GracefulUnmountSegment(Args.GracefulUnmountSegment args)
            implements Command<Outcome<Done>> {}

    record QuerySegmentStatus(String name) implements Command<Outcome<SegmentStatus>> {}

    record QuerySegmentStatusById(Uuid id) implements Command<Outcome<SegmentStatus>> {}

    /** Host addresses of clients that have segments; others are left out. */
    record BatchQueryIp(List<Uuid> clients) implements Command<Map<Uuid, List<String>>> {}

    record Ping(Uuid client) implements Command<Outcome<PingResult>> {}

    record Acquire(CassiaMessages.Acquire args) implements Command<CassiaMessages.Acquired> {}

    /**
     * How many leading keys are readable.
     *
     * @param leaseId counted lease of the keys before these, which is to cover these too; 0 for the
     *     first ones
     */
    record LongestPrefix(CassiaMessages.LongestPrefix args, long leaseId)
            implements Command<Outcome<CassiaMessages.PrefixHit>> {
        public LongestPrefix(CassiaMessages.LongestPrefix args) {
            this(args, 0);
        }
    }

    /** What became of a key. */
    record Explain(ByteString key, ByteString tenant)
            implements Command<Outcome<CassiaMessages.Explanation>> {}

    record Release(List<Long> leaseIds) implements Command<Done> {}

    record AcquireChecked(CassiaMessages.Acquire args)
            implements Command<CheckedMessages.CheckedAcquired> {}

    /** As {@link BatchPutEnd}. */
    record EndChecked(CheckedMessages.EndChecked args, List<Long> puts)
            implements Command<List<Outcome<Long>>> {
        public EndChecked(CheckedMessages.EndChecked args) {
            this(args, List.of());
        }
    }

    record UpsertStartIf(CheckedMessages.UpsertStartIf args)
            implements Command<Outcome<List<ReplicaDescriptor>>> {}

    record DropReplica(CheckedMessages.DropReplica args) implements Command<Boolean> {}

    /** Reserves space for the next put of a client. */
    record Reserve(Uuid client, ByteString tenant, ReservedMessages.Wanted wanted)
            implements Command<ReservedMessages.Reserved> {}

    /** Of what was written to reserved space; the versions. What it wants is not looked at. */
    record Commit(ReservedMessages.Commit args) implements Command<List<Outcome<Long>>> {}

    record GiveBack(ReservedMessages.GiveBack args) implements Command<Done> {}

    record CopyStart(Args.CopyStart args) implements Command<Outcome<CopyStartResult>> {}

    /**
     * The bytes of a copy are at its targets.
     *
     * @param number id of the first target that its Start answered, or of the source when there was
     *     none; 0 when the client does not say
     */
    record CopyEnd(Args.ClientKey args, long number) implements Command<Outcome<Done>> {
        public CopyEnd(Args.ClientKey args) {
            this(args, 0);
        }
    }

    /**
     * A copy is given up by its client.
     *
     * @param number id of the first target that its Start answered, or of the source when there was
     *     none; 0 when the client does not say
     */
    record CopyRevoke(Args.ClientKey args, long number) implements Command<Outcome<Done>> {
        public CopyRevoke(Args.ClientKey args) {
            this(args, 0);
        }
    }

    record MoveStart(Args.MoveStart args) implements Command<Outcome<MoveStartResult>> {}

    /**
     * The bytes of a move are at its target.
     *
     * @param number id of the first target that its Start answered, or of the source when there was
     *     none; 0 when the client does not say
     */
    record MoveEnd(Args.ClientKey args, long number) implements Command<Outcome<Done>> {
        public MoveEnd(Args.ClientKey args) {
            this(args, 0);
        }
    }

    /**
     * A move is given up by its client.
     *
     * @param number id of the first target that its Start answered, or of the source when there was
     *     none; 0 when the client does not say
     */
    record MoveRevoke(Args.ClientKey args, long number) implements Command<Outcome<Done>> {
        public MoveRevoke(Args.ClientKey args) {
            this(args, 0);
        }
    }

    /**
     * A task for a client; the answer is its id.
     *
     * @param epochMs wall clock of the request
     * @param tellExisting whether it is a failure when all targets have a replica already
     */
    record CreateCopyTask(Args.CreateCopyTask args, long epochMs, boolean tellExisting)
            implements Command<Outcome<Uuid>> {
        public CreateCopyTask(Args.CreateCopyTask args, long epochMs) {
            this(args, epochMs, false);
        }
    }

    record CreateMoveTask(Args.CreateMoveTask args, long epochMs)
            implements Command<Outcome<Uuid>> {}

    record QueryTask(Uuid id) implements Command<Outcome<TaskInfo>> {}

    record FetchTasks(Args.FetchTasks args) implements Command<List<TaskOrder>> {}

    record MarkTaskToComplete(Args.MarkTaskToComplete args) implements Command<Outcome<Done>> {}

    record CreateDrainJob(CassiaMessages.CreateDrainJob args, long epochMs)
            implements Command<Outcome<Uuid>> {}

    record QueryDrainJob(Uuid id) implements Command<Outcome<CassiaMessages.DrainJob>> {}

    record CancelDrainJob(Uuid id) implements Command<Outcome<Done>> {}

    /** Registers a tenant or changes its quota. */
    record SetTenantQuota(ByteString tenant, long requestedBytes)
            implements Command<Outcome<CassiaMessages.TenantQuota>> {}

    /** Whether {@link SetTenantQuota} would do it; changes nothing. */
    record CheckTenantQuota(ByteString tenant, long requestedBytes)
            implements Command<Outcome<Done>> {}

    /** One tenant, or all when the name is empty. */
    record TenantQuotas(ByteString tenant)
            implements Command<Outcome<List<CassiaMessages.TenantQuota>>> {}

    record DeleteTenantQuota(ByteString tenant) implements Command<Outcome<Done>> {}

    /** One client, or all when the id is zero. */
    record Clients(Uuid id) implements Command<Outcome<List<CassiaMessages.ClientInfo>>> {}

    record ListShard(CassiaMessages.ListShard args)
            implements Command<Outcome<CassiaMessages.KeyShard>> {}

    record Stats() implements Command<CassiaMessages.Stats> {}

    /** Time passing: whatever is due happens, in bounded pieces; true when there is more to do. */
    record Tick() implements Command<Boolean> {}
}
