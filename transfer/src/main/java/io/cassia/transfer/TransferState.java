package io.cassia.transfer;

/**
 * State of a task or batch; the numbers are those of the C and C++ interfaces (spec 3.1).
 * Immutable.
 */
public enum TransferState {
    /** Not finished. */
    WAITING(0),
    PENDING(1),
    INVALID(2),
    CANCELED(3),
    /** Every byte has arrived: for an acknowledged WRITE in the peer's memory. */
    COMPLETED(4),
    /** Ended by its deadline. */
    TIMEOUT(5),
    FAILED(6);

    private final int number;

    TransferState(int number) {
        this.number = number;
    }

    /** The number of the contract. */
    public int number() {
        return number;
    }

    /** Whether the engine is done with it and touches its memory no more. */
    public boolean isTerminal() {
        return this != WAITING && this != PENDING;
    }
}
