package io.cassia.rpc.mooncake;

/** An NVMe-oF namespace offered as a segment. */
public record NofSegment(Uuid id, String name, long base, long size, String teEndpoint) {}
