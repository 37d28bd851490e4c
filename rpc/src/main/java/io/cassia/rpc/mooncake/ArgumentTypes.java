package io.cassia.rpc.mooncake;

import static io.cassia.rpc.mooncake.MessageTypes.I64S;
import static io.cassia.rpc.mooncake.MessageTypes.KEY_LIST;
import static io.cassia.rpc.mooncake.MessageTypes.NOF_SEGMENT;
import static io.cassia.rpc.mooncake.MessageTypes.OBJECT_META;
import static io.cassia.rpc.mooncake.MessageTypes.OBJECT_METAS;
import static io.cassia.rpc.mooncake.MessageTypes.REPLICATE_CONFIG;
import static io.cassia.rpc.mooncake.MessageTypes.SEGMENT;
import static io.cassia.rpc.mooncake.MessageTypes.STORAGE_METADATAS;
import static io.cassia.rpc.mooncake.MessageTypes.STORAGE_TASKS;
import static io.cassia.rpc.mooncake.MessageTypes.STRINGS;
import static io.cassia.rpc.mooncake.MessageTypes.TASK_COMPLETION;
import static io.cassia.rpc.mooncake.MessageTypes.U64S;
import static io.cassia.rpc.mooncake.MessageTypes.UUID;
import static io.cassia.rpc.pack.WireType.BOOL;
import static io.cassia.rpc.pack.WireType.BYTES;
import static io.cassia.rpc.pack.WireType.I32;
import static io.cassia.rpc.pack.WireType.I64;
import static io.cassia.rpc.pack.WireType.STRING;
import static io.cassia.rpc.pack.WireType.U64;
import static io.cassia.rpc.pack.WireType.list;
import static io.cassia.rpc.pack.WireType.struct;

import io.cassia.rpc.pack.WireType;
import java.util.List;

/**
 * How the argument tuples of release mooncake-0.3.12 are packed (spec mooncake-store 11.1, types
 * verified on the wire). Immutable.
 */
final class ArgumentTypes {
    private static final WireType<List<Segment>> SEGMENTS = list(SEGMENT);
    private static final WireType<List<NofSegment>> NOF_SEGMENTS = list(NOF_SEGMENT);

    static final WireType<Args.Key> KEY =
            struct(
                    r -> new Args.Key(r.bytes(), r.bytes()),
                    (w, v) -> {
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                    },
                    BYTES,
                    BYTES);

    static final WireType<Args.Keys> KEYS =
            struct(
                    r -> new Args.Keys(KEY_LIST.read(r), r.bytes()),
                    (w, v) -> {
                        KEY_LIST.write(w, v.keys());
                        w.bytes(v.tenant());
                    },
                    KEY_LIST,
                    BYTES);

