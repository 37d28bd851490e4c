package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.transfer.RawClient.End;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** This engine as target, against hand-made initiators. */
final class DataServerTest {
    private static final byte[] OK = RawClient.hex("000000005654434d");
    private static final byte[] REJECTED = RawClient.hex("010000005654434d");
    private static final byte[] DRAINING = RawClient.hex("030000005654434d");
    private static final int READ1 = 0x00;
    private static final int WRITE1 = 0x01;
    private static final int READ2 = 0x80;
    private static final int WRITE2 = 0x81;
    private static final int REGION_BYTES = 8 << 20;

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final TransferEngine target =
            TransferEngine.start(
                            Peers.overTcp()
                                    .withTimeouts(
                                            TransferConfig.Timeouts.DEFAULT.withDrain(
                                                    Duration.ofMillis(100))),
                            Clock.system(),
                            meters)
                    .orThrow();
    private final Region region = target.allocate(REGION_BYTES).orThrow();
    private final RegisteredBuffer buffer =
            target.register(region.memory(), BufferOptions.DEFAULT).orThrow();
    private final long base = buffer.address();

    @AfterEach
    void close() {
        target.close();
    }

    private RawClient connect() throws IOException {
        return new RawClient(target.dataPort());
    }

    private double count(String name, String tag, String value) {
        Counter counter = meters.find(name).tag(tag, value).counter();
        return counter == null ? 0 : counter.count();
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void versions_may_be_mixed_on_a_connection_and_arrive_byte_by_byte() throws IOException {
        try (RawClient client = connect()) {
            client.sendByteByByte(
                    RawClient.concat(RawClient.header(WRITE2, 5, base), text("hello")));
            assertThat(client.receive(8)).isEqualTo(OK);
            client.sendByteByByte(
                    RawClient.concat(RawClient.header(WRITE1, 5, base + 5), text("world")));
            client.sendByteByByte(RawClient.header(READ1, 10, base));
            assertThat(client.receive(10)).isEqualTo(text("helloworld"));
            client.sendByteByByte(RawClient.header(READ2, 3, base + 2));
            assertThat(client.receive(11)).isEqualTo(RawClient.concat(OK, text("llo")));
        }
    }

    @Test
    void opcodes_that_are_not_known_read() throws IOException {
        Peers.fill(region.memory().asSlice(0, 16), 3);
        byte[] bytes = region.memory().asSlice(0, 16).toArray(ValueLayout.JAVA_BYTE);
        try (RawClient client = connect()) {
            client.send(RawClient.header(0x05, 16, base), RawClient.header(0x87, 16, base));
            assertThat(client.receive(40)).isEqualTo(RawClient.concat(bytes, OK, bytes));
        }
    }

    @Test
    void requests_sent_at_once_are_answered_in_order_and_see_each_other() throws IOException {
        try (RawClient client = connect()) {
            List<byte[]> requests = new ArrayList<>();
            List<byte[]> answers = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                byte[] old = text("%08d".formatted(i == 0 ? 0 : i - 1));
                byte[] now = text("%08d".formatted(i));
                if (i == 0) {
                    MemorySegment.copy(
                            MemorySegment.ofArray(old), 0, region.memory(), 100, old.length);
                }
                // A READ before a WRITE of the same bytes shows the old ones, one after it the new.
                requests.add(RawClient.header(READ2, 8, base + 100));
                requests.add(RawClient.header(WRITE2, 8, base + 100));
                requests.add(now);
                requests.add(RawClient.header(READ1, 8, base + 100));
                answers.addAll(List.of(OK, old, OK, now));
            }
            client.send(requests.toArray(byte[][]::new));
            byte[] expected = RawClient.concat(answers.toArray(byte[][]::new));
            assertThat(client.receive(expected.length)).isEqualTo(expected);
        }
    }

