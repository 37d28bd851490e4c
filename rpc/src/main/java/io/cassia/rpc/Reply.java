package io.cassia.rpc;

/**
 * A result with what came along. Immutable.
 *
 * @param attachment {@link Attachment#NONE} from a peer of upstream
 */
public record Reply<R>(R result, Attachment attachment) {}
