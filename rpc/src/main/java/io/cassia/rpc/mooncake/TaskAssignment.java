package io.cassia.rpc.mooncake;

/** A task handed to a client. */
public record TaskAssignment(
        Uuid id, int type, String payload, long createdAtMs, int maxRetryAttempts) {}
