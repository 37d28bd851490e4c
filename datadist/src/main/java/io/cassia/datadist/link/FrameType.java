package io.cassia.datadist.link;

import org.jspecify.annotations.Nullable;

/** Kinds of control frames. Immutable. Numbers are never used twice. */
public enum FrameType {
    /** Dialling side: who it is and whom it wants. */
    HELLO(1),
    /** Listening side: who it is, and whether the token has to be proved. */
    CHALLENGE(2),
    /** Dialling side: proof of the token. */
    PROOF(3),
    /** Listening side: it has its link; with its own proof. */
    READY(4),
    /** Dialling side: it has its link too. */
    CONFIRM(5),
    /** Asks for a sign of life. */
    PING(6),
    /** Ends the link. */
    UNLINK(7),
    /** Answer that is a code and a detail. */
    STATUS(8),
    /** Asks to read a cache. */
    PULL(16),
    /** Answer to PULL: where the bytes are. */
    GRANT(17),
    /** Asks the receiver to fetch. */
    PUSH(18),
    /** The reader has finished with what was granted. */
    DONE(19);

    private final int number;

    FrameType(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    static @Nullable FrameType find(int number) {
        for (FrameType type : values()) {
            if (type.number == number) {
                return type;
            }
        }
        return null;
    }
}
