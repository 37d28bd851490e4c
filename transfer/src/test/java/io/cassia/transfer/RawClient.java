package io.cassia.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;

/** A hand-made peer: a plain socket and bytes. Confined to the test's thread. */
final class RawClient implements AutoCloseable {
    /** How a connection ended. */
    enum End {
        OPEN,
        CLOSED,
        RESET
    }

    private static final int TIMEOUT_MILLIS = 10_000;

    private final Socket socket;

    RawClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
    }

    static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replace(" ", "").replace("|", ""));
    }

    static byte[] header(int opcode, long size, long address) {
        return ByteBuffer.allocate(24)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(size)
                .putLong(address)
                .put((byte) opcode)
                .put(hex("20696e740a0a53"))
                .array();
    }

    static byte[] concat(byte[]... parts) {
        int length = Arrays.stream(parts).mapToInt(p -> p.length).sum();
        ByteBuffer all = ByteBuffer.allocate(length);
        for (byte[] part : parts) {
            all.put(part);
        }
        return all.array();
    }

    void send(byte[]... parts) throws IOException {
        socket.getOutputStream().write(concat(parts));
        socket.getOutputStream().flush();
    }

    void sendByteByByte(byte[] bytes) throws IOException {
        for (byte b : bytes) {
            socket.getOutputStream().write(b);
            socket.getOutputStream().flush();
        }
    }

    void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    byte[] receive(int length) throws IOException {
        return socket.getInputStream().readNBytes(length);
    }

    /** Everything until the peer closes. */
    byte[] receiveAll() throws IOException {
        return socket.getInputStream().readAllBytes();
    }

    InputStream in() throws IOException {
        return socket.getInputStream();
    }

    /** How the connection stands, given a moment to end. */
    End end(int waitMillis) throws IOException {
        socket.setSoTimeout(waitMillis);
        try {
            return socket.getInputStream().read() < 0 ? End.CLOSED : End.OPEN;
        } catch (java.net.SocketTimeoutException e) {
            return End.OPEN;
        } catch (SocketException e) {
            return End.RESET;
        } finally {
            socket.setSoTimeout(TIMEOUT_MILLIS);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
