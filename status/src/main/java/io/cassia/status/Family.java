package io.cassia.status;

import java.util.Locale;
import java.util.Optional;

/** A family of codes: one numeric space with its own public contract. Immutable. */
public enum Family {
    TRANSFER_ENGINE("transfer-engine"),
    STORE("store"),
    LLM_DATADIST("llm-datadist");

    private final String label;

    Family(String label) {
        this.label = label;
    }

    /** The family with this label, or with one of the short names that people type. */
    public static Optional<Family> find(String label) {
        return switch (label.strip().toLowerCase(Locale.ROOT)) {
            case "transfer-engine", "transfer", "te" -> Optional.of(TRANSFER_ENGINE);
            case "store" -> Optional.of(STORE);
            case "llm-datadist", "llm", "datadist" -> Optional.of(LLM_DATADIST);
            default -> Optional.empty();
        };
    }

    /** The name used in docs, JSON and on the command line. */
    public String label() {
        return label;
    }

    /** A number as this family writes it: decimal, or eight hexadecimal digits for LLM-DataDist. */
    public String format(int number) {
        if (this != LLM_DATADIST) {
            return Integer.toString(number);
        }
        if (number == 0) {
            return "0x0";
        }
        String digits = Integer.toHexString(number).toUpperCase(Locale.ROOT);
        return "0x" + "0".repeat(8 - digits.length()) + digits;
    }
}
