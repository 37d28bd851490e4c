package io.cassia.rpc.pack;

/**
 * A value does not fit the writer's limit. What was written of it must be taken back with {@link
 * WireWriter#truncate}. Immutable.
 */
public final class BodyTooLargeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BodyTooLargeException(String message) {
        super(message, null, false, false);
    }
}
