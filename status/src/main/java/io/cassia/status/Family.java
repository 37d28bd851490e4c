package io.cassia.status;

/** A family of codes: one numeric space with its own public contract. Immutable. */
public enum Family {
    TRANSFER_ENGINE("transfer-engine"),
    STORE("store"),
    LLM_DATADIST("llm-datadist");

    private final String label;

    Family(String label) {
        this.label = label;
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
        return number == 0 ? "0x0" : "0x%08X".formatted(number);
    }
}
