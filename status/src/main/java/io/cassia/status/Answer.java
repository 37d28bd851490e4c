package io.cassia.status;

/**
 * An answer with its reason. Immutable.
 *
 * @param verdict the same in every language
 * @param reason why, or on what it depends; never empty
 */
public record Answer(Verdict verdict, String reason) {
    public Answer {
        if (reason.isBlank()) {
            throw new IllegalArgumentException("an answer needs a reason");
        }
    }
}
