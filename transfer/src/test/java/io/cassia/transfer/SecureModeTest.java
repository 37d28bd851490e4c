package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.Clock;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.testkit.KeyFiles;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Engines that prove who they are, and what becomes of those that do not. */
final class SecureModeTest {
    private static final String TOKEN = "the token of this cluster";

    @TempDir static Path directory;
    private static Path member = Path.of("");
    private static Path stranger = Path.of("");
    private static Path elsewhere = Path.of("");

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

    @BeforeAll
    static void makeKeys() throws Exception {
        member = KeyFiles.make(directory, "member", "ip:127.0.0.1,dns:localhost");
        stranger = KeyFiles.make(directory, "stranger", "ip:127.0.0.1");
        elsewhere = KeyFiles.make(directory, "elsewhere", "dns:elsewhere.example");
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
        arena.close();
    }

    private static Security as(Path file, String token) {
        return Security.mutual(file, file, KeyFiles.PASSWORD, token);
    }

    private static Security secure() {
        return as(member, TOKEN);
    }

    private TransferEngine start(Security security) {
        // A busy machine takes longer to answer than the default allows.
        return start(
                Peers.overTcp()
                        .withSecurity(security)
                        .withTimeouts(
                                TransferConfig.Timeouts.DEFAULT.withConnect(
                                        Duration.ofSeconds(30))));
    }

    private TransferEngine start(TransferConfig config) {
        TransferEngine engine = TransferEngine.start(config, Clock.system(), meters).orThrow();
        open.add(engine);
        return engine;
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?>(Code code, String detail)
                ? code
                : TransferCode.OK;
    }

