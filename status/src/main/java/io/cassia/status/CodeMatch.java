package io.cassia.status;

import java.util.List;

/**
 * What a person's question for a code found. Immutable.
 *
 * @param codes one per family that has the name or number; several when families share it. A number
 *     inside a range of the contract that no release defined yet is an {@link UnknownCode}.
 * @param suggestions nearest first; only when {@code codes} is empty
 */
public record CodeMatch(List<Code> codes, List<Code> suggestions) {
    public CodeMatch {
        codes = List.copyOf(codes);
        suggestions = List.copyOf(suggestions);
    }

    public boolean isEmpty() {
        return codes.isEmpty();
    }
}
