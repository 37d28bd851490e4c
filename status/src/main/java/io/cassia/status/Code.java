package io.cassia.status;

/**
 * One numeric result of the contract. Immutable; constants compare by identity, {@link UnknownCode}
 * by value.
 */
public sealed interface Code permits TransferCode, StoreCode, LlmStatus, UnknownCode {
    /** The family whose numeric space the number belongs to. */
    Family family();

    /**
     * The number of the contract; for LLM-DataDist the unsigned 32-bit value as {@code int} bits.
     */
    int number();

    /** The upper-case name of the contract. */
    String name();

    /** Whether this is the family's success. */
    boolean isOk();

    /** The number for code that crosses a C-like border; same as {@link #number()}. */
    default int toInt() {
        return number();
    }

    /** {@code LEASE_EXPIRED(-707)}: how a code stands in messages and logs. */
    default String label() {
        return name() + "(" + family().format(number()) + ")";
    }
}
