package io.cassia.transfer;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * One contiguous copy between local and remote memory. Immutable. The length is that of {@code
 * local}; a length of zero completes without I/O.
 *
 * @param opcode direction
 * @param local native memory of the caller, destination of a READ, source of a WRITE; it need not
 *     be registered, but it must stay alive until the request has ended. Memory that only the
 *     calling thread may touch (a confined arena) works with {@link TransferEngine#transfer} only,
 *     and is then moved on that thread alone
 * @param target the peer
 * @param targetAddress published address of the first remote byte, an unsigned 64-bit number: for
 *     memory segments it is an absolute address, not an offset
 */
public record TransferRequest(
        Opcode opcode, MemorySegment local, SegmentHandle target, long targetAddress) {
    public TransferRequest {
        Objects.requireNonNull(opcode);
        Objects.requireNonNull(target);
        if (!local.isNative()) {
            throw new IllegalArgumentException("local memory must be native, not on the heap");
        }
        if (opcode == Opcode.READ && local.isReadOnly()) {
            throw new IllegalArgumentException("READ into read-only memory");
        }
    }

    /** Bytes to move. */
    public long lengthBytes() {
        return local.byteSize();
    }
}
