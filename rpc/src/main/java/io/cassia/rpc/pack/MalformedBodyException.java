package io.cassia.rpc.pack;

/**
 * A peer's bytes are not a value of the expected type. Thrown by readers only and caught where the
 * frame came in; carries no stack trace because a peer can cause it at will. Immutable.
 */
public final class MalformedBodyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public MalformedBodyException(String message) {
        super(message, null, false, false);
    }
}
