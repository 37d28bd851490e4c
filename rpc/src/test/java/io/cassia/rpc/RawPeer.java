package io.cassia.rpc;

import io.cassia.rpc.pack.Packed;
import io.cassia.rpc.pack.WireReader;
import io.cassia.rpc.pack.WireWriter;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.Arrays;

/** A peer that speaks bytes, to say what no client or server of ours would. Confined to a test. */
final class RawPeer implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 10_000;

    private final Socket socket;
    private final DataInputStream in;

    RawPeer(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        this.in = new DataInputStream(socket.getInputStream());
    }

    static RawPeer to(RpcServer server) throws IOException {
        return new RawPeer(new Socket(InetAddress.getLoopbackAddress(), server.port()));
    }

    Socket socket() {
        return socket;
    }

    void send(byte[]... parts) throws IOException {
        for (byte[] part : parts) {
            socket.getOutputStream().write(part);
        }
    }

    /** A request frame as raw bytes. */
    static byte[] request(int sequence, int function, byte[] body, byte[] attachment) {
        WireWriter writer = new WireWriter(64, 1 << 30);
        FrameLayout.writeRequest(writer, sequence, function);
        writer.i32At(FrameLayout.REQUEST_BODY, body.length);
        writer.i32At(FrameLayout.REQUEST_ATTACHMENT, attachment.length);
        writer.raw(body, 0, body.length);
        writer.raw(attachment, 0, attachment.length);
        return Arrays.copyOf(writer.array(), writer.position());
    }

    static <A> byte[] request(int sequence, RpcMethod<A, ?> method, A arguments) {
        byte[] body = Packed.withLiteral(method.arguments(), arguments);
        return request(sequence, method.functionId(), body, new byte[0]);
    }

    /** A response frame as raw bytes. */
    static byte[] response(int sequence, int error, byte[] body) {
        WireWriter writer = new WireWriter(64, 1 << 30);
        FrameLayout.writeResponse(writer, error, sequence);
        writer.i32At(FrameLayout.RESPONSE_BODY, body.length);
        writer.raw(body, 0, body.length);
        return Arrays.copyOf(writer.array(), writer.position());
    }

    static <R> byte[] response(int sequence, RpcMethod<?, R> method, R result) {
        return response(sequence, 0, Packed.withLiteral(method.result(), result));
    }

    /** A frame taken apart. */
    @SuppressWarnings("ArrayRecordComponent") // Test data, compared by nobody.
    record Frame(int sequence, int error, int function, byte[] body, byte[] attachment) {
        <R> R result(RpcMethod<?, R> method) {
            return Packed.read(method.result(), body);
        }
    }

    Frame readResponse() throws IOException {
        byte[] header = in.readNBytes(FrameLayout.RESPONSE_BYTES);
        if (header.length < FrameLayout.RESPONSE_BYTES) {
            throw new EOFException(header.length + " bytes of a header");
        }
        WireReader reader = new WireReader().reset(header, 0, header.length);
        int start = reader.i32();
        int sequence = reader.i32();
        byte[] body = in.readNBytes(reader.i32());
        byte[] attachment = in.readNBytes(reader.i32());
        return new Frame(sequence, start >> 16 & 0xff, 0, body, attachment);
    }

    Frame readRequest() throws IOException {
        byte[] header = in.readNBytes(FrameLayout.REQUEST_BYTES);
        if (header.length < FrameLayout.REQUEST_BYTES) {
            throw new EOFException(header.length + " bytes of a header");
        }
        WireReader reader = new WireReader().reset(header, 0, header.length);
        int _ = reader.i32();
        int sequence = reader.i32();
        int function = reader.i32();
        byte[] body = in.readNBytes(reader.i32());
        byte[] attachment = in.readNBytes(reader.i32());
        return new Frame(sequence, 0, function, body, attachment);
    }

    byte[] read(int bytes) throws IOException {
        return in.readNBytes(bytes);
    }

    /** Whether the other side closes without a further byte. */
    boolean isClosedByPeer() throws IOException {
        try {
            return in.read() < 0;
        } catch (SocketException e) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
