package io.cassia.transfer;

import io.cassia.status.Done;
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
public final class RegisteredBuffer implements AutoCloseable {
    /** Where in its life a buffer is. */
    public enum State {
        REGISTERED,
        DRAINING,
        CLOSED
    }

    private final Registration registration;
    private final BufferOptions options;
    private final LocalMemory owner;

    RegisteredBuffer(Registration registration, BufferOptions options, LocalMemory owner) {
        this.registration = registration;
        this.options = options;
        this.owner = owner;
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

    /**
     * Unregisters it as {@link TransferEngine#unregister} does; what was unregistered before stays
     * so.
     *
     * @throws io.cassia.status.CassiaException ERR_BATCH_BUSY when a transfer does not let go of
     *     it, ERR_METADATA when the withdrawal could not be published (it is gone all the same)
     */
    @Override
    public void close() {
        if (state() != State.CLOSED) {
            Done _ = owner.unregister(this).orThrow();
        }
    }
}
