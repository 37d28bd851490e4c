package io.cassia.datadist.link;

import java.util.Optional;

/** What a cluster does in inference. Immutable. */
public enum LlmRole {
    /** Prefill: owns the KV that others pull. */
    PROMPT(1),
    /** Decode: links and pulls. */
    DECODER(2),
    /** Neither yet: memory and copies, no links while roles gate. */
    MIX(3);

    private final int number;

    LlmRole(int number) {
        this.number = number;
    }

    /** The number of the C++ API. */
    public int number() {
        return number;
    }

    /** The role with this number. */
    public static Optional<LlmRole> find(int number) {
        for (LlmRole role : values()) {
            if (role.number == number) {
                return Optional.of(role);
            }
        }
        return Optional.empty();
    }
}
