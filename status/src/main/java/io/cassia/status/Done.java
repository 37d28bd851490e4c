package io.cassia.status;

/** The value of an operation that only succeeds or fails. Immutable. */
public enum Done {
    DONE;

    static final Outcome<Done> OUTCOME = Outcome.ok(DONE);
}
