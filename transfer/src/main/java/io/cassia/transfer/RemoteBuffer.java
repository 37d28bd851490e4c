package io.cassia.transfer;

import io.cassia.transfer.metadata.SegmentDescriptor;

/**
 * A buffer that a peer has published. Immutable.
 *
 * @param address unsigned 64-bit address of its first byte
 * @param lengthBytes unsigned 64-bit length
 */
public record RemoteBuffer(long address, long lengthBytes) {
    static RemoteBuffer of(SegmentDescriptor.Buffer published) {
        return new RemoteBuffer(published.address(), published.lengthBytes());
    }
}
