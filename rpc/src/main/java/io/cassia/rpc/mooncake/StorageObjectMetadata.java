package io.cassia.rpc.mooncake;

/** Where a client put an object on its SSD; a negative {@code dataSize} refuses the task. */
public record StorageObjectMetadata(
        long bucketId, long offset, long keySize, long dataSize, String transportEndpoint) {}
