package io.cassia.rpc.mooncake;

import static io.cassia.rpc.pack.WireType.BOOL;
import static io.cassia.rpc.pack.WireType.BYTES;
import static io.cassia.rpc.pack.WireType.I32;
import static io.cassia.rpc.pack.WireType.I64;
import static io.cassia.rpc.pack.WireType.MONOSTATE;
import static io.cassia.rpc.pack.WireType.NO_ARGUMENTS;
import static io.cassia.rpc.pack.WireType.STRING;
import static io.cassia.rpc.pack.WireType.U64;
import static io.cassia.rpc.pack.WireType.expected;
import static io.cassia.rpc.pack.WireType.list;
import static io.cassia.rpc.pack.WireType.map;

import io.cassia.base.ByteString;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.pack.WireType;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The methods of release mooncake-0.3.12 (spec mooncake-store 11.1): 64 of the master and 2 of a
 * client that serves its SSD. Immutable. A method without arguments takes {@link Done}.
 */
public final class MasterMethods {
    /** Replicas of one object, as Cassia's own messages carry them too. */
    public static final WireType<List<ReplicaDescriptor>> REPLICA_DESCRIPTORS =
            MessageTypes.REPLICAS;

    /** How an object is stored, as Cassia's own messages carry it too. */
    public static final WireType<ReplicateConfig> REPLICATE_CONFIG = MessageTypes.REPLICATE_CONFIG;

    private static final List<RpcMethod<?, ?>> DECLARED = new ArrayList<>();

    private static final WireType<Outcome<Done>> DONE = expected(MONOSTATE);
    private static final WireType<List<Outcome<Done>>> EACH_DONE = list(DONE);
    private static final WireType<Outcome<List<ReplicaDescriptor>>> REPLICAS =
            expected(MessageTypes.REPLICAS);
    private static final WireType<Outcome<List<StorageTask>>> STORAGE_TASKS =
            expected(MessageTypes.STORAGE_TASKS);
    private static final WireType<Outcome<CopyStartResult>> COPY_START_RESULT =
            expected(MessageTypes.COPY_START_RESULT);

    // Service and clients

    public static final RpcMethod<Done, Outcome<String>> SERVICE_READY =
            master("ServiceReady", NO_ARGUMENTS, expected(STRING));
    public static final RpcMethod<Uuid, Outcome<PingResult>> PING =
            master("Ping", MessageTypes.UUID, expected(MessageTypes.PING_RESULT));
    public static final RpcMethod<Done, Outcome<String>> GET_FSDIR =
            master("GetFsdir", NO_ARGUMENTS, expected(STRING));
    public static final RpcMethod<Done, Outcome<StorageConfig>> GET_STORAGE_CONFIG =
            master("GetStorageConfig", NO_ARGUMENTS, expected(MessageTypes.STORAGE_CONFIG));
    public static final RpcMethod<List<Uuid>, Outcome<Map<Uuid, List<String>>>> BATCH_QUERY_IP =
            master(
                    "BatchQueryIp",
                    list(MessageTypes.UUID),
                    expected(map(MessageTypes.UUID, MessageTypes.STRINGS)));

    // Reading

    public static final RpcMethod<Args.Key, Outcome<Boolean>> EXIST_KEY =
            master("ExistKey", ArgumentTypes.KEY, expected(BOOL));
    public static final RpcMethod<Args.Keys, List<Outcome<Boolean>>> BATCH_EXIST_KEY =
            master("BatchExistKey", ArgumentTypes.KEYS, list(expected(BOOL)));
    public static final RpcMethod<Args.Key, Outcome<ReplicaList>> GET_REPLICA_LIST =
            master("GetReplicaList", ArgumentTypes.KEY, expected(MessageTypes.REPLICA_LIST));
    public static final RpcMethod<Args.Keys, List<Outcome<ReplicaList>>> BATCH_GET_REPLICA_LIST =
            master(
                    "BatchGetReplicaList",
                    ArgumentTypes.KEYS,
                    list(expected(MessageTypes.REPLICA_LIST)));
    public static final RpcMethod<Args.Key, Outcome<Map<ByteString, List<ReplicaDescriptor>>>>
            GET_REPLICA_LIST_BY_REGEX =
                    master(
                            "GetReplicaListByRegex",
                            ArgumentTypes.KEY,
                            expected(map(BYTES, MessageTypes.REPLICAS)));

    // Writing

