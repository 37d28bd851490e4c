package io.cassia.rpc.mooncake;

import java.util.List;

/** Staging buffers that hold objects read from a peer's SSD. */
public record OffloadedBatch(
        long batchId, List<Long> pointers, String transferEngineAddress, long gcTtlMs) {}
