package io.cassia.rpc.pack;

/**
 * A value does not fit the limit for bodies. What was written of it must be taken back with {@link
 * WireWriter#truncate}. Immutable.
 */
public final class BodyTooLargeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public BodyTooLargeException(long bytes, int limitBytes) {
        super("at least " + bytes + " bytes, the limit is " + limitBytes, null, false, false);
    }
}
