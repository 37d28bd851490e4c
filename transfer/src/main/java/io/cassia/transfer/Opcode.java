package io.cassia.transfer;

/** Direction of a transfer, seen from the caller. Immutable. */
public enum Opcode {
    /** Remote memory into local memory. */
    READ,
    /** Local memory into remote memory. */
    WRITE
}
