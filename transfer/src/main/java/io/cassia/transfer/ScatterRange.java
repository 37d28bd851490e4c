package io.cassia.transfer;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Pieces to be moved between one span of a peer's memory and one local span, in one direction (spec
 * 2.1). Immutable.
 *
 * @param opcode direction
 * @param segment published name of the peer; opened when it is not open
 * @param remoteAddress published address of the first byte of the remote span, unsigned
 * @param remoteSizeBytes size of the remote span, unsigned: no fragment may leave it
 * @param local local span, native memory that any thread may touch
 * @param fragments the pieces
 * @param listener told of the end of each
 */
public record ScatterRange(
        Opcode opcode,
        String segment,
        long remoteAddress,
        long remoteSizeBytes,
        MemorySegment local,
        List<Fragment> fragments,
        Listener listener) {
    /**
     * One piece. Immutable. Any three numbers are allowed here: a piece that leaves its spans fails
     * by itself, with ERR_INVALID_ARGUMENT, and leaves the others alone.
     *
     * @param localOffset from the start of the local span
     * @param remoteOffset from the start of the remote span, unsigned
     * @param lengthBytes bytes; nothing is moved for 0, and that succeeds
     */
    public record Fragment(long localOffset, long remoteOffset, long lengthBytes) {
        /** Why it cannot be moved; nothing when it can. */
        Optional<String> obstacle(ScatterRange range) {
            long capacity = range.local().byteSize();
            if (lengthBytes < 0
                    || localOffset < 0
                    || lengthBytes > capacity
                    || localOffset > capacity - lengthBytes) {
                return Optional.of("leaves the local span of %d bytes".formatted(capacity));
            }
            long size = range.remoteSizeBytes();
            if (Long.compareUnsigned(lengthBytes, size) > 0
                    || Long.compareUnsigned(remoteOffset, size - lengthBytes) > 0) {
                return Optional.of(
                        "leaves the remote span of %s bytes"
                                .formatted(Long.toUnsignedString(size)));
            }
            long first = range.remoteAddress() + remoteOffset;
            boolean wraps =
                    Long.compareUnsigned(first, remoteOffset) < 0
                            || Long.compareUnsigned(first + lengthBytes - 1, first) < 0;
            return wraps ? Optional.of("leaves the address space") : Optional.empty();
        }
    }

    /** Told of the end of a fragment, on the thread that ends it; must not block. */
    @FunctionalInterface
    public interface Listener {
        /** Told of nothing. */
        Listener NONE = (_, _) -> {};

        /** A fragment, by its number in the range, has ended and touches no memory any more. */
        void ended(int fragment, Outcome<Done> outcome);
    }

    public ScatterRange {
        Objects.requireNonNull(opcode);
        Objects.requireNonNull(segment);
        Objects.requireNonNull(listener);
        fragments = List.copyOf(fragments);
        if (!local.isNative()) {
            throw new IllegalArgumentException("local memory must be native, not on the heap");
        }
        if (opcode == Opcode.READ && local.isReadOnly()) {
            throw new IllegalArgumentException("READ into read-only memory");
        }
    }

    /** The same without a listener. */
    public ScatterRange(
            Opcode opcode,
            String segment,
            long remoteAddress,
            long remoteSizeBytes,
            MemorySegment local,
            List<Fragment> fragments) {
        this(opcode, segment, remoteAddress, remoteSizeBytes, local, fragments, Listener.NONE);
    }
}
