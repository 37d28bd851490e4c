package io.cassia.transfer.memory;

/** Why a peer's range was refused. Immutable; the labels are metric tags. */
public enum Rejection {
    ZERO_SIZE("zero-size"),
    WRAPS_AROUND("wraps-around"),
    NOT_REGISTERED("not-registered"),
    CROSSES_END("crosses-end"),
    NOT_ACCESSIBLE("not-accessible"),
    READ_ONLY("read-only"),
    DRAINING("draining"),
    /** Another program has cut off the file that it is in. */
    LOST("lost");

    private final String label;

    Rejection(String label) {
        this.label = label;
    }

    public String label() {
        return label;
    }
}
