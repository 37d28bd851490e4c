package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.master.MasterConfig;
import io.cassia.rpc.cassia.CassiaMessages.CreateDrainJob;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.Reservations.Shape;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Puts to space that was reserved ahead (docs/adr/0067), with a real master, node and engine. */
class ReservationsTest {
    private static final int SIZE = 100_000;

    private final Arena arena = Arena.ofShared();
    private Cluster cluster = Cluster.start();
    private StorageNode node = cluster.node(16 << 20);
    private StoreClient client = patient();

    /** For this client nothing is old soon, however slow the machine is. */
    private StoreClient patient() {
        return cluster.client(cluster.config(), new SlowClock());
    }

    /** Its seconds are half a minute long. Immutable. */
    private record SlowClock(long originNanos) implements Clock {
        SlowClock() {
            this(Clock.system().nanos());
        }

        @Override
        public long nanos() {
            return originNanos + (Clock.system().nanos() - originNanos) / 30;
        }

        @Override
        public long epochMillis() {
            return Clock.system().epochMillis();
        }
    }

    @AfterEach
    void stop() {
        cluster.close();
        arena.close();
    }

    private void restart(MasterConfig.Builder settings) {
        cluster.close();
        cluster = Cluster.start(settings);
        node = cluster.node(16 << 20);
        client = patient();
    }

    private static ByteString key(String text) {
        return ByteString.of(text);
    }

