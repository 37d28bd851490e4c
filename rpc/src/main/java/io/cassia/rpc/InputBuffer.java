package io.cassia.rpc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;

/**
 * Bytes that came in and were not consumed yet. Confined to the thread that reads the connection.
 *
 * <p>It starts small, because most connections are idle, doubles only when the bytes of a peer have
 * really filled it, and goes back to its steady size when it runs empty.
 */
final class InputBuffer {
    /** One read takes at most this much, because the JDK keeps an off-heap buffer of that size. */
    private static final int MAX_READ_BYTES = 256 << 10;

    private final int steadyBytes;
    private byte[] array;
    private ByteBuffer view;
    private int start;
    private int end;

    InputBuffer(int initialBytes, int steadyBytes) {
        this.steadyBytes = Math.max(initialBytes, steadyBytes);
        this.array = new byte[initialBytes];
        this.view = ByteBuffer.wrap(array);
    }

    byte[] array() {
        return array;
    }

    int start() {
        return start;
    }

    int available() {
        return end - start;
    }

    /** Passes over consumed bytes. */
    void consume(int bytes) {
        start += bytes;
        if (start == end) {
            start = 0;
            end = 0;
            if (array.length > steadyBytes) {
                replace(new byte[steadyBytes]);
            }
        }
    }

    /** Reads once; what the channel's read returned. */
    int read(ReadableByteChannel channel) throws IOException {
        makeRoom();
        view.limit(Math.min(array.length, end + MAX_READ_BYTES)).position(end);
        int count = channel.read(view);
        if (count > 0) {
            end += count;
        }
        return count;
    }

    private void makeRoom() {
        if (end < array.length) {
            return;
        }
        if (start > array.length / 2) {
            System.arraycopy(array, start, array, 0, end - start);
        } else {
            byte[] larger = Arrays.copyOfRange(array, start, start + 2 * array.length);
            replace(larger);
        }
        end -= start;
        start = 0;
    }

    private void replace(byte[] other) {
        array = other;
        view = ByteBuffer.wrap(other);
    }
}
