package io.cassia.rpc.mooncake;

import static io.cassia.rpc.pack.WireType.BOOL;
import static io.cassia.rpc.pack.WireType.BYTES;
import static io.cassia.rpc.pack.WireType.I32;
import static io.cassia.rpc.pack.WireType.I64;
import static io.cassia.rpc.pack.WireType.OPTIONAL_U64;
import static io.cassia.rpc.pack.WireType.STRING;
import static io.cassia.rpc.pack.WireType.TEXT;
import static io.cassia.rpc.pack.WireType.U32;
import static io.cassia.rpc.pack.WireType.U64;
import static io.cassia.rpc.pack.WireType.U8;
import static io.cassia.rpc.pack.WireType.aggregate;
import static io.cassia.rpc.pack.WireType.list;
import static io.cassia.rpc.pack.WireType.optional;
import static io.cassia.rpc.pack.WireType.struct;
import static io.cassia.rpc.pack.WireType.variant;

import io.cassia.base.ByteString;
import io.cassia.rpc.pack.WireType;
import java.util.List;
import java.util.Optional;

/**
 * How the messages of release mooncake-0.3.12 are packed (spec mooncake-store 11.1, types verified
 * on the wire). Each struct names its members twice: as code and as types; the recorded vectors
 * prove that both agree. Immutable.
 */
final class MessageTypes {
    static final WireType<Uuid> UUID =
            aggregate(
                    r -> new Uuid(r.i64(), r.i64()),
                    (w, v) -> {
                        w.i64(v.first());
                        w.i64(v.second());
                    },
                    U64,
                    U64);

    static final WireType<List<ByteString>> KEY_LIST = list(BYTES);
    static final WireType<List<String>> STRINGS = list(STRING);
    static final WireType<List<Long>> U64S = list(U64);
    static final WireType<List<Long>> I64S = list(I64);
    static final WireType<Optional<List<ByteString>>> OPTIONAL_KEYS = optional(KEY_LIST);

    static final WireType<ReplicateConfig> REPLICATE_CONFIG =
            struct(
                    r ->
                            new ReplicateConfig(
                                    r.i64(),
                                    r.i64(),
                                    r.i64(),
                                    r.u8(),
                                    OPTIONAL_U64.read(r),
                                    r.bool(),
                                    STRINGS.read(r),
                                    r.string(),
                                    STRINGS.read(r),
                                    r.bool(),
                                    r.u8(),
                                    r.string(),
                                    OPTIONAL_KEYS.read(r)),
                    (w, v) -> {
                        w.i64(v.replicaNum());
                        w.i64(v.nofReplicaNum());
                        w.i64(v.dfsReplicaNum());
                        w.i8(v.softPinAction());
                        OPTIONAL_U64.write(w, v.softPinTtlMs());
                        w.bool(v.withHardPin());
                        STRINGS.write(w, v.preferredSegments());
                        w.string(v.preferredSegment());
                        STRINGS.write(w, v.preferredNofSegments());
                        w.bool(v.preferAllocInSameNode());
                        w.i8(v.dataType());
                        w.string(v.hostId());
                        OPTIONAL_KEYS.write(w, v.groupIds());
                    },
                    U64,
                    U64,
                    U64,
                    U8,
                    OPTIONAL_U64,
                    BOOL,
                    STRINGS,
                    STRING,
                    STRINGS,
                    BOOL,
                    U8,
                    STRING,
                    OPTIONAL_KEYS);

    static final WireType<ObjectMeta> OBJECT_META =
            struct(
                    r -> new ObjectMeta(r.bytes(), OPTIONAL_U64.read(r)),
                    (w, v) -> {
                        w.bytes(v.key());
                        OPTIONAL_U64.write(w, v.objectChecksum());
                    },
                    BYTES,
                    OPTIONAL_U64);
    static final WireType<List<ObjectMeta>> OBJECT_METAS = list(OBJECT_META);

    static final WireType<BufferDescriptor> BUFFER =
            struct(
                    r -> new BufferDescriptor(r.i64(), r.i64(), r.string(), r.string()),
                    (w, v) -> {
                        w.i64(v.size());
                        w.i64(v.address());
                        w.string(v.protocol());
                        w.string(v.transportEndpoint());
                    },
                    U64,
                    U64,
                    STRING,
                    STRING);

    private static final WireType<Placement.Memory> MEMORY =
            struct(
                    r -> new Placement.Memory(BUFFER.read(r)),
                    (w, v) -> BUFFER.write(w, v.buffer()),
                    BUFFER);

