package io.cassia.rpc.mooncake;

/** Who mounted an NVMe-oF segment. */
public record NofSegmentOwner(Uuid segmentId, Uuid clientId) {}
