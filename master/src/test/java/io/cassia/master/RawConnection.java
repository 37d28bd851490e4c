package io.cassia.master;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Sends frames as they are and takes answers apart. Confined to a test. */
final class RawConnection implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 10_000;

    /** An answer: the error of the frame (0 when there is none) and its body. */
    @SuppressWarnings("ArrayRecordComponent") // Test data, compared by nobody.
    record Answer(int error, byte[] body) {}

    private final Socket socket;
    private final DataInputStream in;

    RawConnection(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
    }

    Answer exchange(byte[] frame) throws IOException {
        socket.getOutputStream().write(frame);
        byte[] header = in.readNBytes(16);
        if (header.length < 16) {
            throw new EOFException("the master closed the connection");
        }
        ByteBuffer fields = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        byte[] body = in.readNBytes(fields.getInt(8));
        in.skipNBytes(fields.getInt(12));
        return new Answer(header[2], body);
    }

    /** A request frame. */
    static byte[] frame(int function, byte[] body) {
        return ByteBuffer.allocate(20 + body.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0x15)
                .putInt(1)
                .putInt(function)
                .putInt(body.length)
                .putInt(0)
                .put(body)
                .array();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