    private static final WireType<Placement.Nof> NOF =
            struct(
                    r -> new Placement.Nof(BUFFER.read(r)),
                    (w, v) -> BUFFER.write(w, v.buffer()),
                    BUFFER);

    private static final WireType<Placement.Disk> DISK =
            struct(
                    r -> new Placement.Disk(r.string(), r.i64()),
                    (w, v) -> {
                        w.string(v.filePath());
                        w.i64(v.objectSize());
                    },
                    STRING,
                    U64);

    private static final WireType<Placement.LocalDisk> LOCAL_DISK =
            struct(
                    r -> new Placement.LocalDisk(UUID.read(r), r.i64(), r.string()),
                    (w, v) -> {
                        UUID.write(w, v.client());
                        w.i64(v.objectSize());
                        w.string(v.transportEndpoint());
                    },
                    UUID,
                    U64,
                    STRING);

    private static final WireType<Placement.Dfs> DFS =
            struct(
                    r -> new Placement.Dfs(r.string(), r.i64(), r.i64(), r.i64(), r.i32()),
                    (w, v) -> {
                        w.string(v.filePath());
                        w.i64(v.offset());
                        w.i64(v.objectSize());
                        w.i64(v.alignedSize());
                        w.i32(v.shardIndex());
                    },
                    STRING,
                    U64,
                    U64,
                    U64,
                    I32);

    private static final WireType<Placement> PLACEMENT =
            variant(
                    placement ->
                            switch (placement) {
                                case Placement.Memory _ -> 0;
                                case Placement.Nof _ -> 1;
                                case Placement.Disk _ -> 2;
                                case Placement.LocalDisk _ -> 3;
                                case Placement.Dfs _ -> 4;
                            },
                    List.of(MEMORY, NOF, DISK, LOCAL_DISK, DFS));

    /** A replica; Cassia's own messages carry it too. */
    static final WireType<ReplicaDescriptor> REPLICA =
            struct(
                    r -> new ReplicaDescriptor(r.i64(), PLACEMENT.read(r), r.i32()),
                    (w, v) -> {
                        w.i64(v.id());
                        PLACEMENT.write(w, v.placement());
                        w.i32(v.status());
                    },
                    U64,
                    PLACEMENT,
                    I32);

    static final WireType<List<ReplicaDescriptor>> REPLICAS = list(REPLICA);

    static final WireType<ReplicaList> REPLICA_LIST =
            struct(
                    r -> new ReplicaList(REPLICAS.read(r), r.i64(), OPTIONAL_U64.read(r)),
                    (w, v) -> {
                        REPLICAS.write(w, v.replicas());
                        w.i64(v.leaseTtlMs());
                        OPTIONAL_U64.write(w, v.objectChecksum());
                    },
                    REPLICAS,
                    U64,
                    OPTIONAL_U64);

    static final WireType<PingResult> PING_RESULT =
            struct(
                    r -> new PingResult(r.i64(), r.i32()),
                    (w, v) -> {
                        w.i64(v.viewVersion());
                        w.i32(v.clientStatus());
                    },
                    I64,
                    I32);

    static final WireType<Segment> SEGMENT =
            struct(
                    r ->
                            new Segment(
                                    UUID.read(r),
                                    r.string(),
                                    r.i64(),
                                    r.i64(),
                                    r.string(),
                                    r.string(),
                                    r.string()),
                    (w, v) -> {
                        UUID.write(w, v.id());
                        w.string(v.name());
                        w.i64(v.base());
                        w.i64(v.size());
                        w.string(v.teEndpoint());
                        w.string(v.protocol());
                        w.string(v.hostId());
                    },
                    UUID,
                    STRING,
                    U64,
                    U64,
                    STRING,
                    STRING,
                    STRING);

    static final WireType<NofSegment> NOF_SEGMENT =
            struct(
                    r -> new NofSegment(UUID.read(r), r.string(), r.i64(), r.i64(), r.string()),
                    (w, v) -> {
                        UUID.write(w, v.id());
                        w.string(v.name());
                        w.i64(v.base());
                        w.i64(v.size());
                        w.string(v.teEndpoint());
                    },
                    UUID,
                    STRING,
                    U64,
                    U64,
                    STRING);

    static final WireType<NofSegmentOwner> NOF_SEGMENT_OWNER =
            struct(
                    r -> new NofSegmentOwner(UUID.read(r), UUID.read(r)),
                    (w, v) -> {
                        UUID.write(w, v.segmentId());
                        UUID.write(w, v.clientId());
                    },
                    UUID,
                    UUID);

