package io.cassia.transfer;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A hand-made target: a handshake port that answers one descriptor, and a data port whose
 * connections are served by a script. Guarded: scripts run on a thread per connection.
 */
final class PeerStandIn implements AutoCloseable {
    /** First address of its memory: above 2^63, as C++ peers may have it. */
    static final long BASE = 0x8000_0000_0000_0000L;

    static final int MEMORY_BYTES = 8 << 20;

    /** What happens on one data connection. */
    interface Script {
        void serve(Connection connection) throws IOException;
    }

    private final ServerSocket rpc;
    private final ServerSocket data;
    private final Script script;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger rpcExchanges = new AtomicInteger();
    private final List<byte[]> headers = Collections.synchronizedList(new ArrayList<>());
    final byte[] memory = new byte[MEMORY_BYTES];
    private volatile String answer;
    private volatile CountDownLatch mayAnswer = new CountDownLatch(0);

    PeerStandIn(int version, Script script) throws IOException {
        this.rpc = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        this.data = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        this.script = script;
        this.answer = descriptor("tcp", data.getLocalPort(), version);
        new java.util.Random(1).nextBytes(memory);
        Thread.ofPlatform().daemon().start(() -> accept(rpc, this::answerDescriptor));
        Thread.ofPlatform().daemon().start(() -> accept(data, this::serve));
    }

    private interface Handler {
        void handle(Socket socket) throws IOException;
    }

    private void accept(ServerSocket listener, Handler handler) {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                sockets.add(socket);
                if (listener.isClosed()) {
                    // Closed meanwhile, and this one not seen.
                    socket.close();
                }
                Thread.ofPlatform().daemon().start(() -> run(handler, socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void run(Handler handler, Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            handler.handle(socket);
        } catch (IOException e) {
            // The engine has closed; what it saw is what tests look at.
        }
    }

    private void answerDescriptor(Socket socket) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        long length = Long.reverseBytes(in.readLong());
        in.skipNBytes(length);
        rpcExchanges.incrementAndGet();
        try {
            mayAnswer.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
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

    private void serve(Socket socket) throws IOException {
        script.serve(new Connection(connections.getAndIncrement(), socket));
    }

    String name() {
        return "127.0.0.1:" + rpc.getLocalPort();
    }

    int dataPort() {
        return data.getLocalPort();
    }

    /** When the handshake port answers from now on. */
    void answerAfter(CountDownLatch latch) {
        mayAnswer = latch;
    }

    /** What the handshake port answers from now on. */
    void answer(String text) {
        answer = text;
    }

    /** A descriptor; version 0 leaves the member out. */
    String descriptor(String protocol, int port, int version) {
        return "{\"name\":\"%s\",\"protocol\":\"%s\",\"tcp_data_port\":%d,%s\"buffers\":[]}\n"
                .formatted(
                        name(),
                        protocol,
                        port,
                        version == 0 ? "" : "\"tcp_proto_version\":" + version + ",");
    }

    /** Data connections so far. */
    int connections() {
        return connections.get();
    }

    /** Handshakes so far. */
    int rpcExchanges() {
        return rpcExchanges.get();
    }

    /** Request headers so far. */
    List<byte[]> headers() {
        return List.copyOf(headers);
    }

    @Override
    public void close() throws IOException {
        rpc.close();
        data.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    /** A request header. */
    record Request(long size, long address, int opcode) {
        boolean isWrite() {
            return (opcode & 0x7f) == 1;
        }

        boolean isAcknowledged() {
            return opcode >= 0x80;
        }
    }

    /** One data connection and the moves a peer can make on it. Confined to its thread. */
    final class Connection {
        final int number;
        final Socket socket;
        final DataInputStream in;
        final OutputStream out;

        Connection(int number, Socket socket) throws IOException {
            this.number = number;
            this.socket = socket;
            this.in = new DataInputStream(socket.getInputStream());
            this.out = socket.getOutputStream();
        }

        byte[] memory() {
            return memory;
        }

        Request request() throws IOException {
            byte[] header = new byte[24];
            in.readFully(header);
            headers.add(header);
            ByteBuffer fields = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
            return new Request(fields.getLong(0), fields.getLong(8), header[16] & 0xff);
        }

        boolean isInside(Request request) {
            long offset = request.address() - BASE;
            return offset >= 0 && request.size() > 0 && offset + request.size() <= MEMORY_BYTES;
        }

        void status(int code) throws IOException {
            out.write(
                    ByteBuffer.allocate(8)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .putLong(0x4D435456L << 32 | code)
                            .array());
        }

        void statusByteByByte(int code) throws IOException {
            byte[] frame =
                    ByteBuffer.allocate(8)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .putLong(0x4D435456L << 32 | code)
                            .array();
            for (byte b : frame) {
                out.write(b);
            }
        }

        void store(Request request) throws IOException {
            in.readFully(memory, (int) (request.address() - BASE), (int) request.size());
        }

        void sendBytes(Request request) throws IOException {
            int at = (int) (request.address() - BASE);
            int end = at + (int) request.size();
            // Slices as the C++ engine makes them.
            for (; at < end; at += 65536) {
                out.write(memory, at, Math.min(65536, end - at));
            }
        }

        /** Ends the connection with a reset. */
        void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }

        /** Waits until the engine closes. */
        void awaitEnd() throws IOException {
            while (in.read() >= 0) {
                // Nothing is answered.
            }
        }

        /** One request as the C++ engine answers it; false when it was rejected. */
        boolean answerOne() throws IOException {
            Request request = request();
            if (!isInside(request)) {
                if (request.isAcknowledged()) {
                    status(1);
                }
                return false;
            }
            if (request.isWrite()) {
                store(request);
                if (request.isAcknowledged()) {
                    status(0);
                }
            } else {
                if (request.isAcknowledged()) {
                    status(0);
                }
                sendBytes(request);
            }
            return true;
        }

        /** As the C++ engine does: status and data apart, rejection ends the connection. */
        void answerAll() throws IOException {
            try {
                while (answerOne()) {
                    // The next one.
                }
            } catch (EOFException e) {
                // The engine is done with this connection.
            }
        }
    }
}
