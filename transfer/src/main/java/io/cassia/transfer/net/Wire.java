package io.cassia.transfer.net;

import io.cassia.base.Spin;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * A connection that carries bytes, plain or protected. One thread reads and writes; any thread may
 * end it.
 */
public interface Wire extends AutoCloseable {
    /**
     * Bytes of one write, where there are so many: with a quarter of it, requests of 1 MiB run at
     * two thirds of the speed. A blocking write returns when all is taken, so this also bounds how
     * seldom progress shows.
     */
    int WRITE_BYTES = 4 << 20;

    /** Reads what is there, at least one byte; negative at the end of the stream. */
    long read(ByteBuffer[] into, int from, int count) throws IOException;

    /** Reads what is there, at least one byte; negative at the end of the stream. */
    int read(ByteBuffer into) throws IOException;

    /**
     * Stays awake for a moment while nothing is there to be read; see {@link Spin}. Where one
     * cannot look without reading it does nothing.
     */
    default void stayAwake(Spin spin) throws IOException {}

    /**
     * The same in the middle of much data, where sleeping costs speed: inside the host, where so
     * little is under way that the other end has nothing to do either before this one has woken up.
     * Elsewhere it does nothing.
     */
    default void stayAwakeForMore(Spin spin) throws IOException {}

    /** Writes some, on a platform thread all. */
    void write(ByteBuffer[] out, int from, int count) throws IOException;

    /** Writes all. */
    void write(ByteBuffer out) throws IOException;

    /** Tells the peer that nothing more comes. */
    void shutdownOutput() throws IOException;

    /** Ends it at once: what the kernel has not sent yet is dropped, and the peer is told so. */
    void reset();

    /** Ends it; failures are of no consequence and only logged. */
    @Override
    void close();

    /** The bytes that come in, for those who read a few. */
    default InputStream input() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                return length == 0 ? 0 : Wire.this.read(ByteBuffer.wrap(into, offset, length));
            }
        };
    }
}
