package io.cassia.rpc;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory for long messages that are coming in, shared by all connections of a server: peers that
 * send much at a time may not take more of the heap than that. Thread-safe.
 */
final class InputMemory {
    private final AtomicLong left;

    InputMemory(long bytes) {
        this.left = new AtomicLong(bytes);
    }

    /** For a connection whose peer is trusted. */
    static InputMemory unlimited() {
        return new InputMemory(Long.MAX_VALUE / 2);
    }

    /** Takes so many bytes, or none and answers false. */
    boolean take(long bytes) {
        long before = left.get();
        while (before >= bytes) {
            if (left.compareAndSet(before, before - bytes)) {
                return true;
            }
            before = left.get();
        }
        return false;
    }

    void giveBack(long bytes) {
        long _ = left.addAndGet(bytes);
    }

    long leftBytes() {
        return left.get();
    }
}
