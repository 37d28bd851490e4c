package io.cassia.rpc.mooncake;

import io.cassia.base.ByteString;
import java.util.List;

/**
 * Argument tuples of the master methods, in the order of the wire. Enum members are wire numbers,
 * so that an unknown one survives decoding.
 */
public final class Args {
    private Args() {}

    /** ExistKey, GetReplicaList; the regex of GetReplicaListByRegex. */
    public record Key(ByteString key, ByteString tenant) {}

    /** BatchExistKey, BatchGetReplicaList. */
    public record Keys(List<ByteString> keys, ByteString tenant) {}

    /** PutStart, UpsertStart. */
    public record PutStart(
            Uuid client, ByteString key, long length, ReplicateConfig config, ByteString tenant) {}

    /** BatchPutStart, BatchUpsertStart. */
    public record BatchPutStart(
            Uuid client,
            List<ByteString> keys,
            List<Long> lengths,
            ReplicateConfig config,
            ByteString tenant) {}

    /** PutEnd, UpsertEnd. */
    public record PutEnd(Uuid client, ObjectMeta object, int replicaType, ByteString tenant) {}

    /** BatchPutEnd. */
    public record BatchPutEnd(
            Uuid client, List<ObjectMeta> objects, int replicaType, ByteString tenant) {}

    /** PutRevoke, UpsertRevoke, EvictDiskReplica has its own order. */
    public record PutRevoke(Uuid client, ByteString key, int replicaType, ByteString tenant) {}

    /** BatchPutRevoke. */
    public record BatchPutRevoke(
            Uuid client, List<ByteString> keys, int replicaType, ByteString tenant) {}

    /** BatchUpsertEnd. */
    public record BatchUpsertEnd(Uuid client, List<ObjectMeta> objects, ByteString tenant) {}

    /** BatchUpsertRevoke. */
    public record BatchUpsertRevoke(Uuid client, List<ByteString> keys, ByteString tenant) {}

    /** Remove; the regex of RemoveByRegex. */
    public record Remove(ByteString key, boolean force, ByteString tenant) {}

    /** RemoveAll; an empty tenant means all tenants. */
    public record RemoveAll(boolean force, ByteString tenant) {}

    /** BatchRemove. */
    public record BatchRemove(List<ByteString> keys, boolean force, ByteString tenant) {}

    /** BatchReplicaClear. */
    public record BatchReplicaClear(List<ByteString> keys, Uuid client, String segment) {}

    /** MountSegment. */
    public record MountSegment(Segment segment, Uuid client) {}

    /** ReMountSegment. */
    public record ReMountSegment(List<Segment> segments, Uuid client) {}

    /** UnmountSegment, UnmountNoFSegment. */
    public record UnmountSegment(Uuid segment, Uuid client) {}

    /** GracefulUnmountSegment. */
    public record GracefulUnmountSegment(Uuid segment, Uuid client, long graceMs) {}

    /** MountNoFSegment. */
    public record MountNofSegment(NofSegment segment, Uuid client) {}

    /** ReMountNoFSegment. */
    public record ReMountNofSegment(List<NofSegment> segments, Uuid client) {}

    /** MountLocalDiskSegment, OffloadObjectHeartbeat. */
    public record Offloading(Uuid client, boolean enableOffloading) {}

    /** ReportSsdCapacity. */
    public record SsdCapacity(Uuid client, long capacityBytes) {}

    /** NotifyOffloadSuccess. */
    public record NotifyOffload(
            Uuid client, List<StorageTask> tasks, List<StorageObjectMetadata> metadatas) {}

    /** PromotionAllocStart. */
    public record PromotionAllocStart(
            Uuid client,
            ByteString key,
            ByteString tenant,
            long size,
            List<String> preferredSegments) {}

    /** NotifyPromotionSuccess/Failure, CopyEnd/Revoke, MoveEnd/Revoke. */
    public record ClientKey(Uuid client, ByteString key, ByteString tenant) {}

    /** EvictDiskReplica. */
    public record EvictDiskReplica(
            Uuid client, ByteString key, ByteString tenant, int replicaType) {}

    /** BatchEvictDiskReplica. */
    public record BatchEvictDiskReplica(
            Uuid client, List<ByteString> keys, ByteString tenant, int replicaType) {}

    /** CopyStart. */
    public record CopyStart(
            Uuid client, ByteString key, ByteString tenant, String source, List<String> targets) {}

    /** DynamicReplicaCopyStart. */
    public record DynamicCopyStart(
            Uuid client,
            ByteString key,
            ByteString tenant,
            String source,
            List<String> targets,
            Uuid lease,
            long epoch) {}

    /** DynamicReplicaCopyEnd/Revoke. */
    public record DynamicCopyEnd(
            Uuid client, ByteString key, ByteString tenant, Uuid lease, long epoch) {}

    /** MoveStart. */
    public record MoveStart(
            Uuid client, ByteString key, ByteString tenant, String source, String target) {}

    /** CreateCopyTask. */
    public record CreateCopyTask(ByteString key, ByteString tenant, List<String> targets) {}

    /** CreateMoveTask. */
    public record CreateMoveTask(ByteString key, ByteString tenant, String source, String target) {}

    /** FetchTasks. */
    public record FetchTasks(Uuid client, long batchSize) {}

    /** MarkTaskToComplete. */
    public record MarkTaskToComplete(Uuid client, TaskCompletion completion) {}

    /** RealClient::batch_get_offload_object: storage key = tenant + NUL + key. */
    public record GetOffloaded(List<ByteString> storageKeys, List<Long> sizes) {}
}