    private static void assertRejected(Outcome<?> outcome, String detail) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code())
                                    .as(failed.toString())
                                    .isEqualTo(TransferCode.ERR_REJECT_HANDSHAKE);
                            assertThat(failed.detail()).contains(detail);
                        });
    }

    private RegisteredBuffer offer(TransferEngine engine, long bytes) {
        return engine.register(engine.allocate(bytes).orThrow().memory(), BufferOptions.DEFAULT)
                .orThrow();
    }

    @Test
    void members_move_bytes_and_messages() {
        TransferEngine target = start(secure());
        TransferEngine engine = start(secure());
        int[] lengths = {1, 4095, 16_383, 16_384, 16_385, 65_537, (1 << 20) + 1, 9 << 20};
        int total = java.util.Arrays.stream(lengths).sum();
        RegisteredBuffer buffer = offer(target, total);
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        MemorySegment local = arena.allocate(total);
        Peers.fill(local, 11);
        for (Opcode opcode : List.of(Opcode.WRITE, Opcode.READ)) {
            MemorySegment memory = opcode == Opcode.WRITE ? local : arena.allocate(total);
            List<TransferRequest> requests = new ArrayList<>();
            long at = 0;
            for (int length : lengths) {
                requests.add(
                        new TransferRequest(
                                opcode, memory.asSlice(at, length), handle, buffer.address() + at));
                at += length;
            }
            assertThat(engine.transfer(requests, Peers.DEADLINE)).allMatch(Outcome::isOk);
            assertThat(Peers.crc(buffer.memory())).isEqualTo(Peers.crc(memory));
        }
        List<TransferRequest> small = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            small.add(
                    new TransferRequest(
                            i % 2 == 0 ? Opcode.READ : Opcode.WRITE,
                            local.asSlice(i * 100L, 100),
                            handle,
                            buffer.address() + i * 100L));
        }
        small.add(new TransferRequest(Opcode.READ, arena.allocate(8), handle, 5));
        List<Outcome<Done>> ends = engine.transfer(small, Peers.DEADLINE);
        assertThat(ends.subList(0, 500)).allMatch(Outcome::isOk);
        assertThat(code(ends.getLast())).isEqualTo(TransferCode.ERR_ADDRESS_NOT_REGISTERED);
        Notification hello = new Notification("me", "hello");
        assertThat(engine.sendNotification(handle, hello).isOk()).isTrue();
        assertThat(target.drainNotifications()).containsExactly(hello);
        assertThat(engine.probe(handle).isOk()).isTrue();
        assertThat(engine.remoteBuffers(handle).orThrow())
                .containsExactly(new RemoteBuffer(buffer.address(), total));
    }

    @Test
    void a_task_under_tls_can_be_cancelled_and_ends_at_its_deadline() {
        TransferEngine target = start(secure());
        TransferEngine engine = start(secure());
        RegisteredBuffer buffer = offer(target, 64 << 20);
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        TransferRequest read =
                new TransferRequest(
                        Opcode.READ, arena.allocate(64 << 20), handle, buffer.address());
        try (Batch batch = engine.allocateBatch(40).orThrow()) {
            assertThat(batch.submit(java.util.Collections.nCopies(40, read)).isOk()).isTrue();
            assertThat(batch.cancel().isOk()).isTrue();
            assertThat(batch.status().state()).isEqualTo(TransferState.CANCELED);
        }
        assertThat(
                        engine.transfer(
                                        List.of(
                                                new TransferRequest(
                                                        Opcode.READ,
                                                        arena.allocate(64),
                                                        handle,
                                                        buffer.address())),
                                        Peers.DEADLINE)
                                .getFirst()
                                .isOk())
                .isTrue();
    }

    @Test
    void a_plain_engine_is_refused_on_both_ports_with_the_reason() throws Exception {
        TransferEngine target = start(secure());
        RegisteredBuffer buffer = offer(target, 4096);
        TransferEngine plain = start(Peers.overTcp());
        assertRejected(plain.openSegment(target.localName()), "secure mode");
        assertRejected(plain.probe(target.localName()), "secure mode");
        assertRejected(
                plain.sendNotification(target.localName(), new Notification("", "x")),
                "secure mode");
        assertThat(target.drainNotifications()).isEmpty();
        try (PeerStandIn guide = new PeerStandIn(2, PeerStandIn.Connection::awaitEnd)) {
            guide.answer(guide.descriptor("tcp", target.dataPort(), 2));
            SegmentHandle handle = plain.openSegment(guide.name()).orThrow();
            List<TransferRequest> requests = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                requests.add(
                        new TransferRequest(
                                i % 2 == 0 ? Opcode.READ : Opcode.WRITE,
                                arena.allocate(64),
                                handle,
                                buffer.address()));
            }
            assertThat(plain.transfer(requests, Peers.DEADLINE))
                    .allSatisfy(outcome -> assertRejected(outcome, "secure mode"));
            assertRejected(
                    plain.transfer(
                                    List.of(
                                            new TransferRequest(
                                                    Opcode.WRITE,
                                                    arena.allocate(32 << 20),
                                                    handle,
                                                    buffer.address())),
                                    Peers.DEADLINE)
                            .getFirst(),
                    "secure mode");
        }
        assertThat(
                        meters.get("cassia.transfer.handshake.dropped")
                                .tag("reason", "plain")
                                .counter()
                                .count())
                .isEqualTo(3);
        assertThat(
                        meters.get("cassia.transfer.server.closed")
                                .tag("reason", "plain")
                                .counter()
                                .count())
                .as("one for each call; a large body may break before its refusal is read")
                .isBetween(2.0, 4.0);
    }

    @Test
    void plain_bytes_get_the_refusal_of_their_own_protocol() throws Exception {
        TransferEngine target = start(secure());
        RegisteredBuffer buffer = offer(target, 4096);
        try (RawClient client = new RawClient(target.dataPort())) {
            client.send(RawClient.header(0x80, 16, buffer.address()));
            assertThat(client.receiveAll()).isEqualTo(RawClient.hex("04000000 5654434d"));
        }
        try (RawClient client = new RawClient(target.dataPort())) {
            client.send(RawClient.header(0x81, 4, buffer.address()), new byte[4]);
            assertThat(client.receiveAll()).isEqualTo(RawClient.hex("04000000 5654434d"));
        }
        for (int opcode : List.of(0x00, 0x01)) {
            try (RawClient client = new RawClient(target.dataPort())) {
                client.send(RawClient.header(opcode, 4, buffer.address()), new byte[4]);
                assertThat(client.end(5000)).isNotEqualTo(RawClient.End.OPEN);
            }
        }
        for (int type = 0; type < 4; type++) {
            try (RawClient client = new RawClient(target.rpcPort())) {
                client.send(RawClient.hex("0400000000000000 0" + type + " 7b7d0a"));
                byte[] reply = client.receiveAll();
                assertThat(reply[8]).isEqualTo((byte) type);
                assertThat(new String(reply, 9, reply.length - 9, StandardCharsets.UTF_8))
                        .contains("\"reply_msg\":\"this engine is in secure mode");
            }
        }
        try (RawClient client = new RawClient(target.rpcPort())) {
            client.send(RawClient.hex("0d00000000000000 7b2271705f6e756d223a5b5d7d"));
            byte[] reply = client.receiveAll();
            assertThat(ByteBuffer.wrap(reply).order(ByteOrder.LITTLE_ENDIAN).getLong())
                    .isEqualTo(reply.length - 8);
            assertThat(new String(reply, 8, reply.length - 8, StandardCharsets.UTF_8))
                    .contains("secure mode");
        }
    }

    @Test
    void a_secure_engine_does_not_speak_to_a_plain_one() throws IOException {
        TransferEngine plain = start(Peers.overTcp());
        TransferEngine engine = start(secure());
        assertRejected(engine.openSegment(plain.localName()), "secure mode");
        assertRejected(engine.probe(plain.localName()), "secure mode");
        TransferEngine brief =
                start(
                        Peers.overTcp()
                                .withSecurity(secure())
                                .withTimeouts(
                                        TransferConfig.Timeouts.DEFAULT.withStall(
                                                Duration.ofMillis(300))));
        try (PeerStandIn mute = new PeerStandIn(2, PeerStandIn.Connection::answerAll)) {
            assertThat(code(brief.openSegment(mute.name()))).isEqualTo(TransferCode.ERR_SOCKET);
        }
    }

    @Test
    void whoever_has_another_token_certificate_or_host_is_rejected_by_either_side() {
        TransferEngine target = start(secure());
        assertRejected(
                start(as(member, "another token altogether")).openSegment(target.localName()),
                "cluster token");
        TransferEngine outsider = start(as(stranger, TOKEN));
        assertRejected(outsider.openSegment(target.localName()), "secure mode");
        // Trusts the target, but is not trusted by it.
        TransferEngine unknown = start(Security.mutual(stranger, member, KeyFiles.PASSWORD, TOKEN));
        assertRejected(unknown.openSegment(target.localName()), "certificate");
        TransferEngine misplaced = start(as(elsewhere, TOKEN));
        assertRejected(start(as(elsewhere, TOKEN)).openSegment(misplaced.localName()), "127.0.0.1");
        TransferEngine lenient =
                start(new Security.Mutual(elsewhere, elsewhere, KeyFiles.PASSWORD, TOKEN, false));
        assertThat(lenient.openSegment(misplaced.localName()).isOk()).isTrue();
    }

    @Test
    void a_silent_visitor_is_shown_out() throws Exception {
        TransferEngine target =
                start(
                        Peers.overTcp()
                                .withSecurity(secure())
                                .withTimeouts(
                                        TransferConfig.Timeouts.DEFAULT.withConnect(
                                                Duration.ofMillis(100))));
        for (int port : List.of(target.dataPort(), target.rpcPort())) {
            try (RawClient client = new RawClient(port)) {
                client.send(RawClient.hex("160301"));
                assertThat(client.end(5000)).isNotEqualTo(RawClient.End.OPEN);
            }
        }
        // Looks like TLS, and is none.
        for (int port : List.of(target.dataPort(), target.rpcPort())) {
            try (RawClient client = new RawClient(port)) {
                client.send(RawClient.hex("1603010200010000fc0303"), new byte[600]);
                byte[] alert = client.receiveAll();
                assertThat(alert).hasSizeLessThan(16);
            } catch (SocketException e) {
                assertThat(e).hasMessageContaining("reset");
            }
        }
    }

    @Test
    void a_neighbour_of_another_cluster_is_not_reached_by_a_copy() {
        TransferConfig near = TransferConfig.p2p("127.0.0.1");
        TransferEngine target = start(near.withSecurity(secure()));
        assertRejected(start(near).openSegment(target.localName()), "secure mode");
        TransferEngine sibling = start(near.withSecurity(secure()));
        SegmentHandle handle = sibling.openSegment(target.localName()).orThrow();
        RegisteredBuffer buffer = offer(target, 64);
        assertThat(
                        sibling.transfer(
                                        List.of(
                                                new TransferRequest(
                                                        Opcode.WRITE,
                                                        arena.allocate(64),
                                                        handle,
                                                        buffer.address())),
                                        Peers.DEADLINE)
                                .getFirst()
                                .isOk())
                .isTrue();
        assertThat(sibling.links().peers())
                .as("no socket was needed")
                .allMatch(peer -> peer.transport().equals("local") && peer.lanes() == 0);
    }

    @Test
    void files_that_cannot_be_used_stop_the_start_and_secrets_stay_secret() {
        for (Security broken :
                List.of(
                        as(directory.resolve("missing.p12"), TOKEN),
                        as(directory.resolve("member.log"), TOKEN),
                        Security.mutual(member, member, "wrong", TOKEN))) {
            Outcome<TransferEngine> started =
                    TransferEngine.start(
                            Peers.overTcp().withSecurity(broken), Clock.system(), meters);
            assertThat(code(started)).isEqualTo(TransferCode.ERR_CONTEXT);
        }
        assertThat(Peers.overTcp().withSecurity(secure()).toString())
                .contains("member.p12")
                .doesNotContain(TOKEN)
                .doesNotContain(KeyFiles.PASSWORD);
        assertThatThrownBy(() -> as(member, "short")).isInstanceOf(IllegalArgumentException.class);
    }
}
