package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of the list of section 15 of the specification, and peers that behave as some do. */
final class InteropListTest {
    private static final int READ1 = 0x00;
    private static final int WRITE1 = 0x01;
    private static final int READ2 = 0x80;
    private static final int WRITE2 = 0x81;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
        arena.close();
    }

    private TransferEngine start(TransferConfig config) {
        TransferEngine engine = Peers.engine(config);
        open.add(engine);
        return engine;
    }

    private static RegisteredBuffer offer(TransferEngine engine, long bytes) {
        return engine.register(engine.allocate(bytes).orThrow().memory(), BufferOptions.DEFAULT)
                .orThrow();
    }

    private TransferRequest request(
            Opcode opcode, SegmentHandle target, long address, long length) {
        return new TransferRequest(opcode, arena.allocate(length), target, address);
    }

    private static Outcome<Done> run(TransferEngine engine, TransferRequest request) {
        return engine.transfer(List.of(request), Peers.DEADLINE).getFirst();
    }

    private static void assertFailed(Outcome<?> outcome, TransferCode code, String detail) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(code);
                            assertThat(failed.detail()).contains(detail);
                        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_client_without_a_pool_makes_a_connection_per_request(boolean acknowledged)
            throws IOException {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        TransferEngine target =
                TransferEngine.start(Peers.overTcp(), Clock.system(), meters).orThrow();
        open.add(target);
        RegisteredBuffer buffer = offer(target, 4096);
        for (int i = 0; i < 200; i++) {
            long at = buffer.address() + i * 8L;
            byte[] bytes = {(byte) i, 1, 2, 3, 4, 5, 6, 7};
            int offset = i * 8;
            try (RawClient client = new RawClient(target.dataPort())) {
                client.send(RawClient.header(acknowledged ? WRITE2 : WRITE1, 8, at), bytes);
                if (acknowledged) {
                    assertThat(client.receive(8)).isEqualTo(RawClient.hex("000000005654434d"));
                }
            }
            Peers.eventually(
                    "stored",
                    () ->
                            buffer.memory().get(ValueLayout.JAVA_BYTE, offset + 7) == 7
                                    && buffer.memory().get(ValueLayout.JAVA_BYTE, offset)
                                            == bytes[0]);
            try (RawClient client = new RawClient(target.dataPort())) {
                client.send(RawClient.header(acknowledged ? READ2 : READ1, 8, at));
                byte[] answer = client.receive(acknowledged ? 16 : 8);
                assertThat(answer).endsWith(bytes);
            }
        }
        Peers.eventually(
                "closed with their clients",
                () -> meters.get("cassia.transfer.server.connections").gauge().value() == 0);
    }

    @Test
    void ten_thousand_buffers_are_found_though_they_make_a_descriptor_beyond_a_mebibyte() {
        int count = 12_000;
        TransferEngine target = start(Peers.overTcp());
        TransferEngine engine = start(Peers.overTcp());
        MemorySegment memory = target.allocate(count * 128L).orThrow().memory();
        List<MemorySegment> pieces = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            pieces.add(memory.asSlice(i * 128L, 64));
        }
        assertThat(target.register(pieces, BufferOptions.DEFAULT).isOk()).isTrue();
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        List<RemoteBuffer> found = engine.remoteBuffers(handle).orThrow();
        assertThat(found)
                .hasSize(count)
                .element(count - 1)
                .isEqualTo(new RemoteBuffer(memory.address() + (count - 1) * 128L, 64));
        Outcome<Done> last =
                run(engine, request(Opcode.WRITE, handle, found.getLast().address(), 64));
        assertThat(last).isEqualTo(Outcome.done());
        assertFailed(
                run(engine, request(Opcode.WRITE, handle, found.getLast().address() + 1, 64)),
                TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                "no registered buffer");
        // The other way round the descriptor is the hint of the one who asks.
        assertThat(target.openSegment(engine.localName()).isOk()).isTrue();
    }

    @Test
    void a_connection_that_is_lost_in_the_middle_of_a_body_fails_the_write() throws IOException {
        PeerStandIn peer =
                new PeerStandIn(
                        2,
                        connection -> {
                            PeerStandIn.Request request = connection.request();
                            connection.in.readFully(
                                    connection.memory(), 0, (int) request.size() / 2);
                            connection.reset();
                        });
        open.add(peer);
        TransferEngine engine = start(Peers.overTcp());
        SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
        TransferRequest write = request(Opcode.WRITE, handle, PeerStandIn.BASE, 1 << 20);
        write.local().fill((byte) 6);
        assertFailed(run(engine, write), TransferCode.ERR_SOCKET, "connection to segment");
        assertThat(peer.memory[(1 << 19) - 1]).as("the prefix").isEqualTo((byte) 6);
        assertThat(peer.connections()).as("tried twice").isEqualTo(2);
    }

    @Test
    void a_version_that_is_not_known_yet_is_spoken_to_as_version_2() throws IOException {
        PeerStandIn peer = new PeerStandIn(7, PeerStandIn.Connection::answerAll);
        open.add(peer);
        TransferEngine engine = start(Peers.overTcp());
        SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
        TransferRequest read = request(Opcode.READ, handle, PeerStandIn.BASE, 64);
        assertThat(run(engine, read)).isEqualTo(Outcome.done());
        assertThat(peer.headers().getFirst()[16]).isEqualTo((byte) READ2);
    }

    @Test
    void a_slow_peer_has_all_the_time_as_long_as_bytes_move() throws IOException {
        int pieces = 12;
        PeerStandIn peer =
                new PeerStandIn(
                        2,
                        connection -> {
                            PeerStandIn.Request request = connection.request();
                            connection.status(0);
                            int piece = (int) request.size() / pieces;
                            for (int i = 0; i < pieces; i++) {
                                pause(connection, 100);
                                connection.out.write(connection.memory(), i * piece, piece);
                            }
                            connection.answerAll();
                        });
        open.add(peer);
        TransferConfig strict =
                Peers.overTcp()
                        .withTimeouts(
                                TransferConfig.Timeouts.DEFAULT.withStall(Duration.ofSeconds(1)));
        TransferEngine engine = start(strict);
        SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
        TransferRequest read = request(Opcode.READ, handle, PeerStandIn.BASE, 12 << 10);
        assertThat(run(engine, read)).as("longer than a stall").isEqualTo(Outcome.done());
        assertThat(peer.connections()).isEqualTo(1);
    }

    /** Lets time pass on the peer's side, while it listens. */
    private static void pause(PeerStandIn.Connection connection, int millis) throws IOException {
        connection.socket.setSoTimeout(millis);
        try {
            assertThat(connection.in.read()).as("nothing is expected").isNegative();
        } catch (SocketTimeoutException e) {
            connection.socket.setSoTimeout(0);
        }
    }

    /** A listener whose queue is full: the kernel drops what comes, and says nothing. */
    private final class Silent implements AutoCloseable {
        private final ServerSocket listener =
                new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final List<Socket> queue = new ArrayList<>();

        Silent() throws IOException {
            try {
                while (queue.size() < 64) {
                    Socket socket = new Socket();
                    queue.add(socket);
                    socket.connect(
                            new InetSocketAddress(
                                    InetAddress.getLoopbackAddress(), listener.getLocalPort()),
                            200);
                }
            } catch (SocketTimeoutException e) {
                // Full.
            }
            open.add(this);
        }

        int port() {
            return listener.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            listener.close();
            for (Socket socket : queue) {
                socket.close();
            }
        }
    }

    @Test
    void a_peer_that_refuses_fails_at_once_and_one_that_is_silent_after_the_connect_time_alone()
            throws Exception {
        Silent silent = new Silent();
        PeerStandIn fine = new PeerStandIn(2, PeerStandIn.Connection::answerAll);
        open.add(fine);
        PeerStandIn dropping = new PeerStandIn(2, PeerStandIn.Connection::answerAll);
        open.add(dropping);
        dropping.answer(dropping.descriptor("tcp", silent.port(), 2));
        PeerStandIn refusing = new PeerStandIn(2, PeerStandIn.Connection::answerAll);
        open.add(refusing);
        int free;
        try (ServerSocket probe = new ServerSocket(0)) {
            free = probe.getLocalPort();
        }
        refusing.answer(refusing.descriptor("tcp", free, 2));
        TransferEngine engine =
                start(
                        Peers.overTcp()
                                .withTimeouts(
                                        TransferConfig.Timeouts.DEFAULT.withConnect(
                                                Duration.ofMillis(1500))));
        SegmentHandle toDropping = engine.openSegment(dropping.name()).orThrow();
        SegmentHandle toRefusing = engine.openSegment(refusing.name()).orThrow();
        SegmentHandle toFine = engine.openSegment(fine.name()).orThrow();
        CompletableFuture<Outcome<Done>> dropped =
                CompletableFuture.supplyAsync(
                        () -> run(engine, request(Opcode.READ, toDropping, PeerStandIn.BASE, 8)),
                        task -> Thread.ofPlatform().start(task));
        assertFailed(
                run(engine, request(Opcode.READ, toRefusing, PeerStandIn.BASE, 8)),
                TransferCode.ERR_SOCKET,
                "refused");
        for (int i = 0; i < 10; i++) {
            assertThat(run(engine, request(Opcode.READ, toFine, PeerStandIn.BASE, 8)))
                    .isEqualTo(Outcome.done());
        }
        assertThat(dropped).as("the silent one is still waited for").isNotDone();
        assertFailed(dropped.get(), TransferCode.ERR_SOCKET, "timed out");
    }

    @Test
    void a_thousand_peers_cost_no_thread_of_the_initiator_and_few_of_the_target() {
        int peers = 1000;
        TransferEngine target =
                start(
                        Peers.overTcp()
                                .withNetwork(
                                        TransferConfig.Network.DEFAULT.withBindAddress(
                                                java.util.Optional.of("0.0.0.0"))));
        RegisteredBuffer buffer = offer(target, 64);
        TransferEngine engine = start(Peers.overTcp());
        int before = platformThreads();
        for (int i = 0; i < peers; i++) {
            // Each is a peer with lanes of its own, though one process answers for all.
            String name = "127.0.%d.%d:%d".formatted(1 + i / 200, 1 + i % 200, target.rpcPort());
            SegmentHandle handle = engine.openSegment(name).orThrow();
            assertThat(run(engine, request(Opcode.READ, handle, buffer.address(), 8)))
                    .isEqualTo(Outcome.done());
        }
        assertThat(engine.links().peers())
                .hasSize(peers)
                .allMatch(peer -> peer.lanes() == 1 && peer.state().equals("idle"));
        assertThat(platformThreads() - before).isLessThanOrEqualTo(256 + 16);
    }

    private static int platformThreads() {
        return java.lang.management.ManagementFactory.getThreadMXBean().getThreadCount();
    }
}