    static final WireType<Args.PutStart> PUT_START =
            struct(
                    r ->
                            new Args.PutStart(
                                    UUID.read(r),
                                    r.bytes(),
                                    r.i64(),
                                    REPLICATE_CONFIG.read(r),
                                    r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bytes(v.key());
                        w.i64(v.length());
                        REPLICATE_CONFIG.write(w, v.config());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    BYTES,
                    U64,
                    REPLICATE_CONFIG,
                    BYTES);

    static final WireType<Args.BatchPutStart> BATCH_PUT_START =
            struct(
                    r ->
                            new Args.BatchPutStart(
                                    UUID.read(r),
                                    KEY_LIST.read(r),
                                    U64S.read(r),
                                    REPLICATE_CONFIG.read(r),
                                    r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        KEY_LIST.write(w, v.keys());
                        U64S.write(w, v.lengths());
                        REPLICATE_CONFIG.write(w, v.config());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    KEY_LIST,
                    U64S,
                    REPLICATE_CONFIG,
                    BYTES);

    static final WireType<Args.PutEnd> PUT_END =
            struct(
                    r -> new Args.PutEnd(UUID.read(r), OBJECT_META.read(r), r.i32(), r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        OBJECT_META.write(w, v.object());
                        w.i32(v.replicaType());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    OBJECT_META,
                    I32,
                    BYTES);

    static final WireType<Args.BatchPutEnd> BATCH_PUT_END =
            struct(
                    r ->
                            new Args.BatchPutEnd(
                                    UUID.read(r), OBJECT_METAS.read(r), r.i32(), r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        OBJECT_METAS.write(w, v.objects());
                        w.i32(v.replicaType());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    OBJECT_METAS,
                    I32,
                    BYTES);

    static final WireType<Args.PutRevoke> PUT_REVOKE =
            struct(
                    r -> new Args.PutRevoke(UUID.read(r), r.bytes(), r.i32(), r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bytes(v.key());
                        w.i32(v.replicaType());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    BYTES,
                    I32,
                    BYTES);

    static final WireType<Args.BatchPutRevoke> BATCH_PUT_REVOKE =
            struct(
                    r ->
                            new Args.BatchPutRevoke(
                                    UUID.read(r), KEY_LIST.read(r), r.i32(), r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        KEY_LIST.write(w, v.keys());
                        w.i32(v.replicaType());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    KEY_LIST,
                    I32,
                    BYTES);

    static final WireType<Args.BatchUpsertEnd> BATCH_UPSERT_END =
            struct(
                    r -> new Args.BatchUpsertEnd(UUID.read(r), OBJECT_METAS.read(r), r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        OBJECT_METAS.write(w, v.objects());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    OBJECT_METAS,
                    BYTES);

    static final WireType<Args.BatchUpsertRevoke> BATCH_UPSERT_REVOKE =
            struct(
                    r -> new Args.BatchUpsertRevoke(UUID.read(r), KEY_LIST.read(r), r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        KEY_LIST.write(w, v.keys());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    KEY_LIST,
                    BYTES);

    static final WireType<Args.Remove> REMOVE =
            struct(
                    r -> new Args.Remove(r.bytes(), r.bool(), r.bytes()),
                    (w, v) -> {
                        w.bytes(v.key());
                        w.bool(v.force());
                        w.bytes(v.tenant());
                    },
                    BYTES,
                    BOOL,
                    BYTES);

    static final WireType<Args.RemoveAll> REMOVE_ALL =
            struct(
                    r -> new Args.RemoveAll(r.bool(), r.bytes()),
                    (w, v) -> {
                        w.bool(v.force());
                        w.bytes(v.tenant());
                    },
                    BOOL,
                    BYTES);

    static final WireType<Args.BatchRemove> BATCH_REMOVE =
            struct(
                    r -> new Args.BatchRemove(KEY_LIST.read(r), r.bool(), r.bytes()),
                    (w, v) -> {
                        KEY_LIST.write(w, v.keys());
                        w.bool(v.force());
                        w.bytes(v.tenant());
                    },
                    KEY_LIST,
                    BOOL,
                    BYTES);

    static final WireType<Args.BatchReplicaClear> BATCH_REPLICA_CLEAR =
            struct(
                    r -> new Args.BatchReplicaClear(KEY_LIST.read(r), UUID.read(r), r.string()),
                    (w, v) -> {
                        KEY_LIST.write(w, v.keys());
                        UUID.write(w, v.client());
                        w.string(v.segment());
                    },
                    KEY_LIST,
                    UUID,
                    STRING);

    static final WireType<Args.MountSegment> MOUNT_SEGMENT =
            struct(
                    r -> new Args.MountSegment(SEGMENT.read(r), UUID.read(r)),
                    (w, v) -> {
                        SEGMENT.write(w, v.segment());
                        UUID.write(w, v.client());
                    },
                    SEGMENT,
                    UUID);

    static final WireType<Args.ReMountSegment> REMOUNT_SEGMENT =
            struct(
                    r -> new Args.ReMountSegment(SEGMENTS.read(r), UUID.read(r)),
                    (w, v) -> {
                        SEGMENTS.write(w, v.segments());
                        UUID.write(w, v.client());
                    },
                    SEGMENTS,
                    UUID);

    static final WireType<Args.UnmountSegment> UNMOUNT_SEGMENT =
            struct(
                    r -> new Args.UnmountSegment(UUID.read(r), UUID.read(r)),
                    (w, v) -> {
                        UUID.write(w, v.segment());
                        UUID.write(w, v.client());
                    },
                    UUID,
                    UUID);

    static final WireType<Args.GracefulUnmountSegment> GRACEFUL_UNMOUNT_SEGMENT =
            struct(
                    r -> new Args.GracefulUnmountSegment(UUID.read(r), UUID.read(r), r.i64()),
                    (w, v) -> {
                        UUID.write(w, v.segment());
                        UUID.write(w, v.client());
                        w.i64(v.graceMs());
                    },
                    UUID,
                    UUID,
                    U64);

    static final WireType<Args.MountNofSegment> MOUNT_NOF_SEGMENT =
            struct(
                    r -> new Args.MountNofSegment(NOF_SEGMENT.read(r), UUID.read(r)),
                    (w, v) -> {
                        NOF_SEGMENT.write(w, v.segment());
                        UUID.write(w, v.client());
                    },
                    NOF_SEGMENT,
                    UUID);

    static final WireType<Args.ReMountNofSegment> REMOUNT_NOF_SEGMENT =
            struct(
                    r -> new Args.ReMountNofSegment(NOF_SEGMENTS.read(r), UUID.read(r)),
                    (w, v) -> {
                        NOF_SEGMENTS.write(w, v.segments());
                        UUID.write(w, v.client());
                    },
                    NOF_SEGMENTS,
                    UUID);

    static final WireType<Args.Offloading> OFFLOADING =
            struct(
                    r -> new Args.Offloading(UUID.read(r), r.bool()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bool(v.enableOffloading());
                    },
                    UUID,
                    BOOL);

    static final WireType<Args.SsdCapacity> SSD_CAPACITY =
            struct(
                    r -> new Args.SsdCapacity(UUID.read(r), r.i64()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.i64(v.capacityBytes());
                    },
                    UUID,
                    I64);

    static final WireType<Args.NotifyOffload> NOTIFY_OFFLOAD =
            struct(
                    r ->
                            new Args.NotifyOffload(
                                    UUID.read(r), STORAGE_TASKS.read(r), STORAGE_METADATAS.read(r)),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        STORAGE_TASKS.write(w, v.tasks());
                        STORAGE_METADATAS.write(w, v.metadatas());
                    },
                    UUID,
                    STORAGE_TASKS,
                    STORAGE_METADATAS);

    static final WireType<Args.PromotionAllocStart> PROMOTION_ALLOC_START =
            struct(
                    r ->
                            new Args.PromotionAllocStart(
                                    UUID.read(r), r.bytes(), r.bytes(), r.i64(), STRINGS.read(r)),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                        w.i64(v.size());
                        STRINGS.write(w, v.preferredSegments());
                    },
                    UUID,
                    BYTES,
                    BYTES,
                    U64,
                    STRINGS);

    static final WireType<Args.ClientKey> CLIENT_KEY =
            struct(
                    r -> new Args.ClientKey(UUID.read(r), r.bytes(), r.bytes()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                    },
                    UUID,
                    BYTES,
                    BYTES);

    static final WireType<Args.EvictDiskReplica> EVICT_DISK_REPLICA =
            struct(
                    r -> new Args.EvictDiskReplica(UUID.read(r), r.bytes(), r.bytes(), r.i32()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                        w.i32(v.replicaType());
                    },
                    UUID,
                    BYTES,
                    BYTES,
                    I32);

    static final WireType<Args.BatchEvictDiskReplica> BATCH_EVICT_DISK_REPLICA =
            struct(
                    r ->
                            new Args.BatchEvictDiskReplica(
                                    UUID.read(r), KEY_LIST.read(r), r.bytes(), r.i32()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        KEY_LIST.write(w, v.keys());
                        w.bytes(v.tenant());
                        w.i32(v.replicaType());
                    },
                    UUID,
                    KEY_LIST,
                    BYTES,
                    I32);

    static final WireType<Args.CopyStart> COPY_START =
            struct(
                    r ->
                            new Args.CopyStart(
                                    UUID.read(r),
                                    r.bytes(),
                                    r.bytes(),
                                    r.string(),
                                    STRINGS.read(r)),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                        w.string(v.source());
                        STRINGS.write(w, v.targets());
                    },
                    UUID,
                    BYTES,
                    BYTES,
                    STRING,
                    STRINGS);

    static final WireType<Args.DynamicCopyStart> DYNAMIC_COPY_START =
            struct(
                    r ->
                            new Args.DynamicCopyStart(
                                    UUID.read(r),
                                    r.bytes(),
                                    r.bytes(),
                                    r.string(),
                                    STRINGS.read(r),
                                    UUID.read(r),
                                    r.i64()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                        w.string(v.source());
                        STRINGS.write(w, v.targets());
                        UUID.write(w, v.lease());
                        w.i64(v.epoch());
                    },
                    UUID,
                    BYTES,
                    BYTES,
                    STRING,
                    STRINGS,
                    UUID,
                    U64);

    static final WireType<Args.DynamicCopyEnd> DYNAMIC_COPY_END =
            struct(
                    r ->
                            new Args.DynamicCopyEnd(
                                    UUID.read(r), r.bytes(), r.bytes(), UUID.read(r), r.i64()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                        UUID.write(w, v.lease());
                        w.i64(v.epoch());
                    },
                    UUID,
                    BYTES,
                    BYTES,
                    UUID,
                    U64);

    static final WireType<Args.MoveStart> MOVE_START =
            struct(
                    r ->
                            new Args.MoveStart(
                                    UUID.read(r), r.bytes(), r.bytes(), r.string(), r.string()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                        w.string(v.source());
                        w.string(v.target());
                    },
                    UUID,
                    BYTES,
                    BYTES,
                    STRING,
                    STRING);

    static final WireType<Args.CreateCopyTask> CREATE_COPY_TASK =
            struct(
                    r -> new Args.CreateCopyTask(r.bytes(), r.bytes(), STRINGS.read(r)),
                    (w, v) -> {
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                        STRINGS.write(w, v.targets());
                    },
                    BYTES,
                    BYTES,
                    STRINGS);

    static final WireType<Args.CreateMoveTask> CREATE_MOVE_TASK =
            struct(
                    r -> new Args.CreateMoveTask(r.bytes(), r.bytes(), r.string(), r.string()),
                    (w, v) -> {
                        w.bytes(v.key());
                        w.bytes(v.tenant());
                        w.string(v.source());
                        w.string(v.target());
                    },
                    BYTES,
                    BYTES,
                    STRING,
                    STRING);

    static final WireType<Args.FetchTasks> FETCH_TASKS =
            struct(
                    r -> new Args.FetchTasks(UUID.read(r), r.i64()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.i64(v.batchSize());
                    },
                    UUID,
                    U64);

    static final WireType<Args.MarkTaskToComplete> MARK_TASK_TO_COMPLETE =
            struct(
                    r -> new Args.MarkTaskToComplete(UUID.read(r), TASK_COMPLETION.read(r)),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        TASK_COMPLETION.write(w, v.completion());
                    },
                    UUID,
                    TASK_COMPLETION);

    static final WireType<Args.GetOffloaded> GET_OFFLOADED =
            struct(
                    r -> new Args.GetOffloaded(KEY_LIST.read(r), I64S.read(r)),
                    (w, v) -> {
                        KEY_LIST.write(w, v.storageKeys());
                        I64S.write(w, v.sizes());
                    },
                    KEY_LIST,
                    I64S);

    private ArgumentTypes() {}
}
