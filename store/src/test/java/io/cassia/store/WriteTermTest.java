package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.testkit.ServiceProcess;
import io.cassia.transfer.environment.EngineEnvironment;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The space of a put is the writer's for a time, and nobody else's as long as bytes may come. */
class WriteTermTest {
    private static final Duration TERM = Duration.ofMinutes(10);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final ByteString SLOW = ByteString.of("slow");
    private static final ByteString OTHER = ByteString.of("other");

    /** Of the node's memory there is room for one such value. */
    private static final int BYTES = 700_000;

    /** Of such values so many fill it; one is small enough to have space reserved. */
    private static final int SMALL_BYTES = 128 << 10;

    private static final int FEW = 8;

    private final AtomicLong nanos = new AtomicLong();
    private final MeterRegistry masterMeters = new SimpleMeterRegistry();
    private final MeterRegistry meters = new SimpleMeterRegistry();
    private final Arena arena = Arena.ofShared();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final Master master = opened(master());

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        arena.close();
    }

    private <T extends AutoCloseable> T opened(T resource) {
        open.push(resource);
        return resource;
    }

    /** Shows the test's time. */
    private class TestClock implements Clock {
        @Override
        public long nanos() {
            return nanos.get();
        }

        @Override
        public long epochMillis() {
            return 1_800_000_000_000L + nanos.get() / 1_000_000;
        }
    }

    private Master master() {
        MasterConfig config =
                MasterConfig.builder()
                        .rpc("127.0.0.1", 0)
                        .httpOff()
                        .putTimeouts(TERM.dividedBy(2), TERM)
                        // Else the node would be given up as time jumps.
                        .clientTtl(Duration.ofHours(1))
                        .build();
        return Master.start(config, new TestClock(), masterMeters, () -> "").orThrow();
    }

    private String address() {
        return "127.0.0.1:" + master.rpcPort();
    }

    private void node() {
        StorageNode _ =
                opened(
                        StorageNode.start(
                                        new NodeConfig(
                                                address(),
                                                StoreClientConfig.P2P,
                                                "127.0.0.1",
                                                1 << 20),
                                        Clock.system(),
                                        new SimpleMeterRegistry())
                                .orThrow());
    }

    private StoreClientConfig config(Duration deadline) {
        return new StoreClientConfig(
                address(), StoreClientConfig.P2P, "127.0.0.1", "default", deadline);
    }

    private StoreClient client(StoreClientConfig config, Clock clock) {
        return opened(StoreClient.connect(config, clock, meters).orThrow());
    }

    /** Whose calls have all the time, whatever the test's time does. */
    private StoreClient client(Clock clock) {
        return client(config(TERM.multipliedBy(100)), clock);
    }

    private MemorySegment value(long seed) {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    /** As soon as the master has seen the time; no eviction may take it away again. */
    private void putOther(StoreClient client) {
        MemorySegment value = value(2);
        PutOptions pinned = PutOptions.DEFAULT.withHardPin();
        assertThat(
                        ServiceProcess.pollUntil(
                                () -> client.put(OTHER, value, pinned).isOk(), PATIENCE))
                .as("the space is free")
                .isTrue();
    }

    private void assertOtherIsRight(StoreClient client) {
        MemorySegment into = arena.allocate(BYTES);
        assertThat(client.get(OTHER, into)).isEqualTo(Outcome.ok((long) BYTES));
        assertThat(into.mismatch(value(2))).isEqualTo(-1);
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    @Test
    void session_that_is_open_for_too_long_writes_nothing_into_what_is_anothers_by_now() {
        node();
        StoreClient slow = client(new TestClock());
        StoreClient other = client(new TestClock());
        MemorySegment value = value(1);
        try (WriteSession session = slow.openWrite(SLOW, BYTES, PutOptions.DEFAULT).orThrow()) {
            assertThat(session.write(0, value.asSlice(0, BYTES / 2))).isEqualTo(Outcome.done());
            pass(TERM);
            putOther(other);
            assertThat(code(session.write(BYTES / 2, value.asSlice(BYTES / 2))))
                    .isEqualTo(StoreCode.INVALID_WRITE);
            assertThat(code(session.commit())).isEqualTo(StoreCode.INVALID_WRITE);
        }
        assertOtherIsRight(other);
    }

    @Test
    void session_of_many_that_is_open_for_too_long_writes_nothing_either() {
        node();
        StoreClient slow = client(new TestClock());
        StoreClient other = client(new TestClock());
        int half = BYTES / 2;
        MemorySegment value = value(1).asSlice(0, half);
        ByteString second = ByteString.of("second");
        try (BatchWriteSession session =
                slow.openWriteBatch(
                                List.of(SLOW, second),
                                List.of((long) half, (long) half),
                                PutOptions.DEFAULT)
                        .orThrow()) {
            assertThat(session.write(List.of(new RangeWrite(SLOW, 0, value))))
                    .containsExactly(Outcome.done());
            pass(TERM);
            putOther(other);
            assertThat(session.write(List.of(new RangeWrite(second, 0, value))))
                    .extracting(WriteTermTest::code)
                    .containsExactly(StoreCode.INVALID_WRITE);
            assertThat(session.commit())
                    .extracting(WriteTermTest::code)
                    .containsExactly(StoreCode.INVALID_WRITE, StoreCode.INVALID_WRITE);
        }
        assertOtherIsRight(other);
    }

    @Test
    void session_writes_until_a_hundredth_before_the_end() {
        node();
        StoreClient slow = client(new TestClock());
        MemorySegment value = value(1);
        try (WriteSession session = slow.openWrite(SLOW, BYTES, PutOptions.DEFAULT).orThrow()) {
            nanos.set(TERM.toNanos() / 100 * 99 - 1);
            assertThat(session.write(0, value)).isEqualTo(Outcome.done());
            nanos.set(TERM.toNanos() / 100 * 99);
            Outcome<Done> late = session.write(0, value);
            assertThat(code(late)).isEqualTo(StoreCode.INVALID_WRITE);
            assertThat(((Outcome.Failed<Done>) late).detail()).contains("nothing was written");
        }
    }

    /** Stands still, once, after the master has answered a Start and before a byte is written. */
    private final class StoppingClock extends TestClock {
        private final Thread writer = Thread.currentThread();
        private final Runnable meanwhile;
        private boolean stopped;

        StoppingClock(Runnable meanwhile) {
            this.meanwhile = meanwhile;
        }

        @Override
        public long nanos() {
            if (Thread.currentThread() == writer && !stopped && starts() > 0) {
                stopped = true;
                pass(TERM);
                meanwhile.run();
            }
            return super.nanos();
        }

        private double starts() {
            return masterMeters
                    .get("master_batch_put_start_requests_total")
                    .functionCounter()
                    .count();
        }
    }

    @Test
    void put_of_a_process_that_stood_still_writes_nothing_into_what_is_anothers_by_now() {
        node();
        StoreClient other = client(new TestClock());
        StoreClient slow = client(new StoppingClock(() -> putOther(other)));
        Outcome<Done> put = slow.put(SLOW, value(1), PutOptions.DEFAULT);
        // It was started again, and then there was no room.
        assertThat(code(put)).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertOtherIsRight(other);
    }

    /** Stands still once, at some look at the time after it was told to. */
    private final class HaltingClock extends TestClock {
        private final Thread writer = Thread.currentThread();
        private final Runnable meanwhile;
        private int looksLeft;

        HaltingClock(Runnable meanwhile) {
            this.meanwhile = meanwhile;
        }

        void haltAtLook(int number) {
            looksLeft = number;
        }

        boolean hasHalted() {
            return looksLeft == 0;
        }

        @Override
        public long nanos() {
            if (Thread.currentThread() == writer && looksLeft > 0 && --looksLeft == 0) {
                pass(TERM);
                meanwhile.run();
            }
            return super.nanos();
        }
    }

    /** All of the pool, as soon as the master has seen the time. */
    private void fill(StoreClient client) {
        for (int i = 0; i < FEW; i++) {
            ByteString key = ByteString.of("other-" + i);
            MemorySegment value = value(i).asSlice(0, SMALL_BYTES);
            PutOptions pinned = PutOptions.DEFAULT.withHardPin();
            assertThat(
                            ServiceProcess.pollUntil(
                                    () -> client.put(key, value, pinned).isOk(), PATIENCE))
                    .as("there is space for %s", key)
                    .isTrue();
        }
    }

    /**
     * Wherever a process stands still that puts to space which was reserved ahead: it looks at the
     * time at least twice before it writes the first byte.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void put_to_reserved_space_writes_nothing_into_what_is_anothers_by_now(int look) {
        node();
        StoreClient other = client(new TestClock());
        HaltingClock clock = new HaltingClock(() -> fill(other));
        StoreClient slow = client(clock);
        MemorySegment value = value(99).asSlice(0, SMALL_BYTES);
        for (int i = 0; i < 3; i++) {
            assertThat(slow.put(ByteString.of("warm-" + i), value, PutOptions.DEFAULT))
                    .isEqualTo(Outcome.done());
        }
        assertThat(meters.get("cassia_store_put_commits").counter().count()).isEqualTo(1);
        clock.haltAtLook(look);
        Outcome<Done> put = slow.put(SLOW, value, PutOptions.DEFAULT);
        assertThat(clock.hasHalted()).isTrue();
        assertThat(code(put)).isIn(StoreCode.OK, StoreCode.NO_AVAILABLE_HANDLE);
        for (int i = 0; i < FEW; i++) {
            MemorySegment into = arena.allocate(SMALL_BYTES);
            assertThat(other.get(ByteString.of("other-" + i), into))
                    .isEqualTo(Outcome.ok((long) SMALL_BYTES));
            assertThat(into.mismatch(value(i).asSlice(0, SMALL_BYTES))).isEqualTo(-1);
        }
    }

    @Test
    void nothing_is_written_to_a_node_that_was_found_too_late() throws Exception {
        MuteNode node = opened(MuteNode.mounted("127.0.0.1", master.rpcPort(), 1 << 20));
        node.beforeItIsFound(() -> pass(TERM));
        node.hangUp();
        StoreClient slow = client(new TestClock());
        try (WriteSession session = slow.openWrite(SLOW, BYTES, PutOptions.DEFAULT).orThrow()) {
            assertThat(code(session.write(0, value(1)))).isEqualTo(StoreCode.TRANSFER_FAIL);
        }
        assertThat(node.takenBytes()).isZero();
    }

    private long usedBytes(StoreClient client) {
        return client.stats().orThrow().usedBytes();
    }

    @Test
    void session_keeps_its_space_when_a_node_did_not_answer() throws Exception {
        MuteNode _ = opened(MuteNode.mounted("127.0.0.1", master.rpcPort(), 1 << 20));
        StoreClient client = client(config(Duration.ofMillis(500)), Clock.system());
        try (WriteSession session = client.openWrite(SLOW, BYTES, PutOptions.DEFAULT).orThrow()) {
            assertThat(code(session.write(0, value(1)))).isEqualTo(StoreCode.TRANSFER_FAIL);
        }
        assertThat(usedBytes(client)).isEqualTo(BYTES);
        pass(TERM);
        assertThat(ServiceProcess.pollUntil(() -> usedBytes(client) == 0, PATIENCE)).isTrue();
    }

    @Test
    void of_many_objects_only_those_keep_their_space_that_bytes_may_still_come_for()
            throws Exception {
        MuteNode _ = opened(MuteNode.mounted("127.0.0.1", master.rpcPort(), 1 << 20));
        StoreClient client = client(config(Duration.ofMillis(500)), Clock.system());
        int half = BYTES / 2;
        BatchWriteSession session =
                client.openWriteBatch(
                                List.of(SLOW, OTHER),
                                List.of((long) half, (long) half),
                                PutOptions.DEFAULT)
                        .orThrow();
        MemorySegment value = value(1).asSlice(0, half);
        assertThat(session.write(List.of(new RangeWrite(SLOW, 0, value))))
                .extracting(WriteTermTest::code)
                .containsExactly(StoreCode.TRANSFER_FAIL);
        assertThat(session.revoke())
                .extracting(WriteTermTest::code)
                .containsExactly(StoreCode.WRITE_FAIL, StoreCode.OK);
        assertThat(usedBytes(client)).isEqualTo(half);
        pass(TERM);
        assertThat(ServiceProcess.pollUntil(() -> usedBytes(client) == 0, PATIENCE)).isTrue();
    }

    @Test
    void session_that_wrote_nothing_gives_its_space_back_at_once() throws Exception {
        MuteNode _ = opened(MuteNode.mounted("127.0.0.1", master.rpcPort(), 1 << 20));
        StoreClient client = client(config(PATIENCE), Clock.system());
        client.openWrite(SLOW, BYTES, PutOptions.DEFAULT).orThrow().close();
        assertThat(usedBytes(client)).isZero();
    }

    @Test
    void put_keeps_its_space_when_a_node_moved_no_byte_for_too_long() throws Exception {
        MuteNode _ = opened(MuteNode.mounted("127.0.0.1", master.rpcPort(), 4 << 20));
        EngineEnvironment impatient =
                EngineEnvironment.read(Map.of("MC_TCP_STATUS_TIMEOUT_SEC", "0.2")).orThrow();
        StoreClient client = client(config(PATIENCE).withEngine(impatient), Clock.system());
        assertThat(code(client.put(SLOW, value(1), PutOptions.DEFAULT)))
                .isEqualTo(StoreCode.TRANSFER_FAIL);
        // Of each attempt.
        assertThat(usedBytes(client)).isEqualTo(3L * BYTES);
    }
}
