package io.cassia.rpc.mooncake;

/** Result that a client reports for a task. */
public record TaskCompletion(Uuid id, int status, String message) {}
