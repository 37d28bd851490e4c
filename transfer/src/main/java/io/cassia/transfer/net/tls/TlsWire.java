package io.cassia.transfer.net.tls;

import io.cassia.transfer.net.PlainWire;
import io.cassia.transfer.net.Wire;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;

/**
 * A connection under TLS. Confined as {@link Wire} says.
 *
 * <pre>
 *   channel ──► cipherIn ── unwrap ──► caller's buffers, or plainIn when they are small
 *   channel ◄── cipherOut ◄── wrap ── caller's buffers
 * </pre>
 *
 * Blocking: one record after the other, as many per system call as there are. The deadline is the
 * caller's, who closes the channel from another thread.
 */
final class TlsWire implements Wire {
    /** Records per system call; one holds 16 KiB, and each connection has memory for so many. */
    private static final int RECORDS = 4;

    private static final long MAX_DROPPED_BYTES = 1 << 20;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final SSLEngine engine;
    private final ByteBuffer cipherIn;
    private final ByteBuffer cipherOut;
    private final ByteBuffer plainIn;
    private final int recordBytes;
    private final ByteBuffer[] single = new ByteBuffer[1];

    /**
     * A connection whose handshake has not begun.
     *
     * @param received what has been read from the channel before
     */
    TlsWire(SocketChannel channel, SSLEngine engine, ByteBuffer received) {
        this.channel = channel;
        this.engine = engine;
        SSLSession session = engine.getSession();
        int packet = session.getPacketBufferSize();
        this.recordBytes = session.getApplicationBufferSize();
        this.cipherIn = ByteBuffer.allocateDirect(RECORDS * packet).put(received).flip();
        this.cipherOut = ByteBuffer.allocateDirect(RECORDS * packet);
        this.plainIn = ByteBuffer.allocateDirect(recordBytes).limit(0);
    }

    /** Agrees on keys with the peer and checks its certificate; who is refused is told why. */
    void handshake() throws IOException {
        try {
            agree();
        } catch (SSLException e) {
            farewell(e);
            throw e;
        }
    }

    /** Sends the alert that stands for a failure, and has the peer read it before we close. */
    private void farewell(SSLException cause) {
        try {
            if (engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP) {
                SSLEngineResult.HandshakeStatus _ = wrapOne();
            }
            linger();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /** Closing with bytes unread would reset the connection, and take what we said with it. */
    void linger() throws IOException {
        channel.shutdownOutput();
        long dropped = 0;
        int read = 0;
        while (read >= 0 && dropped < MAX_DROPPED_BYTES) {
            read = channel.read(cipherIn.clear());
            dropped += read;
        }
    }

    private void agree() throws IOException {
        engine.beginHandshake();
        SSLEngineResult.HandshakeStatus status = engine.getHandshakeStatus();
        while (true) {
            switch (status) {
                case NEED_TASK -> {
                    runTasks();
                    status = engine.getHandshakeStatus();
                }
                case NEED_WRAP -> status = wrapOne();
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    SSLEngineResult result = engine.unwrap(cipherIn, plainIn.clear());
                    plainIn.flip();
                    if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
                        if (fill() < 0) {
                            throw new EOFException("closed by the peer during the TLS handshake");
                        }
                    } else if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                        throw new EOFException("refused by the peer during the TLS handshake");
                    }
                    status = result.getHandshakeStatus();
                }
                case FINISHED, NOT_HANDSHAKING -> {
                    return;
                }
            }
        }
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask();
                task != null;
                task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    /** Sends one record of the protocol's own. */
    private SSLEngineResult.HandshakeStatus wrapOne() throws IOException {
        SSLEngineResult result = engine.wrap(NOTHING, cipherOut.clear());
        flush();
        return result.getHandshakeStatus();
    }

    private void flush() throws IOException {
        cipherOut.flip();
        while (cipherOut.hasRemaining()) {
            channel.write(cipherOut);
        }
    }

    private int fill() throws IOException {
        cipherIn.compact();
        try {
            return channel.read(cipherIn);
        } finally {
            cipherIn.flip();
        }
    }

