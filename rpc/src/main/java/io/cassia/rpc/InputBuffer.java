package io.cassia.rpc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;

/**
 * Bytes that came in and were not consumed yet. Confined to the thread that reads the connection.
 *
 * <p>It starts small, because most connections are idle, doubles only when the bytes of a peer have
 * really filled it, and goes back to its steady size when it runs empty. What is beyond the steady
 * size is taken from the memory that all connections share.
 */
final class InputBuffer {
    /** One read takes at most this much, because the JDK keeps an off-heap buffer of that size. */
    private static final int MAX_READ_BYTES = 256 << 10;

    /** No array is longer. */
    private static final int MOST_BYTES = Integer.MAX_VALUE - 8;

    private final int steadyBytes;
    private final InputMemory memory;

    /** What was taken from the shared memory. */
    private long taken;

    private byte[] array;
    private ByteBuffer view;
    private int start;
    private int end;

    InputBuffer(int initialBytes, int steadyBytes, InputMemory memory) {
        this.steadyBytes = Math.max(initialBytes, steadyBytes);
        this.memory = memory;
        this.array = new byte[initialBytes];
        this.view = ByteBuffer.wrap(array);
    }

    /** The shared memory is used up; the message cannot be taken. */
    static final class OutOfInputMemoryException extends IOException {
        private static final long serialVersionUID = 1L;

        OutOfInputMemoryException(long bytes) {
            super("no memory for a message of more than " + bytes + " bytes");
        }
    }

    /** Whether a long message is coming in. */
    boolean isLarge() {
        return taken > 0;
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
                giveBack();
            }
        }
    }

    private void giveBack() {
        memory.giveBack(taken);
        taken = 0;
    }

    /** Nothing more is read. */
    void close() {
        giveBack();
    }

    /**
     * Reads once; what the channel's read returned.
     *
     * @throws OutOfInputMemoryException when other messages have all the memory
     */
    int read(ReadableByteChannel channel) throws IOException {
        makeRoom();
        view.limit(Math.min(array.length, end + MAX_READ_BYTES)).position(end);
        int count = channel.read(view);
        if (count > 0) {
            end += count;
        }
        return count;
    }

    private void makeRoom() throws OutOfInputMemoryException {
        if (end < array.length) {
            return;
        }
        if (start > array.length / 2) {
            System.arraycopy(array, start, array, 0, end - start);
        } else {
            int longer = (int) Math.min(2L * array.length, MOST_BYTES);
            take(longer);
            replace(Arrays.copyOfRange(array, start, start + longer));
        }
        end -= start;
        start = 0;
    }

    private void take(int longer) throws OutOfInputMemoryException {
        long more = Math.max(0, longer - steadyBytes - taken);
        if (!memory.take(more)) {
            throw new OutOfInputMemoryException(available());
        }
        taken += more;
    }

    private void replace(byte[] other) {
        array = other;
        view = ByteBuffer.wrap(other);
    }
}
