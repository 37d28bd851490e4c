package io.cassia.store;

import io.cassia.rpc.RpcClient;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Lends memory by the master's word, takes what is written and never answers: a node that was
 * stopped with the bytes in its socket. Guarded: a thread per connection.
 */
final class MuteNode implements AutoCloseable {
    private final ServerSocket handshakes;
    private final ServerSocket data;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicLong taken = new AtomicLong();
    private volatile Runnable beforeItIsFound = () -> {};
    private volatile boolean hangsUp;

    private interface Script {
        void serve(Socket socket) throws IOException;
    }

    private MuteNode() throws IOException {
        handshakes = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        data = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(() -> accept(handshakes, this::describe));
        Thread.ofPlatform().daemon().start(() -> accept(data, this::swallow));
    }

    /** One that has mounted so many bytes. */
    static MuteNode mounted(String host, int port, long bytes) throws IOException {
        MuteNode node = new MuteNode();
        try (RpcClient master = RpcClient.builder(host, port, new SimpleMeterRegistry()).build()) {
            Segment segment =
                    new Segment(
                            new Uuid(7, 1), node.name(), 1 << 20, bytes, node.name(), "tcp", "");
            master.callExpected(
                            MasterMethods.MOUNT_SEGMENT,
                            new Args.MountSegment(segment, new Uuid(7, 2)),
                            Duration.ofSeconds(20))
                    .orThrow();
            return node;
        } catch (RuntimeException e) {
            node.close();
            throw e;
        }
    }

    /** What happens while a client that meets it for the first time waits. */
    void beforeItIsFound(Runnable meanwhile) {
        beforeItIsFound = meanwhile;
    }

    /** From now on it closes a connection over which bytes come. */
    void hangUp() {
        hangsUp = true;
    }

    /** What it was sent, as far as it has looked. */
    long takenBytes() {
        return taken.get();
    }

    private String name() {
        return "127.0.0.1:" + handshakes.getLocalPort();
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
            // The client has closed; what it reports is what tests look at.
        }
    }

    private void swallow(Socket socket) throws IOException {
        byte[] bytes = new byte[64 << 10];
        int count = socket.getInputStream().read(bytes);
        while (count >= 0) {
            taken.addAndGet(count);
            if (hangsUp) {
                return;
            }
            count = socket.getInputStream().read(bytes);
        }
    }

    private void describe(Socket socket) throws IOException {
        beforeItIsFound.run();
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.skipNBytes(Long.reverseBytes(in.readLong()));
        byte[] text =
                "{\"buffers\":[],\"name\":\"%s\",\"protocol\":\"tcp\",\"tcp_data_port\":%d,\"tcp_proto_version\":2}\n"
                        .formatted(name(), data.getLocalPort())
                        .getBytes(StandardCharsets.UTF_8);
        socket.getOutputStream()
                .write(
                        ByteBuffer.allocate(9 + text.length)
                                .order(ByteOrder.LITTLE_ENDIAN)
                                .putLong(1L + text.length)
                                .put((byte) 1)
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