    @Test
    void answers_go_out_before_the_server_waits_for_the_rest_of_a_body() throws IOException {
        try (RawClient client = connect()) {
            client.send(
                    RawClient.header(READ2, 4, base),
                    RawClient.header(WRITE2, 4, base),
                    text("ab"));
            assertThat(client.receive(12)).startsWith(OK);
            client.send(text("cd"));
            assertThat(client.receive(8)).isEqualTo(OK);
            assertThat(region.memory().asSlice(0, 4).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(text("abcd"));
        }
    }

    @Test
    void a_body_cut_off_is_stored_as_far_as_it_came_and_not_acknowledged() throws IOException {
        try (RawClient client = connect()) {
            client.send(RawClient.header(WRITE2, 100, base), text("fifty"));
            client.shutdownOutput();
            assertThat(client.receiveAll()).isEmpty();
            assertThat(region.memory().asSlice(0, 6).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(text("fifty\0"));
        }
        Peers.eventually(
                "counted",
                () -> count("cassia.transfer.server.closed", "reason", "truncated-write") == 1);
    }

    @Test
    void ranges_outside_one_registered_buffer_are_rejected_with_their_reason() throws IOException {
        MemorySegment next = region.memory();
        assertThat(next.byteSize()).isEqualTo(REGION_BYTES);
        record Bad(long size, long address, String reason) {}
        for (Bad bad :
                List.of(
                        new Bad(0, base, "zero-size"),
                        new Bad(-1L, base, "wraps-around"),
                        new Bad(16, -8L, "wraps-around"),
                        new Bad(Long.MIN_VALUE, base, "crosses-end"),
                        new Bad(REGION_BYTES + 1, base, "crosses-end"),
                        new Bad(2, base + REGION_BYTES - 1, "crosses-end"),
                        new Bad(1, base - 1, "not-registered"),
                        new Bad(1, 0, "not-registered"),
                        new Bad(8, 0x1000, "not-registered"))) {
            for (int opcode : new int[] {READ2, WRITE2}) {
                double before = count("cassia.transfer.rejections", "reason", bad.reason());
                try (RawClient client = connect()) {
                    client.send(RawClient.header(opcode, bad.size(), bad.address()));
                    assertThat(client.receive(8)).as("%s", bad).isEqualTo(REJECTED);
                    assertThat(client.end(5000)).as("%s", bad).isEqualTo(End.CLOSED);
                }
                assertThat(count("cassia.transfer.rejections", "reason", bad.reason()))
                        .isEqualTo(before + 1);
            }
        }
        try (RawClient client = connect()) {
            client.send(RawClient.header(READ2, 1, base + REGION_BYTES - 1));
            assertThat(client.receive(9)).startsWith(OK);
        }
    }

    @Test
    void a_rejection_comes_after_the_answers_to_earlier_requests() throws IOException {
        try (RawClient client = connect()) {
            client.send(
                    RawClient.header(READ2, 2, base),
                    RawClient.header(WRITE2, 2, base),
                    text("xy"),
                    RawClient.header(READ2, 1, 1),
                    RawClient.header(READ2, 2, base));
            assertThat(client.receiveAll())
                    .isEqualTo(RawClient.concat(OK, new byte[2], OK, REJECTED));
        }
    }

    @Test
    void buffers_give_only_what_their_options_allow() throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment readOnly = arena.allocate(64);
            MemorySegment hidden = arena.allocate(64);
            RegisteredBuffer first = target.register(readOnly, BufferOptions.READ_ONLY).orThrow();
            RegisteredBuffer second = target.register(hidden, BufferOptions.LOCAL).orThrow();
            try (RawClient client = connect()) {
                client.send(RawClient.header(READ2, 8, readOnly.address()));
                assertThat(client.receive(16)).startsWith(OK);
                client.send(RawClient.header(WRITE2, 1, readOnly.address()), text("x"));
                assertThat(client.receive(8)).isEqualTo(RawClient.hex("020000005654434d"));
            }
            try (RawClient client = connect()) {
                client.send(RawClient.header(READ2, 8, hidden.address()));
                assertThat(client.receive(8)).isEqualTo(REJECTED);
            }
            try (TransferEngine peer = Peers.engine(Peers.overTcp())) {
                SegmentHandle handle = peer.openSegment(target.localName()).orThrow();
                assertThat(peer.remoteBuffers(handle).orThrow())
                        .containsExactly(
                                new RemoteBuffer(base, REGION_BYTES),
                                new RemoteBuffer(readOnly.address(), 64));
            }
            assertThat(target.unregister(first).isOk()).isTrue();
            assertThat(target.unregister(second).isOk()).isTrue();
        }
    }

    @Test
    void a_peer_that_stalls_in_a_request_is_closed_and_an_idle_one_is_not() throws IOException {
        SimpleMeterRegistry counted = new SimpleMeterRegistry();
        TransferConfig impatient =
                Peers.overTcp()
                        .withTimeouts(
                                TransferConfig.Timeouts.DEFAULT.withStall(Duration.ofSeconds(1)));
        try (TransferEngine strict =
                        TransferEngine.start(impatient, Clock.system(), counted).orThrow();
                RawClient idle = new RawClient(strict.dataPort());
                RawClient header = new RawClient(strict.dataPort());
                RawClient body = new RawClient(strict.dataPort());
                RawClient reader = new RawClient(strict.dataPort())) {
            Region offered = strict.allocate(REGION_BYTES).orThrow();
            long address =
                    strict.register(offered.memory(), BufferOptions.DEFAULT).orThrow().address();
            idle.send(RawClient.header(READ2, 1, address));
            assertThat(idle.receive(9)).startsWith(OK);
            header.send(new byte[10]);
            body.send(RawClient.header(WRITE2, 10, address), text("half"));
            for (int i = 0; i < 16; i++) {
                reader.send(RawClient.header(READ2, REGION_BYTES, address));
            }
            assertThat(header.end(5000)).isNotEqualTo(End.OPEN);
            assertThat(body.end(5000)).isNotEqualTo(End.OPEN);
            Peers.eventually(
                    "counted",
                    () -> {
                        Counter stalled =
                                counted.find("cassia.transfer.server.closed")
                                        .tag("reason", "stalled")
                                        .counter();
                        return stalled != null && stalled.count() == 3;
                    });
            idle.send(RawClient.header(READ2, 1, address));
            assertThat(idle.receive(9)).startsWith(OK);
        }
    }

