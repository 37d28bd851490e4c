package io.cassia.transfer.handshake;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads frames from one stream. Confined to the thread of the exchange, whose deadline closes the
 * stream.
 *
 * <p>Memory grows with the bytes that have arrived, not with the length that the peer claims.
 */
final class FrameReader {
    private static final int STEP_BYTES = 64 << 10;

    /** A frame that breaks the rules; the message says which. */
    static final class BadFrameException extends IOException {
        private static final long serialVersionUID = 1L;

        BadFrameException(String message) {
            super(message);
        }
    }

    private final InputStream in;
    private final long maxLengthBytes;

    FrameReader(InputStream in, long maxLengthBytes) {
        this.in = in;
        this.maxLengthBytes = maxLengthBytes;
    }

    /** The payload of the next frame; null when the peer closed without sending a byte. */
    byte @Nullable [] next() throws IOException {
        byte[] field = new byte[FrameLayout.LENGTH_BYTES];
        int got = in.readNBytes(field, 0, field.length);
        if (got == 0) {
            return null;
        }
        if (got < field.length) {
            throw new BadFrameException("closed after " + got + " bytes of the length");
        }
        long length = FrameLayout.length(field);
        if (length == 0 || Long.compareUnsigned(length, maxLengthBytes) > 0) {
            throw new BadFrameException(
                    "length %s not in 1..%d"
                            .formatted(Long.toUnsignedString(length), maxLengthBytes));
        }
        return payload((int) length);
    }

    private byte[] payload(int length) throws IOException {
        byte[] payload = new byte[Math.min(length, STEP_BYTES)];
        int got = 0;
        while (true) {
            got += in.readNBytes(payload, got, payload.length - got);
            if (got < payload.length) {
                throw new BadFrameException("closed after " + got + " of " + length + " bytes");
            }
            if (got == length) {
                return payload;
            }
            payload = Arrays.copyOf(payload, (int) Math.min(length, payload.length * 2L));
        }
    }
}
