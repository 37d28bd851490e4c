package io.cassia.rpc.mooncake;

/** Answer of GetStorageConfig. */
public record StorageConfig(String fsdir, boolean enableDiskEviction, long quotaBytes) {}
