package io.cassia.transfer.transport.tcp;

import io.cassia.transfer.memory.Registration;
import io.cassia.transfer.net.Wire;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Answers of one connection that wait to go out in one system call: one call per small answer
 * halves the throughput. Confined to the connection's thread, but for {@link #holds}.
 *
 * <p>Buffers come from slots that are used again and again; a view on registered memory is made
 * anew only when its slot served another range before.
 */
final class Responses {
    /** Answers per system call; two buffers each. */
    static final int MAX_COUNT = 64;

    private final Wire wire;
    private final ByteBuffer[] out = new ByteBuffer[2 * MAX_COUNT];
    private final ByteBuffer[] statuses = new ByteBuffer[MAX_COUNT];
    private final ByteBuffer[] views = new ByteBuffer[MAX_COUNT];
    private final Registration[] viewedRange = new Registration[MAX_COUNT];
    private final int[] viewedWindow = new int[MAX_COUNT];
    private final Registration[] held = new Registration[MAX_COUNT];

    // Written after the element it counts, so that an aborter sees what it counts.
    private volatile int heldCount;

    private int count;
    private int buffers;
    private long bytes;

    Responses(Wire wire) {
        this.wire = wire;
        for (int i = 0; i < MAX_COUNT; i++) {
            statuses[i] = StatusLayout.ok();
        }
    }

    boolean isEmpty() {
        return buffers == 0;
    }

    /** Whether answers wait that read registered memory. */
    boolean hasPayload() {
        return heldCount > 0;
    }

    boolean isFull() {
        return count == MAX_COUNT || bytes >= Wire.WRITE_BYTES;
    }

    /** Adds a status frame of success. */
    void addStatus() {
        out[buffers++] = statuses[count++].rewind();
        bytes += StatusLayout.LENGTH_BYTES;
    }

    /**
     * Adds bytes of a range that the caller holds until they are out; with a status frame of
     * success in front for version 2.
     *
     * @param length at most {@link Wire#WRITE_BYTES}, and inside one window of the range
     */
    void add(Registration range, long offset, int length, boolean withStatus) {
        int slot = count++;
        if (withStatus) {
            out[buffers++] = statuses[slot].rewind();
        }
        out[buffers++] = view(slot, range, offset, length);
        bytes += length;
    }

    /** The same, and takes over the hold: the range is released once the bytes are out. */
    void addHeld(Registration range, long offset, int length, boolean withStatus) {
        int number = heldCount;
        held[number] = range;
        heldCount = number + 1;
        add(range, offset, length, withStatus);
    }

    private ByteBuffer view(int slot, Registration range, long offset, int length) {
        int window = (int) (offset / Registration.WINDOW_BYTES);
        if (viewedRange[slot] != range || viewedWindow[slot] != window) {
            viewedRange[slot] = range;
            viewedWindow[slot] = window;
            views[slot] = range.window(offset).duplicate();
        }
        int from = (int) (offset % Registration.WINDOW_BYTES);
        return views[slot].limit(from + length).position(from);
    }

    /** Sends all that waits and releases its ranges, whether that succeeds or not. */
    void flush() throws IOException {
        try {
            int from = 0;
            while (from < buffers) {
                wire.write(out, from, buffers - from);
                while (from < buffers && !out[from].hasRemaining()) {
                    from++;
                }
            }
        } finally {
            release();
        }
    }

    /** Forgets all that waits and releases its ranges. */
    void release() {
        int number = heldCount;
        heldCount = 0;
        for (int i = 0; i < number; i++) {
            held[i].release();
        }
        count = 0;
        buffers = 0;
        bytes = 0;
    }

    /**
     * Whether a range is read by answers that are under way; for any thread, and may be outdated.
     */
    boolean holds(Registration range) {
        int number = heldCount;
        for (int i = 0; i < number; i++) {
            if (held[i] == range) {
                return true;
            }
        }
        return false;
    }
}
