package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Fragments between spans: each has its own end. */
final class ScatterTest {
    private static final int SPAN = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final TransferEngine engine = Peers.engine(Peers.overTcp());
    private final TransferEngine target = Peers.engine(Peers.overTcp());
    private final Region there = target.allocate(SPAN).orThrow();
    private final RegisteredBuffer buffer =
            target.register(there.memory(), BufferOptions.DEFAULT).orThrow();

    @AfterEach
    void close() {
        engine.close();
        target.close();
        arena.close();
    }

    private ScatterRange range(
            Opcode opcode, MemorySegment local, List<ScatterRange.Fragment> fragments) {
        return new ScatterRange(
                opcode, target.localName(), buffer.address(), SPAN, local, fragments);
    }

    private static ScatterRange.Fragment fragment(long local, long remote, long length) {
        return new ScatterRange.Fragment(local, remote, length);
    }

    private static Code code(Outcome<Done> outcome) {
        return switch (outcome) {
            case Outcome.Ok<Done> ok -> TransferCode.OK;
            case Outcome.Failed<Done>(Code code, String detail) -> code;
        };
    }

    @Test
    void fragments_of_any_order_arrive_in_both_directions() {
        Peers.fill(there.memory(), 1);
        MemorySegment local = arena.allocate(SPAN);
        Random random = new Random(42);
        List<ScatterRange.Fragment> shuffled = new ArrayList<>();
        for (int at = 0; at < SPAN; ) {
            int length = Math.min(SPAN - at, 1 + random.nextInt(20_000));
            shuffled.add(fragment(at, at, length));
            at += length;
        }
        java.util.Collections.shuffle(shuffled, random);
        List<List<Outcome<Done>>> read =
                engine.transferScatter(List.of(range(Opcode.READ, local, shuffled)), Peers.DEADLINE)
                        .orThrow();
        assertThat(read.getFirst()).hasSameSizeAs(shuffled).allMatch(Outcome::isOk);
        assertThat(local.mismatch(there.memory())).isEqualTo(-1);
        Peers.fill(local, 2);
        ScatterOperation write =
                engine.submitScatter(List.of(range(Opcode.WRITE, local, shuffled)), Peers.DEADLINE)
                        .orThrow();
        assertThat(write.await().isOk()).isTrue();
        assertThat(there.memory().mismatch(local)).isEqualTo(-1);
        write.close();
    }

    @Test
    void each_fragment_fails_alone() throws Exception {
        MemorySegment local = arena.allocate(100);
        ConcurrentHashMap<Integer, Outcome<Done>> told = new ConcurrentHashMap<>();
        ScatterRange rules =
                new ScatterRange(
                        Opcode.READ,
                        target.localName(),
                        buffer.address(),
                        200,
                        local,
                        List.of(
                                fragment(0, 0, 10),
                                fragment(91, 0, 10),
                                fragment(0, 191, 10),
                                fragment(-1, 0, 10),
                                fragment(0, -1, 10),
                                fragment(0, 0, -1),
                                fragment(Long.MAX_VALUE, 0, 10),
                                fragment(5, Long.MAX_VALUE, Long.MAX_VALUE),
                                fragment(1000, -7, 0),
                                fragment(90, 190, 10)),
                        told::put);
        ScatterRange wraps =
                new ScatterRange(
                        Opcode.READ,
                        target.localName(),
                        -16,
                        -1,
                        local,
                        List.of(fragment(0, 10, 10), fragment(0, 20, 5), fragment(0, 6, 10)));
        ScatterRange stranger =
                new ScatterRange(
                        Opcode.READ,
                        "127.0.0.1:1",
                        buffer.address(),
                        SPAN,
                        local,
                        List.of(fragment(0, 0, 10), fragment(0, 0, 0)));
        ScatterRange beyond =
                new ScatterRange(
                        Opcode.READ,
                        target.localName(),
                        buffer.address(),
                        2 * SPAN,
                        local,
                        List.of(fragment(0, SPAN - 5, 10), fragment(0, SPAN - 10, 10)));
        ScatterOperation operation =
                engine.submitScatter(List.of(rules, wraps, stranger, beyond), Peers.DEADLINE)
                        .orThrow();
        Outcome<Done> whole =
                operation.completion().toCompletableFuture().get(10, TimeUnit.SECONDS);
        assertThat(code(whole)).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        TransferCode ok = TransferCode.OK;
        TransferCode bad = TransferCode.ERR_INVALID_ARGUMENT;
        List<List<Outcome<Done>>> ends = operation.outcomes();
        assertThat(ends.get(0))
                .extracting(ScatterTest::code)
                .containsExactly(ok, bad, bad, bad, bad, bad, bad, bad, ok, ok);
        // The last bytes of the address space are addressable, and nobody registered them.
        assertThat(ends.get(1))
                .extracting(ScatterTest::code)
                .containsExactly(bad, bad, TransferCode.ERR_ADDRESS_NOT_REGISTERED);
        assertThat(ends.get(2))
                .extracting(ScatterTest::code)
                .containsExactly(TransferCode.ERR_SOCKET, ok);
        assertThat(ends.get(3))
                .extracting(ScatterTest::code)
                .containsExactly(TransferCode.ERR_ADDRESS_NOT_REGISTERED, ok);
        assertThat(told).hasSize(10);
        for (int i = 0; i < 10; i++) {
            assertThat(told).containsEntry(i, ends.getFirst().get(i));
        }
        operation.close();
    }

