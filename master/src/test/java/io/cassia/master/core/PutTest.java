package io.cassia.master.core;

import static io.cassia.master.core.Harness.A;
import static io.cassia.master.core.Harness.B;
import static io.cassia.master.core.Harness.KIB;
import static io.cassia.master.core.Harness.MIB;
import static io.cassia.master.core.Harness.code;
import static io.cassia.master.core.Harness.config;
import static io.cassia.master.core.Harness.detail;
import static io.cassia.master.core.Harness.key;
import static io.cassia.master.core.Harness.ok;
import static io.cassia.master.core.Harness.replicas;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.ReplicaStatus;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class PutTest {
    private static final int ALL = ReplicaType.ALL.number();
    private static final int MEMORY = ReplicaType.MEMORY.number();

    private final Harness master = new Harness();

    @BeforeEach
    void mount() {
        master.mount(A, 11, "node-a:1", 16 * MIB);
    }

    @Test
    void a_put_is_readable_from_its_end_on() {
        ReplicaDescriptor started = master.start(A, "k", 10).orThrow().getFirst();
        assertThat(started.status()).isEqualTo(ReplicaStatus.PROCESSING.number());
        assertThat(started.id()).isBetween(1L, 1L << 52);
        Placement.Memory memory = (Placement.Memory) started.placement();
        assertThat(memory.buffer().address()).isEqualTo(11L << 32);
        assertThat(memory.buffer().size()).isEqualTo(10);
        assertThat(memory.buffer().protocol()).isEqualTo("tcp");
        assertThat(memory.buffer().transportEndpoint()).isEqualTo("127.0.0.1:1011");
        assertThat(code(master.get("k"))).isEqualTo(StoreCode.REPLICA_IS_NOT_READY);
        assertThat(master.exist("k").orThrow()).isFalse();

        ok(master.end(A, "k", ALL, OptionalLong.of(77)));
        ReplicaList read = master.get("k").orThrow();
        assertThat(read.replicas().getFirst().status()).isEqualTo(ReplicaStatus.COMPLETE.number());
        assertThat(read.replicas().getFirst().placement()).isEqualTo(memory);
        assertThat(read.leaseTtlMs()).isEqualTo(10_000);
        assertThat(read.objectChecksum()).hasValue(77);
        assertThat(master.exist("k").orThrow()).isTrue();
        CoreChecks.verify(master.core);
    }

    static Stream<Arguments> refusedStarts() {
        ReplicateConfig plain = ReplicateConfig.DEFAULT;
        return Stream.of(
                Arguments.of("no replicas", "k", 1, replicas(0), StoreCode.INVALID_PARAMS),
                Arguments.of("empty key", "", 1, plain, StoreCode.INVALID_PARAMS),
                Arguments.of("length 0", "k", 0, plain, StoreCode.INVALID_PARAMS),
                Arguments.of("nof", "k", 1, counts(1, 1, 0), StoreCode.INVALID_PARAMS),
                Arguments.of("two dfs", "k", 1, counts(1, 0, 2), StoreCode.INVALID_PARAMS),
                Arguments.of("dfs alone", "k", 1, counts(0, 0, 1), StoreCode.INVALID_PARAMS),
                Arguments.of("dfs", "k", 1, counts(1, 0, 1), StoreCode.DFS_SERVICE_UNAVAILABLE),
                Arguments.of("pin action 3", "k", 1, pin(3, -1), StoreCode.INVALID_PARAMS),
                Arguments.of("pin time, no pin", "k", 1, pin(0, 5), StoreCode.INVALID_PARAMS),
                Arguments.of("pin time, unpin", "k", 1, pin(2, 5), StoreCode.INVALID_PARAMS),
                Arguments.of("pin too long", "k", 1, pin(1, 86_400_001), StoreCode.INVALID_PARAMS),
                Arguments.of("two groups", "k", 1, groups("a", "b"), StoreCode.INVALID_PARAMS),
                Arguments.of("too large", "k", 16 * MIB + 1, plain, StoreCode.NO_AVAILABLE_HANDLE),
                Arguments.of("unsigned", "k", -1, plain, StoreCode.NO_AVAILABLE_HANDLE));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusedStarts")
    void a_refused_start_has_its_code_and_leaves_nothing(
            String name, String key, long length, ReplicateConfig config, StoreCode expected) {
        assertThat(code(master.start(A, key, length, config))).as(name).isEqualTo(expected);
        assertThat(code(master.upsert(A, key, length, config))).as(name).isEqualTo(expected);
        assertThat(master.stats().objects()).isZero();
        assertThat(master.stats().usedBytes()).isZero();
    }

    private static ReplicateConfig counts(long memory, long nof, long dfs) {
        return new ReplicateConfig(
                memory,
                nof,
                dfs,
                0,
                OptionalLong.empty(),
                false,
                List.of(),
                "",
                List.of(),
                false,
                0,
                "",
                Optional.empty());
    }

    private static ReplicateConfig pin(int action, long millis) {
        return config(
                1, action, millis < 0 ? OptionalLong.empty() : OptionalLong.of(millis), false);
    }

    private static ReplicateConfig groups(String... ids) {
        return new ReplicateConfig(
                1,
                0,
                0,
                0,
                OptionalLong.empty(),
                false,
                List.of(),
                "",
                List.of(),
                false,
                0,
                "",
                Optional.of(Stream.of(ids).map(ByteString::of).toList()));
    }

    @Test
    void the_first_fault_in_the_order_of_the_table_wins() {
        assertThat(detail(master.start(A, "", 0, counts(0, 0, 0)))).contains("no replica");
        assertThat(detail(master.start(A, "", 0, counts(1, 0, 1)))).contains("key is empty");
        assertThat(code(master.start(A, "k", 1, counts(1, 1, 1))))
                .isEqualTo(StoreCode.DFS_SERVICE_UNAVAILABLE);
    }

    @Test
    void a_full_pool_says_how_full_it_is() {
        master.put("pinned", 12 * MIB, Harness.hardPinned());
        Outcome<List<ReplicaDescriptor>> refused = master.start(A, "k", 5 * MIB);
        assertThat(code(refused)).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(detail(refused))
                .contains("key k", "capacity=16777216", "used=12582912")
                .contains("largest-free=4194304", "hard-pinned=12582912", "leased=0");
        assertThat(master.stats().putStartFailures()).isEqualTo(1);
    }

    @Test
    void without_a_segment_the_failure_says_so() {
        Outcome<?> refused = new Harness().start(A, "k", 1);
        assertThat(code(refused)).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(detail(refused)).contains("no storage node is mounted");
    }

    @Test
    void with_segments_that_leave_the_failure_says_that_none_takes_objects() {
        Harness leaving = new Harness();
        Segment segment = leaving.mount(A, 11, "n1:1", 16 * MIB);
        ok(
                leaving.apply(
                        new Command.GracefulUnmountSegment(
                                new Args.GracefulUnmountSegment(segment.id(), A, 60_000))));
        assertThat(detail(leaving.start(A, "k", 1)))
                .contains("capacity=16777216", "no segment takes objects now");
    }

    @Test
    void a_complete_object_is_not_put_again() {
        master.put("k", 10);
        assertThat(code(master.start(B, "k", 10))).isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
        master.sleep(Duration.ofHours(1));
        assertThat(code(master.start(B, "k", 10))).isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
    }

    @Test
    void an_end_must_come_from_the_writer() {
        ok(master.start(A, "k", 10));
        assertThat(code(master.end(B, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        assertThat(code(master.revoke(B, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        assertThat(code(master.end(A, "none"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(master.revoke(A, "none"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.OK);
    }

    @Test
    void a_repeated_end_succeeds_but_not_for_replicas_that_are_not_there() {
        master.put("k", 10);
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.OK);
        assertThat(code(master.end(A, "k", MEMORY, OptionalLong.empty()))).isEqualTo(StoreCode.OK);
        assertThat(code(master.end(A, "k", ReplicaType.DISK.number(), OptionalLong.empty())))
                .isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(code(master.revoke(A, "k"))).isEqualTo(StoreCode.INVALID_WRITE);
        assertThat(master.get("k").orThrow().replicas()).hasSize(1);
    }

    @Test
    void a_revoked_put_leaves_no_trace() {
        ok(master.start(A, "k", 10));
        assertThat(code(master.revoke(A, "k", MEMORY))).isEqualTo(StoreCode.OK);
        assertThat(code(master.get("k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(master.stats().usedBytes()).isZero();
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        master.put("k", 20);
        CoreChecks.verify(master.core);
    }

    @Test
    void an_end_without_checksum_clears_the_one_before() {
        ok(master.start(A, "k", 10));
        ok(master.end(A, "k", ALL, OptionalLong.of(5)));
        ok(master.upsert(A, "k", 10));
        ok(master.end(A, "k"));
        assertThat(master.get("k").orThrow().objectChecksum()).isEmpty();
    }

    @Test
    void a_killed_writers_key_is_writable_after_the_discard_timeout() {
        ok(master.start(A, "k", MIB));
        master.run(Duration.ofSeconds(30), A);
        Outcome<?> early = master.start(B, "k", MIB);
        assertThat(code(early)).isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
        assertThat(detail(early)).contains("client 1-2", "after 30000 ms");

        master.run(Duration.ofMillis(1), A);
        ok(master.start(B, "k", 2 * MIB));
        // Late writes of the first writer must not land in somebody else's object.
        assertThat(master.stats().usedBytes()).isEqualTo(3 * MIB);
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.ILLEGAL_CLIENT);
        ok(master.end(B, "k"));
        CoreChecks.verify(master.core);

        master.run(Duration.ofSeconds(569), A);
        assertThat(master.stats().usedBytes()).isEqualTo(3 * MIB);
        master.run(Duration.ofSeconds(2), A);
        assertThat(master.stats().usedBytes()).isEqualTo(2 * MIB);
        assertThat(master.get("k").isOk()).isTrue();
        CoreChecks.verify(master.core);
    }

    @Test
    void a_late_end_before_anybody_took_over_still_counts() {
        ok(master.start(A, "k", MIB));
        master.run(Duration.ofSeconds(100), A);
        ok(master.end(A, "k"));
        assertThat(master.get("k").isOk()).isTrue();
    }

    @Test
    void the_space_of_an_unfinished_put_comes_back_at_the_release_timeout() {
        ok(master.start(A, "k", MIB));
        master.run(Duration.ofSeconds(599), A);
        assertThat(master.stats().usedBytes()).isEqualTo(MIB);
        master.run(Duration.ofSeconds(2), A);
        assertThat(master.stats().usedBytes()).isZero();
        assertThat(master.stats().objects()).isZero();
        assertThat(code(master.end(A, "k"))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(master.core.counters().of(CoreCount.PUT_RELEASED)).isEqualTo(1);
        CoreChecks.verify(master.core);
    }

    @Test
    void replicas_go_to_different_names_as_far_as_there_are() {
        master.mount(B, 13, "node-b:1", 16 * MIB);
        List<ReplicaDescriptor> three = master.start(A, "k", 10, replicas(3)).orThrow();
        assertThat(three).hasSize(2);
        assertThat(three.stream().map(PutTest::endpoint))
                .containsExactlyInAnyOrder("127.0.0.1:1011", "127.0.0.1:1013");
        ok(master.end(A, "k"));
        assertThat(master.get("k").orThrow().replicas()).hasSize(2);
        assertThat(master.stats().usedBytes()).isEqualTo(20);
        assertThat(master.core.counters().of(CoreCount.PUT_PARTIAL_ALLOCATIONS)).isEqualTo(1);
        CoreChecks.verify(master.core);
    }

    @Test
    void preferred_names_come_first_in_their_order() {
        master.mount(B, 13, "node-b:1", 16 * MIB);
        for (int i = 0; i < 20; i++) {
            ReplicateConfig both =
                    config(2, 0, OptionalLong.empty(), false, "none", "node-b:1", "node-a:1");
            assertThat(master.start(A, "k" + i, 10, both).orThrow().stream().map(PutTest::endpoint))
                    .containsExactly("127.0.0.1:1013", "127.0.0.1:1011");
        }
    }

    @Test
    void random_placement_uses_all_segments() {
        master.mount(B, 13, "node-b:1", 16 * MIB);
        long onA = 0;
        for (int i = 0; i < 200; i++) {
            String where = endpoint(master.start(A, "k" + i, 10).orThrow().getFirst());
            onA += where.equals("127.0.0.1:1011") ? 1 : 0;
        }
        assertThat(onA).isBetween(60L, 140L);
    }

    @Test
    void free_ratio_first_fills_the_emptier_segment() {
        Harness other =
                new Harness(
                        settings -> {
                            settings.strategy = AllocationStrategy.FREE_RATIO_FIRST;
                            return settings;
                        });
        other.mount(A, 11, "node-a:1", 16 * MIB);
        other.put("ballast", 8 * MIB);
        other.mount(B, 13, "node-b:1", 16 * MIB);
        for (int i = 0; i < 8; i++) {
            ReplicaDescriptor one = other.start(A, "k" + i, MIB / 2).orThrow().getFirst();
            assertThat(endpoint(one)).isEqualTo("127.0.0.1:1013");
        }
    }

    private static String endpoint(ReplicaDescriptor replica) {
        return ((Placement.Memory) replica.placement()).buffer().transportEndpoint();
    }

    @Test
    void a_batch_answers_item_by_item() {
        master.put("there", 10);
        List<Outcome<List<ReplicaDescriptor>>> started =
                master.apply(
                        new Command.BatchPutStart(
                                new Args.BatchPutStart(
                                        A,
                                        List.of(key("b1"), key("there"), key("b2"), key("")),
                                        List.of(5L, 6L, 0L, 1L),
                                        ReplicateConfig.DEFAULT,
                                        Harness.TENANT)));
        assertThat(started.stream().map(Harness::code))
                .containsExactly(
                        StoreCode.OK,
                        StoreCode.OBJECT_ALREADY_EXISTS,
                        StoreCode.INVALID_PARAMS,
                        StoreCode.INVALID_PARAMS);
        assertThat(
                        master
                                .apply(
                                        new Command.BatchPutEnd(
                                                A,
                                                List.of(meta("b1"), meta("b2")),
                                                ALL,
                                                Harness.TENANT))
                                .stream()
                                .map(Harness::code))
                .containsExactly(StoreCode.OK, StoreCode.OBJECT_NOT_FOUND);
    }

    private static ObjectMeta meta(String key) {
        return new ObjectMeta(key(key), OptionalLong.empty());
    }

    @Test
    void a_batch_with_unequal_counts_fails_in_all_items() {
        assertThat(
                        master
                                .apply(
                                        new Command.BatchPutStart(
                                                new Args.BatchPutStart(
                                                        A,
                                                        List.of(key("x1"), key("x2")),
                                                        List.of(5L),
                                                        ReplicateConfig.DEFAULT,
                                                        Harness.TENANT)))
                                .stream()
                                .map(Harness::code))
                .containsExactly(StoreCode.INVALID_PARAMS, StoreCode.INVALID_PARAMS);
        assertThat(master.stats().objects()).isZero();
    }

    @Test
    void the_same_node_gets_the_rest_of_a_batch() {
        master.mount(B, 13, "node-b:1", 16 * MIB);
        ReplicateConfig same =
                new ReplicateConfig(
                        1,
                        0,
                        0,
                        0,
                        OptionalLong.empty(),
                        false,
                        List.of(),
                        "",
                        List.of(),
                        true,
                        0,
                        "",
                        Optional.empty());
        for (int round = 0; round < 10; round++) {
            List<ByteString> keys = Stream.of("a", "b", "c", "d").map(ByteString::of).toList();
            List<Outcome<List<ReplicaDescriptor>>> started =
                    master.apply(
                            new Command.BatchPutStart(
                                    new Args.BatchPutStart(
                                            A,
                                            keys.stream().map(PutTest.suffixed(round)).toList(),
                                            List.of(KIB, KIB, KIB, KIB),
                                            same,
                                            Harness.TENANT)));
            assertThat(started.stream().map(one -> endpoint(one.orThrow().getFirst())).distinct())
                    .hasSize(1);
        }
    }

    private static Function<ByteString, ByteString> suffixed(int round) {
        return key -> ByteString.of(key.text() + round);
    }

    @Test
    void the_heap_is_a_limit_like_the_segments() {
        Harness small =
                new Harness(
                        settings -> {
                            settings.maxMetadata = 10_000;
                            return settings;
                        });
        small.mount(A, 11, "node-a:1", 16 * MIB);
        for (int i = 0; i < 1000; i++) {
            small.put("key-" + i, 1);
        }
        assertThat(small.core.metadataBytes()).isBetween(9_000L, 10_000L);
        assertThat(small.exist("key-999").orThrow()).isTrue();
        assertThat(small.exist("key-0").orThrow()).isFalse();
        Outcome<?> huge = small.start(A, "x".repeat(20_000), 1);
        assertThat(code(huge)).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(detail(huge)).contains("metadata=", "the limit");
    }

    @Test
    void a_put_that_finds_no_room_does_not_take_an_unfinished_one_over() {
        ok(master.start(A, "k", 10));
        master.sleep(Duration.ofSeconds(31));
        assertThat(code(master.start(B, "k", 1L << 40))).isEqualTo(StoreCode.NO_AVAILABLE_HANDLE);
        ok(master.end(A, "k"));
        assertThat(ok(master.exist("k"))).isTrue();
    }
}
