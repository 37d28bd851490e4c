package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.PeerStandIn.Connection;
import io.cassia.transfer.PeerStandIn.Request;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** This engine as initiator against hand-made targets that behave like recorded and older peers. */
final class ClientInteropTest {
    private static final Duration SHORT = Duration.ofMillis(300);

    private final TransferEngine engine = Peers.engine(Peers.overTcp());
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        engine.close();
        arena.close();
    }

    private SegmentHandle open(PeerStandIn peer) {
        return engine.openSegment(peer.name()).orThrow();
    }

    private MemorySegment filled(int length, long seed) {
        MemorySegment memory = arena.allocate(length);
        Peers.fill(memory, seed);
        return memory;
    }

    private static TransferRequest read(SegmentHandle target, MemorySegment into, long offset) {
        return new TransferRequest(Opcode.READ, into, target, PeerStandIn.BASE + offset);
    }

    private static TransferRequest write(SegmentHandle target, MemorySegment from, long offset) {
        return new TransferRequest(Opcode.WRITE, from, target, PeerStandIn.BASE + offset);
    }

    private Outcome<Done> one(TransferRequest request, Duration deadline) {
        return engine.transfer(List.of(request), deadline).getFirst();
    }

    private Outcome<Done> one(TransferRequest request) {
        return one(request, Peers.DEADLINE);
    }

    private static void assertFailed(Outcome<Done> outcome, Code code, String... details) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(code);
                            assertThat(failed.detail()).contains(details);
                        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 7})
    void bytes_arrive_in_both_directions_in_each_version(int version) throws IOException {
        try (PeerStandIn peer = new PeerStandIn(version, Connection::answerAll)) {
            SegmentHandle target = open(peer);
            for (int length :
                    new int[] {
                        1, 511, 512, 513, 4095, 4096, 4097, 65535, 65536, 65537, (1 << 20) + 1
                    }) {
                MemorySegment out = filled(length, length);
                MemorySegment back = arena.allocate(length);
                assertThat(one(write(target, out, 17)).isOk()).isTrue();
                MemorySegment stored = MemorySegment.ofArray(peer.memory).asSlice(17, length);
                assertThat(out.mismatch(stored)).as("stored %d", length).isEqualTo(-1);
                assertThat(one(read(target, back, 17)).isOk()).isTrue();
                assertThat(back.mismatch(out)).as("read %d", length).isEqualTo(-1);
            }
            int bit = version >= 2 ? 0x80 : 0;
            assertThat(peer.headers())
                    .allSatisfy(
                            header -> {
                                assertThat(header[16] & 0xfe).isEqualTo(bit);
                                assertThat(header).endsWith(0, 0, 0, 0, 0, 0, 0);
                            });
            // One connection per request where nothing says that the peer keeps it open.
            assertThat(peer.connections()).isEqualTo(version >= 2 ? 1 : 22);
        }
    }

    @Test
    void many_requests_go_out_together_and_answers_may_come_byte_by_byte() throws IOException {
        PeerStandIn.Script byteByByte =
                connection -> {
                    while (true) {
                        Request request = connection.request();
                        if (request.isWrite()) {
                            connection.store(request);
                        }
                        connection.statusByteByByte(0);
                        if (!request.isWrite()) {
                            connection.sendBytes(request);
                        }
                    }
                };
        try (PeerStandIn peer = new PeerStandIn(2, byteByByte)) {
            SegmentHandle target = open(peer);
            List<TransferRequest> requests = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                MemorySegment local = filled(100 + i, i);
                requests.add(
                        i % 3 == 0
                                ? write(target, local, i * 512L)
                                : read(target, local, i * 512L));
            }
            assertThat(engine.transfer(requests, Peers.DEADLINE)).allMatch(Outcome::isOk);
            for (TransferRequest request : requests) {
                long offset = request.targetAddress() - PeerStandIn.BASE;
                MemorySegment there =
                        MemorySegment.ofArray(peer.memory).asSlice(offset, request.lengthBytes());
                assertThat(request.local().mismatch(there)).isEqualTo(-1);
            }
            assertThat(peer.connections()).isEqualTo(1);
        }
    }

    @Test
    void a_rejected_request_fails_alone() throws IOException {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::answerAll)) {
            SegmentHandle target = open(peer);
            List<TransferRequest> requests = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                long offset = i % 7 == 3 ? PeerStandIn.MEMORY_BYTES - 1L : i * 4096L;
                requests.add(
                        i % 2 == 0
                                ? write(target, filled(4096, i), offset)
                                : read(target, filled(4096, i), offset));
            }
            List<Outcome<Done>> outcomes = engine.transfer(requests, Peers.DEADLINE);
            for (int i = 0; i < 20; i++) {
                if (i % 7 == 3) {
                    assertFailed(
                            outcomes.get(i),
                            TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                            "4096 bytes",
                            peer.name(),
                            "status 1");
                } else {
                    assertThat(outcomes.get(i).isOk()).as("request %d", i).isTrue();
                }
            }
            assertThat(peer.connections()).isEqualTo(4);
        }
    }

    @Test
    void a_large_write_that_is_rejected_early_tells_why() throws IOException {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::answerAll)) {
            SegmentHandle target = open(peer);
            MemorySegment large = arena.allocate(64 << 20);
            assertFailed(
                    one(write(target, large, 0)),
                    TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                    "67108864 bytes");
        }
    }

    @Test
    void a_status_that_is_not_known_is_a_failure_with_its_number() throws IOException {
        PeerStandIn.Script script =
                connection -> {
                    connection.request();
                    connection.status(77);
                };
        try (PeerStandIn peer = new PeerStandIn(2, script)) {
            assertFailed(
                    one(read(open(peer), arena.allocate(8), 0)),
                    TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                    "status 77");
        }
    }

    @Test
    void an_answer_without_the_magic_is_a_failure() throws IOException {
        PeerStandIn.Script script =
                connection -> {
                    Request request = connection.request();
                    connection.sendBytes(request);
                    connection.awaitEnd();
                };
        try (PeerStandIn peer = new PeerStandIn(2, script)) {
            assertFailed(
                    one(read(open(peer), arena.allocate(64), 0)),
                    TransferCode.ERR_ENDPOINT,
                    "instead of a status");
        }
    }

    @Test
    void a_peer_that_turns_out_to_speak_version_1_is_spoken_to_so() throws IOException {
        try (PeerStandIn peer =
                new PeerStandIn(
                        2,
                        connection -> {
                            // Knows no bit 7: everything that is not WRITE is READ.
                            while (true) {
                                Request request = connection.request();
                                if (request.opcode() == 1) {
                                    connection.store(request);
                                } else {
                                    connection.sendBytes(request);
                                }
                            }
                        })) {
            SegmentHandle target = open(peer);
            peer.answer(peer.descriptor("tcp", peer.dataPort(), 0));
            MemorySegment into = arena.allocate(64);
            assertThat(one(read(target, into, 5)).isOk()).isTrue();
            assertThat(into.mismatch(MemorySegment.ofArray(peer.memory).asSlice(5, 64)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void a_peer_that_closes_after_each_answer_is_reconnected_unnoticed() throws IOException {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::answerOne)) {
            SegmentHandle target = open(peer);
            for (int i = 0; i < 5; i++) {
                assertThat(one(read(target, arena.allocate(8), i)).isOk()).isTrue();
            }
            assertThat(peer.connections()).isEqualTo(5);
        }
    }

    @Test
    void a_connection_that_is_reset_is_replaced_once() throws IOException {
        PeerStandIn.Script resetFirst =
                connection -> {
                    connection.request();
                    if (connection.number == 0) {
                        connection.reset();
                    } else {
                        connection.status(0);
                        connection.out.write(new byte[8]);
                        connection.awaitEnd();
                    }
                };
        try (PeerStandIn peer = new PeerStandIn(2, resetFirst)) {
            assertThat(one(read(open(peer), arena.allocate(8), 0)).isOk()).isTrue();
            assertThat(peer.connections()).isEqualTo(2);
            // Before the second attempt the peer was asked whether it still lives there.
            assertThat(peer.rpcExchanges()).isEqualTo(2);
        }
    }

    @Test
    void a_request_goes_out_twice_at_most() throws IOException {
        PeerStandIn.Script alwaysReset =
                connection -> {
                    connection.request();
                    connection.reset();
                };
        try (PeerStandIn peer = new PeerStandIn(2, alwaysReset)) {
            assertFailed(
                    one(write(open(peer), arena.allocate(8), 0)),
                    TransferCode.ERR_SOCKET,
                    peer.name());
            assertThat(peer.headers()).hasSize(2);
        }
    }

    @Test
    void a_rejected_version_1_write_is_told_by_the_reset() throws IOException {
        PeerStandIn.Script script =
                connection -> {
                    if (!connection.isInside(connection.request())) {
                        connection.reset();
                    }
                };
        try (PeerStandIn peer = new PeerStandIn(0, script)) {
            assertThat(one(write(open(peer), arena.allocate(8), -8)).isOk()).isFalse();
        }
    }

    @Test
    void a_peer_that_never_answers_ends_at_the_deadline_and_writes_nothing_later()
            throws Exception {
        CountDownLatch returned = new CountDownLatch(1);
        CountDownLatch sent = new CountDownLatch(1);
        PeerStandIn.Script late =
                connection -> {
                    Request request = connection.request();
                    try {
                        boolean _ = returned.await(10, TimeUnit.SECONDS);
                        connection.status(0);
                        connection.sendBytes(request);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    } finally {
                        sent.countDown();
                    }
                };
        try (PeerStandIn peer = new PeerStandIn(2, late)) {
            SegmentHandle target = open(peer);
            MemorySegment into = arena.allocate(1 << 16);
            long start = System.nanoTime();
            assertFailed(
                    one(read(target, into, 0), SHORT),
                    TransferCode.ERR_SOCKET,
                    "within the deadline");
            long millis = (System.nanoTime() - start) / 1_000_000;
            assertThat(millis).isBetween(SHORT.toMillis(), 5000L);
            returned.countDown();
            assertThat(sent.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(into.mismatch(arena.allocate(1 << 16))).isEqualTo(-1);
        }
    }

    @Test
    void a_peer_that_hangs_in_the_middle_of_a_body_ends_at_the_deadline() throws IOException {
        PeerStandIn.Script half =
                connection -> {
                    connection.request();
                    connection.status(0);
                    connection.out.write(new byte[100]);
                    connection.awaitEnd();
                };
        try (PeerStandIn peer = new PeerStandIn(2, half)) {
            assertFailed(
                    one(read(open(peer), arena.allocate(200), 0), SHORT),
                    TransferCode.ERR_SOCKET,
                    "within the deadline");
        }
    }

    @Test
    void a_peer_that_does_not_take_a_body_ends_at_the_deadline() throws Exception {
        CountDownLatch returned = new CountDownLatch(1);
        PeerStandIn.Script deaf =
                connection -> {
                    connection.request();
                    try {
                        boolean _ = returned.await(10, TimeUnit.SECONDS);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                };
        try (PeerStandIn peer = new PeerStandIn(2, deaf)) {
            assertFailed(
                    one(write(open(peer), arena.allocate(64 << 20), 0), SHORT),
                    TransferCode.ERR_SOCKET,
                    "within the deadline");
            returned.countDown();
        }
    }

    @Test
    void a_peer_that_moves_no_byte_is_given_up_before_a_distant_deadline() throws IOException {
        TransferConfig impatient =
                Peers.overTcp().withTimeouts(TransferConfig.Timeouts.DEFAULT.withStall(SHORT));
        try (PeerStandIn peer = new PeerStandIn(2, Connection::awaitEnd);
                TransferEngine other = Peers.engine(impatient)) {
            SegmentHandle target = other.openSegment(peer.name()).orThrow();
            List<Outcome<Done>> outcomes =
                    other.transfer(
                            List.of(
                                    read(target, arena.allocate(8), 0),
                                    read(target, arena.allocate(8), 8)),
                            Duration.ofMinutes(5));
            assertFailed(outcomes.getFirst(), TransferCode.ERR_SOCKET, "no byte for 300 ms");
            assertFailed(outcomes.getLast(), TransferCode.ERR_SOCKET, "no byte for 300 ms");
        }
    }

    @Test
    void a_hung_peer_delays_no_other() throws IOException {
        try (PeerStandIn hung = new PeerStandIn(2, Connection::awaitEnd);
                PeerStandIn good = new PeerStandIn(2, Connection::answerAll)) {
            SegmentHandle bad = open(hung);
            SegmentHandle ok = open(good);
            Batch batch = engine.allocateBatch(40).orThrow();
            List<TransferRequest> requests = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                requests.add(read(bad, arena.allocate(8), 0));
                requests.add(read(ok, arena.allocate(8), 0));
            }
            assertThat(batch.submit(requests).isOk()).isTrue();
            Peers.eventually("the good peer's half", () -> batch.status().completed() == 20);
            assertThat(batch.status().state()).isEqualTo(TransferState.WAITING);
            assertThat(batch.free())
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed ->
                                    assertThat(failed.code())
                                            .isEqualTo(TransferCode.ERR_BATCH_BUSY));
            List<Outcome<Done>> outcomes = engine.transfer(requests, SHORT);
            for (int i = 0; i < outcomes.size(); i++) {
                assertThat(outcomes.get(i).isOk()).as("request %d", i).isEqualTo(i % 2 == 1);
            }
        }
    }

    @Test
    void a_peer_that_cannot_be_connected_fails_at_once_and_is_tried_again_later()
            throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        ManualClock clock = new ManualClock();
        try (PeerStandIn peer = new PeerStandIn(2, Connection::answerAll);
                TransferEngine frozen =
                        TransferEngine.start(Peers.overTcp(), clock, new SimpleMeterRegistry())
                                .orThrow()) {
            peer.answer(peer.descriptor("tcp", free, 2));
            SegmentHandle target = frozen.openSegment(peer.name()).orThrow();
            List<TransferRequest> request = List.of(read(target, arena.allocate(8), 0));
            assertFailed(
                    frozen.transfer(request, Peers.DEADLINE).getFirst(),
                    TransferCode.ERR_SOCKET,
                    "port " + free,
                    "refused");
            assertFailed(
                    frozen.transfer(request, Peers.DEADLINE).getFirst(),
                    TransferCode.ERR_SOCKET,
                    "connects again in 10 ms",
                    "refused");
            // Its descriptor is read again with the next attempt to connect.
            peer.answer(peer.descriptor("tcp", peer.dataPort(), 2));
            assertThat(frozen.transfer(request, Peers.DEADLINE).getFirst().isOk()).isFalse();
            clock.advance(Duration.ofMillis(10));
            assertThat(frozen.transfer(request, Peers.DEADLINE).getFirst().isOk()).isTrue();
        }
    }

    @Test
    void no_more_lanes_are_opened_than_configured() throws Exception {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::answerAll)) {
            SegmentHandle target = open(peer);
            List<Thread> threads = new ArrayList<>();
            List<Outcome<Done>> outcomes =
                    java.util.Collections.synchronizedList(new ArrayList<>());
            for (int t = 0; t < 12; t++) {
                threads.add(
                        Thread.ofPlatform()
                                .start(
                                        () -> {
                                            for (int i = 0; i < 50; i++) {
                                                outcomes.add(
                                                        one(read(target, arena.allocate(64), i)));
                                            }
                                        }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(outcomes).hasSize(600).allMatch(Outcome::isOk);
            assertThat(peer.connections()).isLessThanOrEqualTo(4);
        }
    }

    @Test
    void lanes_that_are_all_in_use_until_the_deadline_are_told_as_such() throws Exception {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::awaitEnd);
                TransferEngine narrow = Peers.engine(Peers.overTcp().withLanesPerPeer(1))) {
            SegmentHandle target = narrow.openSegment(peer.name()).orThrow();
            Batch batch = narrow.allocateBatch(1).orThrow();
            assertThat(batch.submit(List.of(read(target, arena.allocate(8), 0))).isOk()).isTrue();
            Peers.eventually("the lane is in use", () -> peer.connections() == 1);
            assertFailed(
                    narrow.transfer(List.of(read(target, arena.allocate(8), 0)), SHORT).getFirst(),
                    TransferCode.ERR_TOO_MANY_REQUESTS,
                    "all 1 lanes");
        }
    }

    @Test
    void an_interrupt_ends_the_call_and_is_kept() throws Exception {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::awaitEnd)) {
            SegmentHandle target = open(peer);
            Thread caller = Thread.currentThread();
            Thread interrupter =
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        Peers.eventually("sent", () -> peer.connections() == 1);
                                        caller.interrupt();
                                    });
            assertFailed(
                    one(read(target, arena.allocate(8), 0)),
                    TransferCode.ERR_SOCKET,
                    "interrupted");
            assertThat(Thread.interrupted()).isTrue();
            interrupter.join();
        }
    }

    @Test
    void memory_that_is_freed_during_a_transfer_fails_it() throws IOException {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::answerAll)) {
            SegmentHandle target = open(peer);
            TransferRequest dead;
            try (Arena gone = Arena.ofShared()) {
                dead = read(target, gone.allocate(8), 0);
            }
            MemorySegment alive = arena.allocate(8);
            List<Outcome<Done>> outcomes =
                    engine.transfer(
                            List.of(read(target, alive, 0), dead, read(target, alive, 0)),
                            Peers.DEADLINE);
            assertThat(outcomes.get(0).isOk()).isTrue();
            assertFailed(outcomes.get(1), TransferCode.ERR_INVALID_ARGUMENT, "freed");
            assertThat(outcomes.get(2).isOk()).isTrue();
            assertThat(alive.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(peer.memory[0]);
        }
    }
}