    private MemorySegment value(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    private Outcome<Done> put(String key, int length, PutOptions options) {
        return client.put(key(key), value(length, key.hashCode()), options);
    }

    private void put(String key) {
        put(key, SIZE, PutOptions.DEFAULT).orThrow();
    }

    /** Puts as often as it takes to have space for the next one. */
    private void warmUp() {
        put("warm-1");
        put("warm-2");
        assertThat(used()).as("two objects and space for one").isEqualTo(3 * SIZE);
    }

    private void assertStored(StoreClient reader, String key, int length) {
        MemorySegment into = arena.allocate(length);
        assertThat(reader.get(key(key), into)).isEqualTo(Outcome.ok((long) length));
        assertThat(into.mismatch(value(length, key.hashCode()))).isEqualTo(-1);
    }

    private long used() {
        return client.stats().orThrow().usedBytes();
    }

    private double commits() {
        return cluster.meters.get("cassia_store_put_commits").counter().count();
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    private MasterLink link() {
        Clock clock = Clock.system();
        return MasterLink.connect(
                        cluster.address(),
                        StoreClientConfig.Calls.DEFAULT,
                        new Uuid(1, 1),
                        clock,
                        soon(),
                        new SimpleMeterRegistry())
                .orThrow();
    }

    private static Deadline soon() {
        return Deadline.after(Clock.system(), Duration.ofSeconds(10));
    }

    @Test
    void a_put_like_the_one_before_is_one_trip_to_the_master() {
        Map<String, Long> first = cluster.requestsOf(() -> put("a"));
        assertThat(first).isEqualTo(Map.of("BatchPutStart", 1L, "EndChecked", 1L));
        Map<String, Long> second = cluster.requestsOf(() -> put("b"));
        assertThat(second).isEqualTo(Map.of("BatchPutStart", 1L, "EndReserving", 1L));
        Map<String, Long> further =
                cluster.requestsOf(
                        () -> {
                            for (int i = 0; i < 20; i++) {
                                put("k" + i);
                            }
                        });
        assertThat(further).isEqualTo(Map.of("Commit", 20L));
        StoreClient other = cluster.client();
        for (String key : List.of("a", "b", "k0", "k19")) {
            assertStored(other, key, SIZE);
        }
        assertThat(client.stats().orThrow().objects()).isEqualTo(22);
        assertThat(cluster.masterCount("master_batch_put_start_items_total")).isEqualTo(22);
        assertThat(cluster.masterCount("master_batch_put_end_items_total")).isEqualTo(22);
        assertThat(commits()).isEqualTo(20);
    }

    @Test
    void a_batch_like_the_one_before_is_one_trip_too_and_each_key_has_its_own_outcome() {
        List<MemorySegment> values = List.of(value(10, 1), value(SIZE, 2), value(7, 3));
        for (int i = 0; i < 2; i++) {
            List<ByteString> keys = List.of(key("a" + i), key("b" + i), key("c" + i));
            client.putBatch(keys, values, PutOptions.DEFAULT).forEach(Outcome::orThrow);
        }
        List<Outcome<Done>> outcomes = new ArrayList<>();
        Map<String, Long> asked =
                cluster.requestsOf(
                        () ->
                                outcomes.addAll(
                                        client.putBatch(
                                                List.of(key("d"), key("b1"), key("f")),
                                                values,
                                                PutOptions.DEFAULT)));
        assertThat(asked).isEqualTo(Map.of("Commit", 1L));
        assertThat(outcomes)
                .extracting(ReservationsTest::code)
                .containsExactly(StoreCode.OK, StoreCode.OBJECT_ALREADY_EXISTS, StoreCode.OK);
        assertThat(client.getBytes(key("f")).orThrow()).hasSize(7);
        assertThat(used()).isEqualTo(2 * (SIZE + 17) + 17);
        assertThat(
                        cluster.requestsOf(
                                () ->
                                        client.putBatch(
                                                        List.of(key("g"), key("h"), key("i")),
                                                        values,
                                                        PutOptions.DEFAULT)
                                                .forEach(Outcome::orThrow)))
                .as("who was refused asks for nothing")
                .isEqualTo(Map.of("BatchPutStart", 1L, "EndChecked", 1L));
    }

    @Test
    void options_of_a_put_are_those_of_its_object() {
        warmUp();
        put("pinned", SIZE, PutOptions.DEFAULT.withHardPin()).orThrow();
        assertThat(client.stats().orThrow().pinnedBytes()).isEqualTo(SIZE);
        put("pinned", SIZE, PutOptions.DEFAULT.upsert()).orThrow();
        PutOptions grouped = PutOptions.DEFAULT.withGroups(List.of(key("g")));
        put("grouped", SIZE, grouped).orThrow();
        assertThat(code(put("grouped", SIZE, PutOptions.UPSERT.withGroups(List.of(key("h"))))))
                .isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(commits()).isEqualTo(3);
        assertThat(client.stats().orThrow().objects()).isEqualTo(4);
    }

    @Test
    void an_upsert_replaces_in_one_trip_and_a_put_by_version_takes_two() {
        warmUp();
        MemorySegment value = value(SIZE, 9);
        Map<String, Long> asked =
                cluster.requestsOf(
                        () -> client.upsert(key("warm-1"), value, PutOptions.UPSERT).orThrow());
        assertThat(asked).isEqualTo(Map.of("Commit", 1L));
        MemorySegment into = arena.allocate(SIZE);
        client.get(key("warm-1"), into).orThrow();
        assertThat(into.mismatch(value)).isEqualTo(-1);
        long version = client.info(key("warm-1")).orThrow().version();
        assertThat(
                        cluster.requestsOf(
                                () ->
                                        client.put(
                                                        key("warm-1"),
                                                        value,
                                                        PutOptions.DEFAULT.ifVersion(version))
                                                .orThrow()))
                .isEqualTo(Map.of("GiveBack", 1L, "UpsertStartIf", 1L, "EndChecked", 1L));
    }

    @Test
    void what_is_there_is_not_overwritten() {
        warmUp();
        assertThat(code(client.put(key("warm-1"), value(SIZE, 5), PutOptions.DEFAULT)))
                .isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
        assertStored(client, "warm-1", SIZE);
        assertThat(used()).as("the space is free").isEqualTo(2 * SIZE);
    }

    @Test
    void space_goes_back_when_a_put_of_another_shape_comes() {
        warmUp();
        Map<String, Long> asked =
                cluster.requestsOf(() -> put("small", 10, PutOptions.DEFAULT).orThrow());
        assertThat(asked).isEqualTo(Map.of("GiveBack", 1L, "BatchPutStart", 1L, "EndChecked", 1L));
        assertThat(used()).isEqualTo(2 * SIZE + 10);
    }

    @Test
    void space_goes_back_when_the_client_closes() {
        warmUp();
        StoreClient watcher = cluster.client();
        client.close();
        assertThat(watcher.stats().orThrow().usedBytes()).isEqualTo(2 * SIZE);
    }

    @Test
    void space_goes_back_when_no_put_comes_in_time_and_is_not_used_any_more() {
        restart(MasterConfig.builder().putTimeouts(Duration.ofMillis(400), Duration.ofMinutes(10)));
        client = cluster.client();
        put("warm-1");
        put("warm-2");
        assertThat(cluster.requests()).containsEntry("EndReserving", 1L);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (used() > 2 * SIZE && System.nanoTime() < end) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        assertThat(used()).isEqualTo(2 * SIZE);
        assertThat(cluster.requests()).containsEntry("GiveBack", 1L);
        assertThat(cluster.requestsOf(() -> put("late")))
                .containsEntry("BatchPutStart", 1L)
                .containsEntry("EndReserving", 1L)
                .doesNotContainKey("Commit");
    }

    @Test
    void nothing_is_reserved_for_a_client_that_does_not_want_it() {
        client = cluster.client(StoreClientConfig.Memory.DEFAULT.withReserve(false));
        Map<String, Long> asked =
                cluster.requestsOf(
                        () -> {
                            for (int i = 0; i < 4; i++) {
                                put("k" + i);
                            }
                        });
        assertThat(asked).isEqualTo(Map.of("BatchPutStart", 4L, "EndChecked", 4L));
        assertThat(used()).isEqualTo(4 * SIZE);
    }

    @Test
    void large_puts_and_special_placements_have_nothing_reserved() {
        ReplicateConfig plain = ReplicateConfig.DEFAULT;
        assertThat(Shape.of(List.of(4L << 20), plain)).isPresent();
        assertThat(Shape.of(List.of((4L << 20) - 1, 2L), plain)).isEmpty();
        assertThat(Shape.of(List.of(0L), plain)).isEmpty();
        assertThat(Shape.of(Collections.nCopies(1025, 1L), plain)).isEmpty();
        assertThat(Shape.of(List.of(1L), PutOptions.DEFAULT.withHardPin().replicate()))
                .as("a pin is no place")
                .isEqualTo(Shape.of(List.of(1L), plain));
        assertThat(Shape.of(List.of(1L), PutOptions.DEFAULT.withReplicas(2).replicate()))
                .isNotEqualTo(Shape.of(List.of(1L), plain));
        PutOptions there = PutOptions.DEFAULT.withPreferred(List.of("a"));
        assertThat(Shape.of(List.of(1L), there.replicate()))
                .isNotEqualTo(Shape.of(List.of(1L), plain));
    }

    @Test
    void a_put_whose_space_is_gone_is_put_in_the_ordinary_way() {
        warmUp();
        StorageNode second = cluster.node(16 << 20);
        try (MasterLink link = link()) {
            String name = client.stats().orThrow().segments().getFirst().name();
            CreateDrainJob drain = new CreateDrainJob(List.of(name), List.of(), 1);
            link.call(CassiaMethods.CREATE_DRAIN_JOB, drain, soon()).orThrow();
        }
        assertThat(cluster.requestsOf(() -> put("k")))
                .containsEntry("Commit", 1L)
                .containsEntry("BatchPutStart", 1L)
                .containsEntry("EndChecked", 1L);
        ReplicaDescriptor replica = client.replicas(key("k")).orThrow().getFirst();
        assertThat(ReadItem.buffer(replica).transportEndpoint()).isEqualTo(second.endpoint());
        assertStored(client, "k", SIZE);
        assertThat(commits()).isZero();
    }

    @Test
    void a_put_to_a_node_that_left_goes_elsewhere() {
        warmUp();
        cluster.node(16 << 20);
        node.close();
        put("k");
        assertStored(client, "k", SIZE);
        assertThat(client.exists(key("warm-1")).orThrow()).isFalse();
        for (int i = 0; i < 10; i++) {
            put("more-" + i);
            assertStored(client, "more-" + i, SIZE);
        }
    }

    @Test
    void a_full_pool_has_space_for_the_next_put_as_long_as_something_is_cold() {
        Map<String, Long> asked =
                cluster.requestsOf(
                        () -> {
                            for (int i = 0; i < 100; i++) {
                                put("k" + i, 1 << 20, PutOptions.DEFAULT).orThrow();
                            }
                        });
        assertThat(asked).containsEntry("Commit", 98L).containsEntry("BatchPutStart", 2L);
        assertThat(client.stats().orThrow().objects()).isEqualTo(15);
        assertStored(client, "k99", 1 << 20);
    }

    @Test
    void several_threads_put_each_its_own_bytes() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        List<Outcome<Done>> failures = Collections.synchronizedList(new ArrayList<>());
        for (int t = 0; t < 4; t++) {
            int number = t;
            threads.add(
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        for (int i = 0; i < 50; i++) {
                                            String key = number + "-" + i % 10;
                                            Outcome<Done> put = put(key, 10_000, PutOptions.UPSERT);
                                            if (!put.isOk()) {
                                                failures.add(put);
                                            }
                                        }
                                    }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
        assertThat(commits()).isPositive();
        StoreClient reader = cluster.client();
        client.close();
        for (int t = 0; t < 4; t++) {
            for (int i = 0; i < 10; i++) {
                assertStored(reader, t + "-" + i, 10_000);
            }
        }
        assertThat(reader.stats().orThrow().usedBytes()).isEqualTo(40 * 10_000);
        assertThat(reader.stats().orThrow().objects()).isEqualTo(40);
    }
}
