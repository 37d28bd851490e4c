package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.status.Outcome;
import io.cassia.transfer.PeerStandIn.Connection;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a caller is told of requests under way. */
final class ProgressTest {
    private static final int LENGTH = 3_000_000;

    private final TransferEngine engine = Peers.engine(Peers.overTcp());
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        engine.close();
        arena.close();
    }

    private static TransferRequest request(
            Opcode opcode, SegmentHandle target, MemorySegment local, long offset) {
        return new TransferRequest(opcode, local, target, PeerStandIn.BASE + offset);
    }

    @Test
    void bytes_that_are_told_are_there_and_come_in_order() throws IOException {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::answerAll)) {
            SegmentHandle target = engine.openSegment(peer.name()).orThrow();
            MemorySegment there = MemorySegment.ofArray(peer.memory);
            List<TransferRequest> requests = new ArrayList<>();
            for (long length : new long[] {100, LENGTH, 65_537}) {
                MemorySegment into = arena.allocate(length);
                requests.add(request(Opcode.READ, target, into, requests.size()));
            }
            long[] told = new long[3];
            assertThat(
                            engine.transfer(
                                    requests,
                                    Peers.DEADLINE,
                                    (request, bytes) -> {
                                        assertThat(bytes).isGreaterThan(told[request]);
                                        told[request] = bytes;
                                        MemorySegment came =
                                                requests.get(request).local().asSlice(0, bytes);
                                        assertThat(came.mismatch(there.asSlice(request, bytes)))
                                                .isEqualTo(-1);
                                    }))
                    .allMatch(Outcome::isOk);
            assertThat(told).containsExactly(100, LENGTH, 65_537);
        }
    }

    @Test
    void writes_are_told_when_their_bytes_were_taken() throws IOException {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::answerAll)) {
            long length = (5 << 20) + 5;
            SegmentHandle target = engine.openSegment(peer.name()).orThrow();
            List<TransferRequest> requests =
                    List.of(
                            request(Opcode.WRITE, target, arena.allocate(1000), 0),
                            request(Opcode.WRITE, target, arena.allocate(length), 0));
            List<Long> large = new ArrayList<>();
            long[] told = new long[2];
            assertThat(
                            engine.transfer(
                                    requests,
                                    Peers.DEADLINE,
                                    (request, bytes) -> {
                                        told[request] = bytes;
                                        if (request == 1) {
                                            large.add(bytes);
                                        }
                                    }))
                    .allMatch(Outcome::isOk);
            assertThat(told).containsExactly(1000, length);
            assertThat(large).hasSizeGreaterThan(1).isSorted();
        }
    }

    @Test
    void a_request_that_is_carried_once_more_begins_at_zero() throws IOException {
        byte[] wrong = new byte[100_000];
        Arrays.fill(wrong, (byte) 5);
        PeerStandIn.Script breaksFirst =
                connection -> {
                    if (connection.number > 0) {
                        connection.answerAll();
                    } else {
                        connection.request();
                        connection.status(0);
                        connection.out.write(wrong);
                        connection.out.flush();
                    }
                };
        try (PeerStandIn peer = new PeerStandIn(2, breaksFirst)) {
            SegmentHandle target = engine.openSegment(peer.name()).orThrow();
            MemorySegment into = arena.allocate(LENGTH);
            List<Long> told = new ArrayList<>();
            assertThat(
                            engine.transfer(
                                            List.of(request(Opcode.READ, target, into, 0)),
                                            Peers.DEADLINE,
                                            (request, bytes) -> told.add(bytes))
                                    .getFirst()
                                    .isOk())
                    .isTrue();
            int restart = told.indexOf(0L);
            assertThat(restart).isPositive();
            assertThat(told.get(restart - 1)).isLessThanOrEqualTo(wrong.length);
            assertThat(told.subList(restart, told.size())).isSorted().endsWith((long) LENGTH);
            assertThat(into.mismatch(MemorySegment.ofArray(peer.memory).asSlice(0, LENGTH)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void what_the_caller_throws_ends_the_call_and_the_next_one_is_served() throws IOException {
        try (PeerStandIn peer = new PeerStandIn(2, Connection::answerAll)) {
            SegmentHandle target = engine.openSegment(peer.name()).orThrow();
            List<TransferRequest> one =
                    List.of(request(Opcode.READ, target, arena.allocate(LENGTH), 0));
            assertThatThrownBy(
                            () ->
                                    engine.transfer(
                                            one,
                                            Peers.DEADLINE,
                                            (request, bytes) -> {
                                                throw new ArithmeticException("mine");
                                            }))
                    .isInstanceOf(ArithmeticException.class);
            assertThat(engine.transfer(one, Peers.DEADLINE)).allMatch(Outcome::isOk);
        }
    }
}