    @Test
    void a_peer_that_hangs_delays_neither_the_call_nor_other_fragments() throws Exception {
        try (PeerStandIn mute = new PeerStandIn(2, PeerStandIn.Connection::awaitEnd)) {
            MemorySegment local = arena.allocate(64);
            ConcurrentHashMap<Integer, Outcome<Done>> told = new ConcurrentHashMap<>();
            ScatterRange stuck =
                    new ScatterRange(
                            Opcode.READ,
                            mute.name(),
                            PeerStandIn.BASE,
                            64,
                            local,
                            List.of(fragment(0, 0, 8)));
            ScatterRange good =
                    new ScatterRange(
                            Opcode.READ,
                            target.localName(),
                            buffer.address(),
                            64,
                            local,
                            List.of(fragment(8, 8, 8)),
                            told::put);
            ScatterOperation operation =
                    engine.submitScatter(List.of(stuck, good), Duration.ofSeconds(2)).orThrow();
            assertThat(code(operation.await(Duration.ofMillis(1))))
                    .isEqualTo(TransferCode.ERR_CLOCK);
            assertThatThrownBy(operation::outcomes).isInstanceOf(IllegalStateException.class);
            Peers.eventually("the good fragment", () -> told.containsKey(0));
            assertThat(told.get(0)).isEqualTo(Outcome.done());
            assertThat(code(operation.await())).isEqualTo(TransferCode.ERR_SOCKET);
            assertThat(code(operation.outcomes().get(1).getFirst())).isEqualTo(TransferCode.OK);
        }
    }

    @Test
    void a_time_without_an_end_is_one() {
        ScatterRange range =
                new ScatterRange(
                        Opcode.READ,
                        target.localName(),
                        buffer.address(),
                        64,
                        arena.allocate(64),
                        List.of(fragment(0, 0, 8)));
        Duration forever = ChronoUnit.FOREVER.getDuration();
        try (ScatterOperation operation = engine.submitScatter(List.of(range), forever).orThrow()) {
            assertThat(operation.await(forever)).isEqualTo(Outcome.done());
        }
    }

    @Test
    void a_listener_that_throws_is_told_and_harms_no_fragment() {
        MemorySegment local = arena.allocate(64);
        ScatterRange range =
                new ScatterRange(
                        Opcode.READ,
                        target.localName(),
                        buffer.address(),
                        64,
                        local,
                        List.of(fragment(0, 0, 8), fragment(8, 8, 8)),
                        (fragment, outcome) -> {
                            throw new IllegalStateException("no");
                        });
        try (ScatterOperation operation =
                engine.submitScatter(List.of(range), Peers.DEADLINE).orThrow()) {
            assertThat(code(operation.await())).isEqualTo(TransferCode.ERR_CONTEXT);
            assertThat(operation.outcomes().getFirst()).allMatch(Outcome::isOk);
        }
        assertThat(engine.transferScatter(List.of(), Peers.DEADLINE).orThrow()).isEmpty();
    }

    @Test
    void spans_that_cannot_work_are_bugs() {
        MemorySegment heap = MemorySegment.ofArray(new byte[8]);
        MemorySegment readOnly = arena.allocate(8).asReadOnly();
        assertThatThrownBy(() -> range(Opcode.READ, heap, List.of()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> range(Opcode.READ, readOnly, List.of()))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
