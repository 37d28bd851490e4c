package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.topology.DeviceFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How an engine listens, and what it speaks. */
final class NetworkSettingsTest {
    private static TransferConfig with(TransferConfig.Network network) {
        return Peers.overTcp().withNetwork(network);
    }

    private static Outcome<TransferEngine> start(TransferConfig config) {
        return TransferEngine.start(config, Clock.system(), new SimpleMeterRegistry());
    }

    @Test
    void an_engine_listens_on_its_bind_address_alone() throws IOException {
        TransferConfig.Network network =
                TransferConfig.Network.DEFAULT.withBindAddress(Optional.of("127.0.0.2"));
        try (TransferEngine engine = Peers.engine(with(network))) {
            for (int port : new int[] {engine.rpcPort(), engine.dataPort()}) {
                new Socket(InetAddress.ofLiteral("127.0.0.2"), port).close();
                assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
                        .isInstanceOf(ConnectException.class);
            }
        }
        assertCode(
                start(with(network.withBindAddress(Optional.of("192.0.2.1")))),
                TransferCode.ERR_SOCKET);
    }

    @Test
    void a_handshake_beyond_the_limit_is_not_read() throws IOException {
        TransferConfig.Network network = TransferConfig.Network.DEFAULT.withHandshakeBytes(1024);
        try (TransferEngine engine = Peers.engine(with(network))) {
            assertThat(answered(engine, 1024)).isTrue();
            assertThat(answered(engine, 1025)).isFalse();
        }
    }

    private static boolean answered(TransferEngine engine, int frameBytes) throws IOException {
        byte[] body = "{}".getBytes(java.nio.charset.StandardCharsets.UTF_8);
        ByteBuffer frame = ByteBuffer.allocate(8 + frameBytes).order(ByteOrder.LITTLE_ENDIAN);
        frame.putLong(frameBytes).put((byte) 1).put(body);
        while (frame.hasRemaining()) {
            frame.put((byte) '\n');
        }
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), engine.rpcPort())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream().write(frame.array());
            return socket.getInputStream().read() >= 0;
        } catch (IOException e) {
            // Closed with our bytes unread.
            return false;
        }
    }

    @Test
    void version_1_is_spoken_when_it_is_asked_for() throws IOException {
        TransferConfig.Network network = TransferConfig.Network.DEFAULT.withTcpVersion(1);
        try (PeerStandIn peer =
                        new PeerStandIn(
                                2,
                                connection -> {
                                    PeerStandIn.Request request = connection.request();
                                    connection.store(request);
                                });
                TransferEngine engine = Peers.engine(with(network));
                Arena arena = Arena.ofConfined()) {
            SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
            MemorySegment local = arena.allocate(16);
            assertThat(
                            engine.transfer(
                                    List.of(
                                            new TransferRequest(
                                                    Opcode.WRITE, local, handle, PeerStandIn.BASE)),
                                    Peers.DEADLINE))
                    .containsExactly(Outcome.done());
            assertThat(peer.headers()).singleElement().satisfies(h -> assertThat(h[16]).isOne());
        }
    }

    @Test
    void descriptors_are_read_again_at_the_interval() throws IOException {
        TransferConfig.Network network =
                TransferConfig.Network.DEFAULT.withRefresh(Duration.ofMillis(20));
        try (PeerStandIn peer = new PeerStandIn(2, connection -> {});
                TransferEngine engine = Peers.engine(with(network))) {
            assertThat(engine.openSegment(peer.name()).isOk()).isTrue();
            Peers.eventually("read again", () -> peer.rpcExchanges() >= 4);
        }
    }

    @Test
    void rdma_without_a_device_is_told_by_its_code() {
        TransferConfig.Network network =
                TransferConfig.Network.DEFAULT
                        .withProtocol(TransferConfig.Protocol.RDMA)
                        .withDevices(DeviceFilter.parse("no-such-device"));
        assertCode(start(with(network)), TransferCode.ERR_DEVICE_NOT_FOUND);
    }

    @Test
    void a_metadata_store_of_an_unknown_kind_is_an_invalid_argument() {
        assertCode(
                start(TransferConfig.of("zookeeper://a:1", "127.0.0.1")),
                TransferCode.ERR_INVALID_ARGUMENT);
    }

    private static void assertCode(Outcome<?> outcome, TransferCode code) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class, failed -> assertThat(failed.code()).isEqualTo(code));
    }
}
