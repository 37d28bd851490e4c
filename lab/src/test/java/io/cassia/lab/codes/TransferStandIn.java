package io.cassia.lab.codes;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What stands at the address of an engine and is none: a handshake port that answers one text, and
 * a data port that follows a script. Guarded: a thread per connection.
 */
final class TransferStandIn implements AutoCloseable {
    /** What happens on a data connection. */
    interface Script {
        void serve(Socket socket) throws IOException;
    }

    private final ServerSocket rpc;
    private final ServerSocket data;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile String answer;

    TransferStandIn(Script script) throws IOException {
        rpc = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        data = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        answer = descriptor("tcp");
        Thread.ofPlatform().daemon().start(() -> accept(rpc, this::answer));
        Thread.ofPlatform().daemon().start(() -> accept(data, script));
    }

    /** Takes requests and never answers. */
    static TransferStandIn mute() throws IOException {
        return new TransferStandIn(
                socket -> {
                    while (socket.getInputStream().read() >= 0) {
                        // Nothing comes of it.
                    }
                });
    }

    private void accept(ServerSocket listener, Script script) {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                sockets.add(socket);
                Thread.ofPlatform().daemon().start(() -> serve(socket, script));
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void serve(Socket socket, Script script) {
        try (socket) {
            script.serve(socket);
        } catch (IOException e) {
            // The engine has closed; what it reports is what tests look at.
        }
    }

    private void answer(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.skipNBytes(Long.reverseBytes(in.readLong()));
        byte[] text = answer.getBytes(StandardCharsets.UTF_8);
        socket.getOutputStream()
                .write(
                        ByteBuffer.allocate(9 + text.length)
                                .order(ByteOrder.LITTLE_ENDIAN)
                                .putLong(1L + text.length)
                                .put((byte) 1)
                                .put(text)
                                .array());
    }

    String name() {
        return "127.0.0.1:" + rpc.getLocalPort();
    }

    /** What the handshake port answers from now on. */
    void answer(String text) {
        answer = text;
    }

    String descriptor(String protocol) {
        return descriptor(protocol, data.getLocalPort());
    }

    /** One that sends its readers to another port. */
    String descriptor(String protocol, int dataPort) {
        return "{\"buffers\":[],\"name\":\"%s\",\"protocol\":\"%s\",\"tcp_data_port\":%d,"
                        .formatted(name(), protocol, dataPort)
                + "\"tcp_proto_version\":2}\n";
    }

    @Override
    public void close() throws IOException {
        rpc.close();
        data.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
