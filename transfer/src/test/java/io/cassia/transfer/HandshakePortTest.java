package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The handshake port from both ends. */
final class HandshakePortTest {
    private static final TransferConfig QUICK =
            Peers.overTcp()
                    .withTimeouts(
                            TransferConfig.Timeouts.DEFAULT
                                    .withConnect(Duration.ofMillis(150))
                                    .withStall(Duration.ofMillis(300)));

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final TransferEngine engine =
            TransferEngine.start(Peers.overTcp(), Clock.system(), meters).orThrow();

    @AfterEach
    void close() {
        engine.close();
    }

    private double dropped(String reason) {
        return dropped(meters, reason);
    }

    private static double dropped(SimpleMeterRegistry registry, String reason) {
        Counter counter =
                registry.find("cassia.transfer.handshake.dropped").tag("reason", reason).counter();
        return counter == null ? 0 : counter.count();
    }

    private static ByteString frame(long length, String payload) {
        byte[] bytes = payload.getBytes(StandardCharsets.ISO_8859_1);
        return ByteString.wrap(
                ByteBuffer.allocate(8 + bytes.length)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(length)
                        .put(bytes)
                        .array());
    }

    @Test
    void whoever_breaks_the_rules_is_closed_without_an_answer() throws IOException {
        record Bad(String name, ByteString bytes, String reason) {}
        for (Bad bad :
                List.of(
                        new Bad("no length", frame(0, ""), "bad-frame"),
                        new Bad("1 MiB and one", frame((1 << 20) + 1, "\1{}"), "bad-frame"),
                        new Bad("negative length", frame(-1, "\1{}"), "bad-frame"),
                        new Bad(
                                "HTTP",
                                ByteString.of("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
                                "bad-frame"),
                        new Bad(
                                "TLS",
                                ByteString.wrap(
                                        RawClient.hex("1603010200010001fc0303aaaaaaaaaaaaaaaa")),
                                "bad-frame"),
                        new Bad(
                                "big-endian",
                                ByteString.wrap(RawClient.hex("0000000000000003017b7d")),
                                "bad-frame"),
                        new Bad("malformed", frame(4, "\1{x\n"), "malformed-json"),
                        new Bad("no JSON at all", frame(1, "\1"), "malformed-json"),
                        new Bad("type 4", frame(4, "\4{}\n"), "malformed-json"),
                        new Bad("type 0x85", frame(4, "\205{}\n"), "malformed-json"),
                        new Bad("type 0xff", frame(4, "\377{}\n"), "malformed-json"),
                        new Bad("nested", frame(20001, "\1" + "[".repeat(20000)), "malformed-json"),
                        new Bad("typeless garbage", frame(4, "null"), ""))) {
            double before = dropped(bad.reason());
            try (RawClient client = new RawClient(engine.rpcPort())) {
                client.send(bad.bytes().array());
                if (bad.reason().isEmpty()) {
                    assertThat(client.receiveAll()).isNotEmpty();
                    continue;
                }
                assertThat(client.end(5000)).as(bad.name()).isNotEqualTo(RawClient.End.OPEN);
            }
            Peers.eventually(bad.name(), () -> dropped(bad.reason()) == before + 1);
        }
        try (RawClient client = new RawClient(engine.rpcPort())) {
            client.shutdownOutput();
            assertThat(client.receiveAll()).isEmpty();
        }
        try (RawClient client = new RawClient(engine.rpcPort())) {
            client.send(frame(10, "\1{}").array());
            client.shutdownOutput();
            assertThat(client.receiveAll()).isEmpty();
        }
    }

    @Test
    void slow_peers_are_ended_and_delay_nobody() throws IOException {
        SimpleMeterRegistry counted = new SimpleMeterRegistry();
        List<RawClient> slow = new ArrayList<>();
        // The good peer, too, has no longer than the slow ones, on a busy machine.
        TransferConfig brief =
                QUICK.withTimeouts(
                        TransferConfig.Timeouts.DEFAULT.withConnect(Duration.ofSeconds(1)));
        try (TransferEngine strict =
                TransferEngine.start(brief, Clock.system(), counted).orThrow()) {
            for (int i = 0; i < 50; i++) {
                RawClient client = new RawClient(strict.rpcPort());
                client.send(frame(100, "\1{").array());
                slow.add(client);
            }
            SegmentHandle handle = engine.openSegment(strict.localName()).orThrow();
            assertThat(engine.probe(handle).isOk()).isTrue();
            for (RawClient client : slow) {
                assertThat(client.end(5000)).isNotEqualTo(RawClient.End.OPEN);
            }
            Peers.eventually("counted", () -> dropped(counted, "timeout") == 50);
        } finally {
            for (RawClient client : slow) {
                client.close();
            }
        }
    }

    @Test
    void a_second_frame_is_ignored() throws IOException {
        try (RawClient client = new RawClient(engine.rpcPort())) {
            client.send(frame(4, "\3{}\n").array(), frame(4, "\3{}\n").array());
            assertThat(client.receiveAll()).hasSize(8 + 22);
        }
    }

    @Test
    void messages_reach_the_peer_in_order() {
        try (TransferEngine peer = Peers.engine(Peers.overTcp())) {
            SegmentHandle handle = peer.openSegment(engine.localName()).orThrow();
            for (int i = 0; i < 3; i++) {
                assertThat(
                                peer.sendNotification(
                                                handle,
                                                new Notification("peer \"1\"", "message\n" + i))
                                        .isOk())
                        .isTrue();
            }
            assertThat(engine.drainNotifications())
                    .containsExactly(
                            new Notification("peer \"1\"", "message\n0"),
                            new Notification("peer \"1\"", "message\n1"),
                            new Notification("peer \"1\"", "message\n2"));
        }
    }

    @Test
    void peers_over_IPv6_are_found_by_bracketed_names() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.ofLiteral("::1"))) {
            assumeThat(socket.isBound()).isTrue();
        } catch (IOException e) {
            assumeThat(false).as("IPv6 loopback: " + e).isTrue();
        }
        TransferConfig v6 = TransferConfig.p2p("::1").withTransports(Set.of(Transport.TCP));
        try (TransferEngine target = Peers.engine(v6);
                TransferEngine peer = Peers.engine(v6)) {
            assertThat(target.localName()).isEqualTo("[::1]:" + target.rpcPort());
            SegmentHandle handle = peer.openSegment(target.localName()).orThrow();
            Region region = target.allocate(100).orThrow();
            RegisteredBuffer buffer =
                    target.register(region.memory(), BufferOptions.DEFAULT).orThrow();
            Region local = peer.allocate(100).orThrow();
            assertThat(
                            peer.transfer(
                                    List.of(
                                            new TransferRequest(
                                                    Opcode.READ,
                                                    local.memory(),
                                                    handle,
                                                    buffer.address())),
                                    Peers.DEADLINE))
                    .allMatch(Outcome::isOk);
        }
    }

    @Test
    void each_way_to_miss_a_peer_has_its_code() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        assertOpenFails("", TransferCode.ERR_INVALID_ARGUMENT, "empty");
        assertOpenFails("///", TransferCode.ERR_INVALID_ARGUMENT, "empty");
        assertOpenFails("127.0.0.1:" + free, TransferCode.ERR_SOCKET, "refused");
        assertOpenFails("no-such-host.invalid:1", TransferCode.ERR_DNS, "no-such-host.invalid");
        // The network of documentation: nobody answers, or the host says so.
        assertOpenFails("192.0.2.1:9", TransferCode.ERR_SOCKET, "192.0.2.1");
    }

    @Test
    void each_bad_answer_has_its_code() throws IOException {
        Map<String, TransferCode> answers =
                Map.of(
                        "", TransferCode.ERR_MALFORMED_JSON,
                        "{", TransferCode.ERR_MALFORMED_JSON,
                        "null", TransferCode.ERR_METADATA,
                        "[]", TransferCode.ERR_METADATA,
                        "{}", TransferCode.ERR_METADATA,
                        "{\"name\":\"n\",\"protocol\":\"rdma\"}", TransferCode.ERR_NOT_IMPLEMENTED,
                        "{\"name\":\"n\",\"protocol\":\"tcp\"}", TransferCode.ERR_NOT_IMPLEMENTED);
        for (Map.Entry<String, TransferCode> answer : answers.entrySet()) {
            try (PeerStandIn peer = new PeerStandIn(2, PeerStandIn.Connection::answerAll)) {
                peer.answer(answer.getKey());
                assertOpenFails(peer.name(), answer.getValue(), peer.name());
                // A failure is not remembered.
                peer.answer(peer.descriptor("tcp", peer.dataPort(), 2));
                assertThat(engine.openSegment(peer.name()).isOk()).isTrue();
            }
        }
    }

    @Test
    void a_peer_that_closes_answers_another_type_or_never_is_a_socket_failure() throws IOException {
        record Bad(String detail, ByteString answer, boolean close) {}
        for (Bad bad :
                List.of(
                        new Bad("without an answer", ByteString.EMPTY, true),
                        new Bad("type 3 to type 1", frame(3, "\3{}"), true),
                        new Bad("closed after 2 of 9", frame(9, "\1{"), true),
                        new Bad("length", frame(0, ""), true),
                        new Bad("no answer within", ByteString.EMPTY, false),
                        new Bad("no answer within", frame(9, "\1{"), false))) {
            try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                Thread server =
                        Thread.ofPlatform()
                                .daemon()
                                .start(
                                        () -> {
                                            try (var socket = listener.accept()) {
                                                // Enough of the request to answer it.
                                                socket.getInputStream().skipNBytes(20);
                                                socket.getOutputStream()
                                                        .write(bad.answer().array());
                                                if (!bad.close()) {
                                                    socket.getInputStream().readAllBytes();
                                                }
                                            } catch (IOException e) {
                                                // The engine has given up.
                                            }
                                        });
                assertThat(server.isDaemon()).isTrue();
                try (TransferEngine quick =
                        TransferEngine.start(QUICK, Clock.system(), meters).orThrow()) {
                    assertOpenFails(
                            bad.close() ? engine : quick,
                            "127.0.0.1:" + listener.getLocalPort(),
                            TransferCode.ERR_SOCKET,
                            bad.close() && bad.detail().contains("without") ? "" : bad.detail());
                }
            }
        }
    }

    private void assertOpenFails(String name, TransferCode code, String detail) {
        assertOpenFails(engine, name, code, detail);
    }

    private static void assertOpenFails(
            TransferEngine from, String name, TransferCode code, String detail) {
        assertThat(from.openSegment(name))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).as(failed.toString()).isEqualTo(code);
                            if (!detail.isEmpty()) {
                                assertThat(failed.detail()).contains(detail);
                            }
                        });
    }
}
