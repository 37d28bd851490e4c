package io.cassia.gateways.rest;

import io.cassia.status.Code;
import io.cassia.status.StoreCode;

/**
 * The HTTP status of each code of the store: this edge's one table. Immutable. docs/adr/0045 says
 * where it is finer than upstream's.
 */
final class HttpStatus {
    static final int OK = 200;
    static final int PARTIAL = 206;
    static final int NOT_MODIFIED = 304;
    static final int BAD_REQUEST = 400;
    static final int UNAUTHORIZED = 401;
    static final int NOT_FOUND = 404;
    static final int METHOD_NOT_ALLOWED = 405;
    static final int CONFLICT = 409;
    static final int PRECONDITION_FAILED = 412;
    static final int TOO_LARGE = 413;
    static final int RANGE_NOT_SATISFIABLE = 416;
    static final int INTERNAL = 500;
    static final int NOT_IMPLEMENTED = 501;
    static final int UNAVAILABLE = 503;
    static final int TIMEOUT = 504;
    static final int INSUFFICIENT_STORAGE = 507;

    private HttpStatus() {}

    static int of(Code code) {
        return code instanceof StoreCode store ? of(store) : INTERNAL;
    }

    private static int of(StoreCode code) {
        return switch (code) {
            case OK -> OK;
            case INVALID_KEY, INVALID_PARAMS -> BAD_REQUEST;
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
                    BUCKET_ALREADY_EXISTS,
                    UNABLE_OFFLOAD,
                    UNABLE_OFFLOADING,
                    TENANT_NOT_EMPTY ->
                    CONFLICT;
            case NO_AVAILABLE_HANDLE,
                    KEYS_EXCEED_BUCKET_LIMIT,
                    KEYS_ULTRA_LIMIT,
                    DFS_QUOTA_EXCEEDED,
                    TENANT_QUOTA_EXCEEDED ->
                    INSUFFICIENT_STORAGE;
            case NOT_SUPPORTED, SERIALIZE_UNSUPPORTED -> NOT_IMPLEMENTED;
            case BUFFER_OVERFLOW,
                    LEASE_EXPIRED,
                    TRANSFER_FAIL,
                    WRITE_FAIL,
                    RPC_FAIL,
                    TASK_PENDING_LIMIT_EXCEEDED,
                    ETCD_OPERATION_ERROR,
                    ETCD_TRANSACTION_FAIL,
                    K8S_LEASE_OPERATION_ERROR,
                    INCOMPLETE_OPLOG_CATCH_UP,
                    DFS_SERVICE_UNAVAILABLE,
                    DFS_STALE_HANDLE ->
                    UNAVAILABLE;
            case RPC_TIMEOUT, DFS_NETWORK_TIMEOUT -> TIMEOUT;
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
                    SERIALIZE_FAIL,
                    PERSISTENT_FAIL,
                    DFS_PERMISSION_DENIED,
                    CHECKSUM_MISMATCH,
                    DESERIALIZE_FAIL,
                    DFS_PARTIAL_WRITE ->
                    INTERNAL;
        };
    }
}
