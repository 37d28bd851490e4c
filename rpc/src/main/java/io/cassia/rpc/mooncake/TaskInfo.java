package io.cassia.rpc.mooncake;

/** State of a task. */
public record TaskInfo(
        Uuid id,
        int type,
        int status,
        long createdAtMs,
        long updatedAtMs,
        Uuid assignedClient,
        String message) {}
