package io.cassia.transfer;

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
@SuppressWarnings("DoNotCallSuggester")
public final class RegisteredBuffer {
    /** Where in its life a buffer is. */
    public enum State {
        REGISTERED,
        DRAINING,
        CLOSED
    }

    RegisteredBuffer() {}

    /** The published address of the first byte: the real one, an unsigned 64-bit number. */
    public long address() {
        throw new UnsupportedOperationException();
    }

    public long lengthBytes() {
        throw new UnsupportedOperationException();
    }

    public MemorySegment memory() {
        throw new UnsupportedOperationException();
    }

    public BufferOptions options() {
        throw new UnsupportedOperationException();
    }

    public State state() {
        throw new UnsupportedOperationException();
    }
}
