package io.cassia.rpc.mooncake;

import io.cassia.base.ByteString;

/** An object that a client is asked to offload to, or to promote from, its SSD. */
public record StorageTask(ByteString tenant, ByteString key, long size) {}