    @Test
    void hundreds_of_connections_are_served() throws IOException {
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 300; i++) {
                clients.add(connect());
            }
            for (RawClient client : clients) {
                client.send(RawClient.header(WRITE2, 3, base), text("abc"));
            }
            for (RawClient client : clients) {
                assertThat(client.receive(8)).isEqualTo(OK);
                client.send(RawClient.header(READ2, 3, base));
            }
            for (RawClient client : clients) {
                assertThat(client.receive(11)).isEqualTo(RawClient.concat(OK, text("abc")));
            }
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
        Peers.eventually(
                "all closed",
                () -> meters.get("cassia.transfer.server.connections").gauge().value() == 0);
    }

    @Test
    void unregister_waits_for_a_transfer_that_ends_in_time() throws Exception {
        try (RawClient client = connect()) {
            client.send(RawClient.header(WRITE2, 4, base), text("ab"));
            Peers.eventually(
                    "body begun", () -> region.memory().get(ValueLayout.JAVA_BYTE, 1) == 'b');
            CompletableFuture<Outcome<Done>> unregistered =
                    CompletableFuture.supplyAsync(() -> target.unregister(buffer));
            Peers.eventually("draining", () -> buffer.state() == RegisteredBuffer.State.DRAINING);
            // Whoever comes now is too late; who is in the middle may finish.
            try (RawClient late = connect()) {
                late.send(RawClient.header(READ2, 1, base));
                assertThat(late.receive(8)).isEqualTo(DRAINING);
            }
            client.send(text("cd"));
            assertThat(client.receive(8)).isEqualTo(OK);
            assertThat(unregistered.get().isOk()).isTrue();
            assertThat(buffer.state()).isEqualTo(RegisteredBuffer.State.CLOSED);
            assertThat(target.free(region).isOk()).isTrue();
        }
    }

    @Test
    void unregister_aborts_transfers_that_hang_and_only_those() throws IOException {
        try (Arena arena = Arena.ofShared();
                RawClient writer = connect();
                RawClient reader = connect();
                RawClient other = connect()) {
            MemorySegment memory = arena.allocate(64);
            RegisteredBuffer small = target.register(memory, BufferOptions.DEFAULT).orThrow();
            writer.send(RawClient.header(WRITE2, 100, base + 10), text("ab"));
            for (int i = 0; i < 16; i++) {
                reader.send(RawClient.header(READ2, REGION_BYTES, base));
            }
            other.send(RawClient.header(WRITE2, 4, memory.address()), text("ab"));
            assertThat(reader.receive(8)).isEqualTo(OK);
            Peers.eventually(
                    "begun",
                    () ->
                            region.memory().get(ValueLayout.JAVA_BYTE, 10) == 'a'
                                    && memory.get(ValueLayout.JAVA_BYTE, 1) == 'b');
            assertThat(target.unregister(buffer).isOk()).isTrue();
            assertThat(buffer.state()).isEqualTo(RegisteredBuffer.State.CLOSED);
            assertThat(target.free(region).isOk()).isTrue();
            assertThat(writer.end(5000)).isNotEqualTo(End.OPEN);
            other.send(text("cd"));
            assertThat(other.receive(8)).isEqualTo(OK);
            assertThat(target.unregister(small).isOk()).isTrue();
        }
        assertThat(count("cassia.transfer.server.closed", "reason", "unregistered")).isEqualTo(2);
    }

    @Test
    void a_request_may_cross_the_largest_view_of_memory(@TempDir Path directory)
            throws IOException {
        // A sparse file: three gigabytes of addresses, a few pages of memory.
        Path file = directory.resolve("sparse");
        long length = 3L << 30;
        try (Arena arena = Arena.ofShared();
                FileChannel channel =
                        FileChannel.open(
                                file,
                                StandardOpenOption.CREATE_NEW,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                TransferEngine peer = Peers.engine(Peers.overTcp())) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, length, arena);
            RegisteredBuffer large = target.register(memory, BufferOptions.DEFAULT).orThrow();
            SegmentHandle handle = peer.openSegment(target.localName()).orThrow();
            for (long boundary : new long[] {1L << 30, 1L << 31}) {
                long at = boundary - 100_000;
                MemorySegment out = arena.allocate(300_001);
                MemorySegment back = arena.allocate(300_001);
                Peers.fill(out, boundary);
                long address = memory.address() + at;
                assertThat(
                                peer.transfer(
                                        List.of(
                                                new TransferRequest(
                                                        Opcode.WRITE, out, handle, address),
                                                new TransferRequest(
                                                        Opcode.READ, back, handle, address)),
                                        Peers.DEADLINE))
                        .allMatch(Outcome::isOk);
                assertThat(back.mismatch(out)).isEqualTo(-1);
                assertThat(memory.asSlice(at, 300_001).mismatch(out)).isEqualTo(-1);
            }
            assertThat(target.unregister(large).isOk()).isTrue();
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