    public static final RpcMethod<Args.PutStart, Outcome<List<ReplicaDescriptor>>> PUT_START =
            master("PutStart", ArgumentTypes.PUT_START, REPLICAS);
    public static final RpcMethod<Args.PutStart, Outcome<List<ReplicaDescriptor>>> UPSERT_START =
            master("UpsertStart", ArgumentTypes.PUT_START, REPLICAS);
    public static final RpcMethod<Args.PutEnd, Outcome<Done>> PUT_END =
            master("PutEnd", ArgumentTypes.PUT_END, DONE);
    public static final RpcMethod<Args.PutEnd, Outcome<Done>> UPSERT_END =
            master("UpsertEnd", ArgumentTypes.PUT_END, DONE);
    public static final RpcMethod<Args.PutRevoke, Outcome<Done>> PUT_REVOKE =
            master("PutRevoke", ArgumentTypes.PUT_REVOKE, DONE);
    public static final RpcMethod<Args.PutRevoke, Outcome<Done>> UPSERT_REVOKE =
            master("UpsertRevoke", ArgumentTypes.PUT_REVOKE, DONE);
    public static final RpcMethod<Args.BatchPutStart, List<Outcome<List<ReplicaDescriptor>>>>
            BATCH_PUT_START =
                    master("BatchPutStart", ArgumentTypes.BATCH_PUT_START, list(REPLICAS));
    public static final RpcMethod<Args.BatchPutStart, List<Outcome<List<ReplicaDescriptor>>>>
            BATCH_UPSERT_START =
                    master("BatchUpsertStart", ArgumentTypes.BATCH_PUT_START, list(REPLICAS));
    public static final RpcMethod<Args.BatchPutEnd, List<Outcome<Done>>> BATCH_PUT_END =
            master("BatchPutEnd", ArgumentTypes.BATCH_PUT_END, EACH_DONE);
    public static final RpcMethod<Args.BatchPutRevoke, List<Outcome<Done>>> BATCH_PUT_REVOKE =
            master("BatchPutRevoke", ArgumentTypes.BATCH_PUT_REVOKE, EACH_DONE);
    public static final RpcMethod<Args.BatchUpsertEnd, List<Outcome<Done>>> BATCH_UPSERT_END =
            master("BatchUpsertEnd", ArgumentTypes.BATCH_UPSERT_END, EACH_DONE);
    public static final RpcMethod<Args.BatchUpsertRevoke, List<Outcome<Done>>> BATCH_UPSERT_REVOKE =
            master("BatchUpsertRevoke", ArgumentTypes.BATCH_UPSERT_REVOKE, EACH_DONE);

    // Removing

    public static final RpcMethod<Args.Remove, Outcome<Done>> REMOVE =
            master("Remove", ArgumentTypes.REMOVE, DONE);
    public static final RpcMethod<Args.Remove, Outcome<Long>> REMOVE_BY_REGEX =
            master("RemoveByRegex", ArgumentTypes.REMOVE, expected(I64));

    /** Answers a bare number, not an expected. */
    public static final RpcMethod<Args.RemoveAll, Long> REMOVE_ALL =
            master("RemoveAll", ArgumentTypes.REMOVE_ALL, I64);

    public static final RpcMethod<Args.BatchRemove, List<Outcome<Done>>> BATCH_REMOVE =
            master("BatchRemove", ArgumentTypes.BATCH_REMOVE, EACH_DONE);
    public static final RpcMethod<Args.BatchReplicaClear, Outcome<List<String>>>
            BATCH_REPLICA_CLEAR =
                    master(
                            "BatchReplicaClear",
                            ArgumentTypes.BATCH_REPLICA_CLEAR,
                            expected(MessageTypes.STRINGS));

    // Segments

    public static final RpcMethod<Args.MountSegment, Outcome<Done>> MOUNT_SEGMENT =
            master("MountSegment", ArgumentTypes.MOUNT_SEGMENT, DONE);
    public static final RpcMethod<Args.ReMountSegment, Outcome<Done>> REMOUNT_SEGMENT =
            master("ReMountSegment", ArgumentTypes.REMOUNT_SEGMENT, DONE);
    public static final RpcMethod<Args.UnmountSegment, Outcome<Done>> UNMOUNT_SEGMENT =
            master("UnmountSegment", ArgumentTypes.UNMOUNT_SEGMENT, DONE);
    public static final RpcMethod<Args.GracefulUnmountSegment, Outcome<Done>>
            GRACEFUL_UNMOUNT_SEGMENT =
                    master("GracefulUnmountSegment", ArgumentTypes.GRACEFUL_UNMOUNT_SEGMENT, DONE);

    /** Takes a segment name; answers the number of a {@link SegmentStatus}. */
    public static final RpcMethod<String, Outcome<Integer>> QUERY_SEGMENT_STATUS =
            master("QuerySegmentStatus", STRING, expected(I32));

