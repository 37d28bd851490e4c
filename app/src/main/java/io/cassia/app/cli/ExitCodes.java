package io.cassia.app.cli;

import io.cassia.status.Code;
import io.cassia.status.LlmStatus;
import io.cassia.status.StoreCode;
import io.cassia.status.TransferCode;
import io.cassia.status.UnknownCode;

/**
 * What the process ends with, by kind of failure, so that scripts can branch. Immutable. The README
 * has the same table.
 */
final class ExitCodes {
    static final int OK = 0;

    /** A defect, or a local problem that no other number tells. */
    static final int INTERNAL = 1;

    /** The command line or a value on it is wrong; nothing was done. */
    static final int USAGE = 2;

    static final int NOT_FOUND = 3;

    /** The other side understood and said no: full, exists already, leased, not allowed. */
    static final int REFUSED = 4;

    /** The other side could not be reached or did not finish in time; trying again may help. */
    static final int UNREACHABLE = 5;

    /** Bytes are not what they must be. */
    static final int DATA = 6;

    private ExitCodes() {}

    static int of(Code code) {
        return switch (code) {
            case StoreCode store -> of(store);
            case TransferCode transfer -> of(transfer);
            case LlmStatus llm -> of(llm);
            case UnknownCode unknown -> INTERNAL;
        };
    }

    private static int of(StoreCode code) {
        return switch (code) {
            case OK -> OK;
            case INTERNAL_ERROR,
                    SHARD_INDEX_OUT_OF_RANGE,
                    INVALID_READ,
                    INVALID_REPLICA,
                    ETCD_CTX_CANCELLED,
                    FILE_OPEN_FAIL,
                    FILE_READ_FAIL,
                    FILE_WRITE_FAIL,
                    FILE_INVALID_BUFFER,
                    FILE_LOCK_FAIL,
                    FILE_INVALID_HANDLE,
                    SERIALIZE_UNSUPPORTED,
                    SERIALIZE_FAIL,
                    PERSISTENT_FAIL ->
                    INTERNAL;
            case BUFFER_OVERFLOW, INVALID_KEY, INVALID_PARAMS -> USAGE;
            case SEGMENT_NOT_FOUND,
                    CLIENT_NOT_FOUND,
                    OBJECT_NOT_FOUND,
                    OBJECT_NO_REPLICATION_TASK,
                    REPLICA_NOT_FOUND,
                    REPLICA_IS_GONE,
                    REPLICA_NOT_IN_LOCAL_MEMORY,
                    ETCD_KEY_NOT_EXIST,
                    OPLOG_ENTRY_NOT_FOUND,
                    K8S_LEASE_NOT_FOUND,
                    FILE_NOT_FOUND,
                    BUCKET_NOT_FOUND,
                    TASK_NOT_FOUND,
                    JOB_NOT_FOUND,
                    TENANT_NOT_REGISTERED ->
                    NOT_FOUND;
            case SEGMENT_ALREADY_EXISTS,
                    NO_AVAILABLE_HANDLE,
                    INVALID_VERSION,
                    INVALID_WRITE,
                    ILLEGAL_CLIENT,
                    REPLICA_IS_NOT_READY,
                    OBJECT_ALREADY_EXISTS,
                    OBJECT_HAS_LEASE,
                    OBJECT_HAS_REPLICATION_TASK,
                    REPLICA_ALREADY_EXISTS,
                    OBJECT_REPLICA_BUSY,
                    UNAVAILABLE_IN_CURRENT_STATUS,
                    UNAVAILABLE_IN_CURRENT_MODE,
                    NOT_SUPPORTED,
                    BUCKET_ALREADY_EXISTS,
                    KEYS_EXCEED_BUCKET_LIMIT,
                    KEYS_ULTRA_LIMIT,
                    UNABLE_OFFLOAD,
                    UNABLE_OFFLOADING,
                    TASK_PENDING_LIMIT_EXCEEDED,
                    DFS_QUOTA_EXCEEDED,
                    DFS_PERMISSION_DENIED,
                    TENANT_QUOTA_EXCEEDED,
                    TENANT_NOT_EMPTY ->
                    REFUSED;
            case LEASE_EXPIRED,
                    TRANSFER_FAIL,
                    WRITE_FAIL,
                    RPC_FAIL,
                    RPC_TIMEOUT,
                    ETCD_OPERATION_ERROR,
                    ETCD_TRANSACTION_FAIL,
                    K8S_LEASE_OPERATION_ERROR,
                    INCOMPLETE_OPLOG_CATCH_UP,
                    DFS_NETWORK_TIMEOUT,
                    DFS_SERVICE_UNAVAILABLE,
                    DFS_STALE_HANDLE ->
                    UNREACHABLE;
            case CHECKSUM_MISMATCH, DESERIALIZE_FAIL, DFS_PARTIAL_WRITE -> DATA;
        };
    }

    private static int of(TransferCode code) {
        return switch (code) {
            case OK -> OK;
            case ERR_INVALID_ARGUMENT -> USAGE;
            case ERR_ADDRESS_NOT_REGISTERED, ERR_DEVICE_NOT_FOUND -> NOT_FOUND;
            case ERR_TOO_MANY_REQUESTS,
                    ERR_BATCH_BUSY,
                    ERR_BATCH_CLEANUP_DEFERRED,
                    ERR_ADDRESS_OVERLAPPED,
                    ERR_REJECT_HANDSHAKE,
                    ERR_NOT_IMPLEMENTED ->
                    REFUSED;
            case ERR_DNS, ERR_SOCKET, ERR_METADATA, ERR_ENDPOINT -> UNREACHABLE;
            case ERR_MALFORMED_JSON -> DATA;
            case ERR_CONTEXT, ERR_NUMA, ERR_CLOCK, ERR_MEMORY -> INTERNAL;
        };
    }

    private static int of(LlmStatus code) {
        return switch (code) {
            case LLM_SUCCESS -> OK;
            case LLM_FAILED -> INTERNAL;
            case LLM_PARAM_INVALID -> USAGE;
            case LLM_KV_CACHE_NOT_EXIST, LLM_NOT_YET_LINK -> NOT_FOUND;
            case LLM_ALREADY_LINK,
                    LLM_CLUSTER_NUM_EXCEED_LIMIT,
                    LLM_PROCESSING_LINK,
                    LLM_DEVICE_OUT_OF_MEMORY,
                    LLM_EXIST_LINK,
                    LLM_FEATURE_NOT_ENABLED,
                    LLM_LINK_BUSY,
                    LLM_OUT_OF_MEMORY ->
                    REFUSED;
            case LLM_WAIT_PROC_TIMEOUT,
                    LLM_LINK_FAILED,
                    LLM_UNLINK_FAILED,
                    LLM_NOTIFY_PROMPT_UNLINK_FAILED,
                    LLM_TIMEOUT ->
                    UNREACHABLE;
        };
    }
}
