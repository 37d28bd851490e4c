package io.cassia.testkit;

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
 * What stands at the address of a transfer engine and is none: a handshake port that answers one
 * text, and a data port whose connections follow a script. Guarded: a thread per connection.
 */
public final class EngineStandIn implements AutoCloseable {
    private static final byte CONNECTION = 1;

    private final ServerSocket handshakes;
    private final ServerSocket data;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    /** What happens on a connection; what it throws ends it. */
    public interface Script {
        void serve(Socket socket) throws IOException;
    }

    /** What a handshake is answered with. */
    public interface Answer {
        String text() throws IOException;
    }

    /** Both ports, on which nobody is served yet. */
    public EngineStandIn() throws IOException {
        handshakes = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        data = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    /** Serves from now on. */
    public void start(Answer answer, Script script) {
        Thread.ofPlatform()
                .daemon()
                .start(() -> accept(handshakes, socket -> answer(socket, answer)));
        Thread.ofPlatform().daemon().start(() -> accept(data, script));
    }

    /** Its name as a peer's segment. */
    public String name() {
        return "127.0.0.1:" + handshakes.getLocalPort();
    }

    public int dataPort() {
        return data.getLocalPort();
    }

    /** A descriptor that sends its readers to a port; version 0 leaves the member out. */
    public String descriptor(String protocol, int port, int version) {
        return "{\"name\":\"%s\",\"protocol\":\"%s\",\"tcp_data_port\":%d,%s\"buffers\":[]}\n"
                .formatted(
                        name(),
                        protocol,
                        port,
                        version == 0 ? "" : "\"tcp_proto_version\":" + version + ",");
    }

    private void accept(ServerSocket listener, Script script) {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                sockets.add(socket);
                if (listener.isClosed()) {
                    // Closed meanwhile, and this one not seen.
                    socket.close();
                }
                Thread.ofPlatform().daemon().start(() -> serve(socket, script));
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void serve(Socket socket, Script script) {
        try (socket) {
            socket.setTcpNoDelay(true);
            script.serve(socket);
        } catch (IOException e) {
            // The other end has closed; what it saw is what tests look at.
        }
    }

    private static void answer(Socket socket, Answer answer) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.skipNBytes(Long.reverseBytes(in.readLong()));
        byte[] text = answer.text().getBytes(StandardCharsets.UTF_8);
        socket.getOutputStream()
                .write(
                        ByteBuffer.allocate(Long.BYTES + 1 + text.length)
                                .order(ByteOrder.LITTLE_ENDIAN)
                                .putLong(1L + text.length)
                                .put(CONNECTION)
                                .put(text)
                                .array());
    }

    @Override
    public void close() throws IOException {
        handshakes.close();
        data.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