    static final WireType<StorageConfig> STORAGE_CONFIG =
            struct(
                    r -> new StorageConfig(r.string(), r.bool(), r.i64()),
                    (w, v) -> {
                        w.string(v.fsdir());
                        w.bool(v.enableDiskEviction());
                        w.i64(v.quotaBytes());
                    },
                    STRING,
                    BOOL,
                    U64);

    static final WireType<StorageTask> STORAGE_TASK =
            struct(
                    r -> new StorageTask(r.bytes(), r.bytes(), r.i64()),
                    (w, v) -> {
                        w.bytes(v.tenant());
                        w.bytes(v.key());
                        w.i64(v.size());
                    },
                    BYTES,
                    BYTES,
                    I64);
    static final WireType<List<StorageTask>> STORAGE_TASKS = list(STORAGE_TASK);

    static final WireType<StorageObjectMetadata> STORAGE_METADATA =
            struct(
                    r -> new StorageObjectMetadata(r.i64(), r.i64(), r.i64(), r.i64(), r.string()),
                    (w, v) -> {
                        w.i64(v.bucketId());
                        w.i64(v.offset());
                        w.i64(v.keySize());
                        w.i64(v.dataSize());
                        w.string(v.transportEndpoint());
                    },
                    I64,
                    I64,
                    I64,
                    I64,
                    STRING);
    static final WireType<List<StorageObjectMetadata>> STORAGE_METADATAS = list(STORAGE_METADATA);

    /** The only member of PromotionAllocStart's answer. */
    static final WireType<ReplicaDescriptor> PROMOTION_TARGET =
            struct(REPLICA::read, REPLICA::write, REPLICA);

    static final WireType<CopyStartResult> COPY_START_RESULT =
            struct(
                    r -> new CopyStartResult(REPLICA.read(r), REPLICAS.read(r)),
                    (w, v) -> {
                        REPLICA.write(w, v.source());
                        REPLICAS.write(w, v.targets());
                    },
                    REPLICA,
                    REPLICAS);

    private static final WireType<Optional<ReplicaDescriptor>> OPTIONAL_REPLICA = optional(REPLICA);

    static final WireType<MoveStartResult> MOVE_START_RESULT =
            struct(
                    r -> new MoveStartResult(REPLICA.read(r), OPTIONAL_REPLICA.read(r)),
                    (w, v) -> {
                        REPLICA.write(w, v.source());
                        OPTIONAL_REPLICA.write(w, v.target());
                    },
                    REPLICA,
                    OPTIONAL_REPLICA);

    static final WireType<TaskInfo> TASK_INFO =
            struct(
                    r ->
                            new TaskInfo(
                                    UUID.read(r),
                                    r.i32(),
                                    r.i32(),
                                    r.i64(),
                                    r.i64(),
                                    UUID.read(r),
                                    r.text()),
                    (w, v) -> {
                        UUID.write(w, v.id());
                        w.i32(v.type());
                        w.i32(v.status());
                        w.i64(v.createdAtMs());
                        w.i64(v.updatedAtMs());
                        UUID.write(w, v.assignedClient());
                        w.string(v.message());
                    },
                    UUID,
                    I32,
                    I32,
                    I64,
                    I64,
                    UUID,
                    TEXT);

    static final WireType<TaskAssignment> TASK_ASSIGNMENT =
            struct(
                    r -> new TaskAssignment(UUID.read(r), r.i32(), r.string(), r.i64(), r.i32()),
                    (w, v) -> {
                        UUID.write(w, v.id());
                        w.i32(v.type());
                        w.string(v.payload());
                        w.i64(v.createdAtMs());
                        w.i32(v.maxRetryAttempts());
                    },
                    UUID,
                    I32,
                    STRING,
                    I64,
                    U32);

    static final WireType<TaskCompletion> TASK_COMPLETION =
            struct(
                    r -> new TaskCompletion(UUID.read(r), r.i32(), r.text()),
                    (w, v) -> {
                        UUID.write(w, v.id());
                        w.i32(v.status());
                        w.string(v.message());
                    },
                    UUID,
                    I32,
                    TEXT);

    static final WireType<OffloadedBatch> OFFLOADED_BATCH =
            struct(
                    r -> new OffloadedBatch(r.i64(), U64S.read(r), r.string(), r.i64()),
                    (w, v) -> {
                        w.i64(v.batchId());
                        U64S.write(w, v.pointers());
                        w.string(v.transferEngineAddress());
                        w.i64(v.gcTtlMs());
                    },
                    U64,
                    U64S,
                    STRING,
                    U64);

    private MessageTypes() {}
}
