package io.cassia.datadist;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.datadist.link.ClusterInfo;
import io.cassia.status.LlmStatus;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Guarded. A peer written from the drawings of the protocol, byte by byte: it shakes hands like a
 * prompt, and then answers only what a test tells it to.
 */
final class ScriptedPrompt implements AutoCloseable {
    static final int HELLO = 1;
    static final int CHALLENGE = 2;
    static final int PROOF = 3;
    static final int READY = 4;
    static final int CONFIRM = 5;
    static final int UNLINK = 7;
    static final int STATUS = 8;
    static final int PULL = 16;
    static final int GRANT = 17;

    private final long clusterId;
    private final TransferEngine engine;
    private final ServerSocket server;
    private final List<Integer> requests = new CopyOnWriteArrayList<>();
    private volatile Optional<LlmStatus> unlinkAnswer = Optional.empty();
    private volatile @Nullable Answer pullAnswer;
    private volatile @Nullable Socket peer;

    private record Answer(int type, ByteString body) {}

    ScriptedPrompt(long clusterId) throws IOException {
        this.clusterId = clusterId;
        this.engine =
                TransferEngine.start(
                                TransferConfig.p2p("127.0.0.1"),
                                Clock.system(),
                                new SimpleMeterRegistry())
                        .orThrow();
        this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("scripted-prompt").start(this::serve);
    }

    ClusterInfo info() {
        return ClusterInfo.of(clusterId, "127.0.0.1", server.getLocalPort());
    }

    /** Types of the requests that came after the handshake. */
    List<Integer> requests() {
        return requests;
    }

    /** Nobody can open its memory from now on. */
    void closeEngine() {
        engine.close();
    }

    void answerUnlinkWith(LlmStatus status) {
        unlinkAnswer = Optional.of(status);
    }

    void answerPullWith(int type, int... body) {
        byte[] bytes = new byte[body.length];
        for (int i = 0; i < body.length; i++) {
            bytes[i] = (byte) body[i];
        }
        pullAnswer = new Answer(type, ByteString.wrap(bytes));
    }

    private void serve() {
        try (Socket socket = server.accept()) {
            peer = socket;
            DataInputStream in = new DataInputStream(socket.getInputStream());
            expect(in, HELLO);
            write(socket, CHALLENGE, 0, false, challenge());
            expect(in, PROOF);
            write(socket, READY, 0, false, new byte[0]);
            expect(in, CONFIRM);
            while (true) {
                long[] request = read(in);
                requests.add((int) request[0]);
                if (request[0] == UNLINK && unlinkAnswer.isPresent()) {
                    byte[] body =
                            ByteBuffer.allocate(5)
                                    .putInt(unlinkAnswer.get().number())
                                    .put((byte) 0)
                                    .array();
                    write(socket, STATUS, request[1], true, body);
                }
                Answer answer = pullAnswer;
                if (request[0] == PULL && answer != null) {
                    write(socket, answer.type(), request[1], true, answer.body().array());
                }
            }
        } catch (IOException e) {
            // The other end has gone, or the test has ended.
        }
    }

    private byte[] challenge() {
        byte[] name = engine.localName().getBytes(StandardCharsets.US_ASCII);
        ByteBuffer body = ByteBuffer.allocate(1 + 16 + 1 + 8 + 1 + 8 + 1 + 1 + 1 + name.length);
        body.put((byte) 16).put(new byte[16]).put((byte) 0);
        body.putLong(clusterId).put((byte) 1).putLong(42).put((byte) 1).put((byte) 0);
        return body.put((byte) name.length).put(name).array();
    }

    private static void expect(DataInputStream in, int type) throws IOException {
        long[] frame = read(in);
        if (frame[0] != type) {
            throw new IOException("frame " + frame[0] + " instead of " + type);
        }
    }

    /** Type and request number. */
    private static long[] read(DataInputStream in) throws IOException {
        int magic = in.readInt();
        int versionTypeFlags = in.readInt();
        long requestId = in.readLong();
        byte[] body = in.readNBytes(in.readInt());
        if (magic != 0x43444401 || versionTypeFlags >>> 24 != 1 || body.length > 1 << 20) {
            throw new IOException("not a frame");
        }
        return new long[] {(versionTypeFlags >>> 16) & 0xFF, requestId};
    }

    private static void write(Socket socket, int type, long requestId, boolean answer, byte[] body)
            throws IOException {
        socket.getOutputStream()
                .write(
                        ByteBuffer.allocate(20 + body.length)
                                .putInt(0x43444401)
                                .put((byte) 1)
                                .put((byte) type)
                                .putShort((short) (answer ? 1 : 0))
                                .putLong(requestId)
                                .putInt(body.length)
                                .put(body)
                                .array());
    }

    @Override
    public void close() throws IOException {
        engine.close();
        server.close();
        Socket open = peer;
        if (open != null) {
            open.close();
        }
    }
}