    /** Answers the number of a {@link SegmentStatus}. */
    public static final RpcMethod<Uuid, Outcome<Integer>> QUERY_SEGMENT_STATUS_BY_ID =
            master("QuerySegmentStatusById", MessageTypes.UUID, expected(I32));

    public static final RpcMethod<Args.MountNofSegment, Outcome<Done>> MOUNT_NOF_SEGMENT =
            master("MountNoFSegment", ArgumentTypes.MOUNT_NOF_SEGMENT, DONE);
    public static final RpcMethod<Args.ReMountNofSegment, Outcome<Done>> REMOUNT_NOF_SEGMENT =
            master("ReMountNoFSegment", ArgumentTypes.REMOUNT_NOF_SEGMENT, DONE);
    public static final RpcMethod<Args.UnmountSegment, Outcome<Done>> UNMOUNT_NOF_SEGMENT =
            master("UnmountNoFSegment", ArgumentTypes.UNMOUNT_SEGMENT, DONE);
    public static final RpcMethod<Done, Outcome<List<NofSegment>>> GET_ALL_NOF_SEGMENTS =
            master("GetAllNoFSegments", NO_ARGUMENTS, expected(list(MessageTypes.NOF_SEGMENT)));
    public static final RpcMethod<String, Outcome<List<NofSegmentOwner>>> GET_NOF_SEGMENTS_BY_NAME =
            master("GetNoFSegmentsByName", STRING, expected(list(MessageTypes.NOF_SEGMENT_OWNER)));

    // SSD tier

    public static final RpcMethod<Args.Offloading, Outcome<Done>> MOUNT_LOCAL_DISK_SEGMENT =
            master("MountLocalDiskSegment", ArgumentTypes.OFFLOADING, DONE);
    public static final RpcMethod<Uuid, Outcome<Done>> UNMOUNT_LOCAL_DISK_SEGMENT =
            master("UnmountLocalDiskSegment", MessageTypes.UUID, DONE);
    public static final RpcMethod<Args.Offloading, Outcome<List<StorageTask>>>
            OFFLOAD_OBJECT_HEARTBEAT =
                    master("OffloadObjectHeartbeat", ArgumentTypes.OFFLOADING, STORAGE_TASKS);
    public static final RpcMethod<Uuid, Outcome<Boolean>> POLL_REMOVE_ALL =
            master("PollRemoveAll", MessageTypes.UUID, expected(BOOL));
    public static final RpcMethod<Args.SsdCapacity, Outcome<Done>> REPORT_SSD_CAPACITY =
            master("ReportSsdCapacity", ArgumentTypes.SSD_CAPACITY, DONE);
    public static final RpcMethod<Args.NotifyOffload, Outcome<Done>> NOTIFY_OFFLOAD_SUCCESS =
            master("NotifyOffloadSuccess", ArgumentTypes.NOTIFY_OFFLOAD, DONE);
    public static final RpcMethod<Uuid, Outcome<List<StorageTask>>> PROMOTION_OBJECT_HEARTBEAT =
            master("PromotionObjectHeartbeat", MessageTypes.UUID, STORAGE_TASKS);
    public static final RpcMethod<Args.PromotionAllocStart, Outcome<ReplicaDescriptor>>
            PROMOTION_ALLOC_START =
                    master(
                            "PromotionAllocStart",
                            ArgumentTypes.PROMOTION_ALLOC_START,
                            expected(MessageTypes.PROMOTION_TARGET));
    public static final RpcMethod<Args.ClientKey, Outcome<Done>> NOTIFY_PROMOTION_SUCCESS =
            master("NotifyPromotionSuccess", ArgumentTypes.CLIENT_KEY, DONE);
    public static final RpcMethod<Args.ClientKey, Outcome<Done>> NOTIFY_PROMOTION_FAILURE =
            master("NotifyPromotionFailure", ArgumentTypes.CLIENT_KEY, DONE);
    public static final RpcMethod<Args.EvictDiskReplica, Outcome<Done>> EVICT_DISK_REPLICA =
            master("EvictDiskReplica", ArgumentTypes.EVICT_DISK_REPLICA, DONE);
    public static final RpcMethod<Args.BatchEvictDiskReplica, List<Outcome<Done>>>
            BATCH_EVICT_DISK_REPLICA =
                    master(
                            "BatchEvictDiskReplica",
                            ArgumentTypes.BATCH_EVICT_DISK_REPLICA,
                            EACH_DONE);

    // Copies, moves and tasks

