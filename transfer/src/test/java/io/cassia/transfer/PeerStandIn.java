package io.cassia.transfer;

import io.cassia.testkit.EngineStandIn;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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

    private final EngineStandIn engine = new EngineStandIn();
    private final Script script;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger rpcExchanges = new AtomicInteger();
    private final List<byte[]> headers = Collections.synchronizedList(new ArrayList<>());
    final byte[] memory = new byte[MEMORY_BYTES];
    private volatile String answer;
    private volatile CountDownLatch mayAnswer = new CountDownLatch(0);

    PeerStandIn(int version, Script script) throws IOException {
        this.script = script;
        this.answer = descriptor("tcp", dataPort(), version);
        new java.util.Random(1).nextBytes(memory);
        engine.start(this::describe, this::serve);
    }

    private String describe() throws IOException {
        rpcExchanges.incrementAndGet();
        try {
            mayAnswer.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        return answer;
    }

    private void serve(Socket socket) throws IOException {
        script.serve(new Connection(connections.getAndIncrement(), socket));
    }

    String name() {
        return engine.name();
    }

    int dataPort() {
        return engine.dataPort();
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
        return engine.descriptor(protocol, port, version);
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
        engine.close();
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