    /** Bytes that only the two ends of this very connection know. */
    byte[] exported(String label, int lengthBytes) throws SSLException {
        if (!(engine.getSession() instanceof ExtendedSSLSession session)) {
            throw new SSLException("this TLS provider exports no keying material");
        }
        return session.exportKeyingMaterialData(label, new byte[0], lengthBytes);
    }

    @Override
    public long read(ByteBuffer[] into, int from, int count) throws IOException {
        if (plainIn.hasRemaining()) {
            return drain(into, from, count);
        }
        long got = 0;
        while (true) {
            boolean direct = remaining(into, from, count) >= recordBytes;
            if (!direct && got > 0) {
                return got;
            }
            SSLEngineResult result =
                    direct
                            ? engine.unwrap(cipherIn, into, from, count)
                            : engine.unwrap(cipherIn, plainIn.clear());
            if (!direct) {
                plainIn.flip();
            }
            got += direct ? result.bytesProduced() : drain(into, from, count);
            switch (result.getStatus()) {
                case OK -> serve(result.getHandshakeStatus());
                case BUFFER_UNDERFLOW -> {
                    if (got > 0) {
                        return got;
                    }
                    if (fill() < 0) {
                        return -1;
                    }
                }
                case CLOSED -> {
                    return got > 0 ? got : -1;
                }
                case BUFFER_OVERFLOW -> throw new SSLException("a record is larger than agreed");
            }
        }
    }

    private static long remaining(ByteBuffer[] buffers, int from, int count) {
        long remaining = 0;
        for (int i = from; i < from + count; i++) {
            remaining += buffers[i].remaining();
        }
        return remaining;
    }

    private long drain(ByteBuffer[] into, int from, int count) {
        long before = plainIn.remaining();
        for (int i = from; i < from + count && plainIn.hasRemaining(); i++) {
            int take = Math.min(plainIn.remaining(), into[i].remaining());
            into[i].put(plainIn.slice(plainIn.position(), take));
            plainIn.position(plainIn.position() + take);
        }
        return before - plainIn.remaining();
    }

    /** What the protocol itself wants after a record: new keys, an answer to new keys. */
    private void serve(SSLEngineResult.HandshakeStatus status) throws IOException {
        switch (status) {
            case NEED_TASK -> runTasks();
            case NEED_WRAP -> {
                SSLEngineResult.HandshakeStatus _ = wrapOne();
            }
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN, FINISHED, NOT_HANDSHAKING -> {
                // The loop goes on anyway.
            }
        }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        single[0] = into;
        try {
            return (int) read(single, 0, 1);
        } finally {
            single[0] = NOTHING;
        }
    }

    @Override
    public void write(ByteBuffer[] out, int from, int count) throws IOException {
        cipherOut.clear();
        while (remaining(out, from, count) > 0) {
            SSLEngineResult result = engine.wrap(out, from, count, cipherOut);
            switch (result.getStatus()) {
                case OK -> serveTasks(result.getHandshakeStatus());
                case BUFFER_OVERFLOW -> {
                    flush();
                    cipherOut.clear();
                }
                case CLOSED, BUFFER_UNDERFLOW ->
                        throw new SSLException("the TLS connection is closed");
            }
        }
        flush();
    }

    private void serveTasks(SSLEngineResult.HandshakeStatus status) {
        if (status == SSLEngineResult.HandshakeStatus.NEED_TASK) {
            runTasks();
        }
    }

    @Override
    public void write(ByteBuffer out) throws IOException {
        single[0] = out;
        try {
            write(single, 0, 1);
        } finally {
            single[0] = NOTHING;
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        engine.closeOutbound();
        while (!engine.isOutboundDone()) {
            SSLEngineResult.HandshakeStatus _ = wrapOne();
        }
        channel.shutdownOutput();
    }

    @Override
    public void reset() {
        PlainWire.reset(channel);
    }

    @Override
    public void close() {
        PlainWire.close(channel);
    }
}
