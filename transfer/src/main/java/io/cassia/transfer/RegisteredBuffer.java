package io.cassia.transfer;

import io.cassia.transfer.memory.Registration;
import java.lang.foreign.MemorySegment;

/**
 * Memory that peers may address. Guarded.
 *
 * <pre>
 *   REGISTERED ── unregister ──► DRAINING ── last transfer ended ──► CLOSED
 *   peers may start transfers    no new ones; running ones end        unknown to peers,
 *                                or are aborted at the deadline       memory may be freed
 * </pre>
 */
public final class RegisteredBuffer {
    /** Where in its life a buffer is. */
    public enum State {
        REGISTERED,
        DRAINING,
        CLOSED
    }

    private final Registration registration;
    private final BufferOptions options;

    RegisteredBuffer(Registration registration, BufferOptions options) {
        this.registration = registration;
        this.options = options;
    }

    Registration registration() {
        return registration;
    }

    /** The published address of the first byte: the real one, an unsigned 64-bit number. */
    public long address() {
        return registration.address();
    }

    public long lengthBytes() {
        return registration.lengthBytes();
    }

    public MemorySegment memory() {
        return registration.memory();
    }

    public BufferOptions options() {
        return options;
    }

    public State state() {
        return switch (registration.state()) {
            case REGISTERED -> State.REGISTERED;
            case DRAINING -> State.DRAINING;
            case CLOSED -> State.CLOSED;
        };
    }
}