    public static final RpcMethod<Args.CopyStart, Outcome<CopyStartResult>> COPY_START =
            master("CopyStart", ArgumentTypes.COPY_START, COPY_START_RESULT);
    public static final RpcMethod<Args.ClientKey, Outcome<Done>> COPY_END =
            master("CopyEnd", ArgumentTypes.CLIENT_KEY, DONE);
    public static final RpcMethod<Args.ClientKey, Outcome<Done>> COPY_REVOKE =
            master("CopyRevoke", ArgumentTypes.CLIENT_KEY, DONE);
    public static final RpcMethod<Args.DynamicCopyStart, Outcome<CopyStartResult>>
            DYNAMIC_REPLICA_COPY_START =
                    master(
                            "DynamicReplicaCopyStart",
                            ArgumentTypes.DYNAMIC_COPY_START,
                            COPY_START_RESULT);
    public static final RpcMethod<Args.DynamicCopyEnd, Outcome<Done>> DYNAMIC_REPLICA_COPY_END =
            master("DynamicReplicaCopyEnd", ArgumentTypes.DYNAMIC_COPY_END, DONE);
    public static final RpcMethod<Args.DynamicCopyEnd, Outcome<Done>> DYNAMIC_REPLICA_COPY_REVOKE =
            master("DynamicReplicaCopyRevoke", ArgumentTypes.DYNAMIC_COPY_END, DONE);
    public static final RpcMethod<Args.MoveStart, Outcome<MoveStartResult>> MOVE_START =
            master("MoveStart", ArgumentTypes.MOVE_START, expected(MessageTypes.MOVE_START_RESULT));
    public static final RpcMethod<Args.ClientKey, Outcome<Done>> MOVE_END =
            master("MoveEnd", ArgumentTypes.CLIENT_KEY, DONE);
    public static final RpcMethod<Args.ClientKey, Outcome<Done>> MOVE_REVOKE =
            master("MoveRevoke", ArgumentTypes.CLIENT_KEY, DONE);
    public static final RpcMethod<Args.CreateCopyTask, Outcome<Uuid>> CREATE_COPY_TASK =
            master("CreateCopyTask", ArgumentTypes.CREATE_COPY_TASK, expected(MessageTypes.UUID));
    public static final RpcMethod<Args.CreateMoveTask, Outcome<Uuid>> CREATE_MOVE_TASK =
            master("CreateMoveTask", ArgumentTypes.CREATE_MOVE_TASK, expected(MessageTypes.UUID));
    public static final RpcMethod<Uuid, Outcome<TaskInfo>> QUERY_TASK =
            master("QueryTask", MessageTypes.UUID, expected(MessageTypes.TASK_INFO));
    public static final RpcMethod<Args.FetchTasks, Outcome<List<TaskAssignment>>> FETCH_TASKS =
            master(
                    "FetchTasks",
                    ArgumentTypes.FETCH_TASKS,
                    expected(list(MessageTypes.TASK_ASSIGNMENT)));
    public static final RpcMethod<Args.MarkTaskToComplete, Outcome<Done>> MARK_TASK_TO_COMPLETE =
            master("MarkTaskToComplete", ArgumentTypes.MARK_TASK_TO_COMPLETE, DONE);

    // Methods of a client that serves its SSD to peers

    public static final RpcMethod<Args.GetOffloaded, Outcome<OffloadedBatch>>
            BATCH_GET_OFFLOAD_OBJECT =
                    peer(
                            "batch_get_offload_object",
                            ArgumentTypes.GET_OFFLOADED,
                            expected(MessageTypes.OFFLOADED_BATCH));

    /** Takes a batch id; answers a bare bool, not an expected. */
    public static final RpcMethod<Long, Boolean> RELEASE_OFFLOAD_BUFFER =
            peer("release_offload_buffer", U64, BOOL);

    /** All of the above in the order of declaration. */
    public static final List<RpcMethod<?, ?>> ALL = List.copyOf(DECLARED);

    /** This table as a release of upstream. */
    public static final Release RELEASE = new Release("mooncake-0.3.12", "2.0.0", ALL);

    private MasterMethods() {}

    private static <A, R> RpcMethod<A, R> master(
            String name, WireType<A> arguments, WireType<R> result) {
        return declare(RpcMethod.of("mooncake::WrappedMasterService::" + name, arguments, result));
    }

    private static <A, R> RpcMethod<A, R> peer(
            String name, WireType<A> arguments, WireType<R> result) {
        return declare(RpcMethod.of("mooncake::RealClient::" + name, arguments, result));
    }

    private static <A, R> RpcMethod<A, R> declare(RpcMethod<A, R> method) {
        DECLARED.add(method);
        return method;
    }
}
