package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.status.CassiaException;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Many objects are written in one session, and none of them harms another one. */
class BatchWriteSessionTest {
    private static final int BYTES = 100_000;
    private static final ByteString A = ByteString.of("a");
    private static final ByteString B = ByteString.of("b");
    private static final ByteString C = ByteString.of("c");

    private final Arena arena = Arena.ofShared();
    private final Cluster cluster = Cluster.start();
    private final StorageNode node = cluster.node(16 << 20);
    private final StoreClient client =
            cluster.client(StoreClientConfig.Memory.DEFAULT.withReserve(false));

    @AfterEach
    void stop() {
        cluster.close();
        arena.close();
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    private MemorySegment value(long seed) {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    private BatchWriteSession open(PutOptions options, ByteString... keys) {
        return client.openWriteBatch(
                        List.of(keys), Collections.nCopies(keys.length, (long) BYTES), options)
                .orThrow();
    }

    private static List<ByteString> keys(int count) {
        List<ByteString> keys = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            keys.add(ByteString.of("k" + i));
        }
        return keys;
    }

    private static RangeWrite range(ByteString key, MemorySegment value, long from, long to) {
        return new RangeWrite(key, from, value.asSlice(from, to - from));
    }

    private static RangeWrite all(ByteString key, MemorySegment value) {
        return new RangeWrite(key, 0, value);
    }

    private void assertReads(ByteString key, MemorySegment value) {
        MemorySegment into = arena.allocate(value.byteSize());
        assertThat(client.get(key, into)).isEqualTo(Outcome.ok(value.byteSize()));
        assertThat(into.mismatch(value)).isEqualTo(-1);
    }

    private String nodeOf(ByteString key) {
        return ReadItem.buffer(client.replicas(key).orThrow().getFirst()).transportEndpoint();
    }

    @Test
    void many_objects_take_one_request_for_their_start_and_one_for_their_end() {
        List<ByteString> keys = keys(20);
        List<MemorySegment> values = new ArrayList<>();
        List<RangeWrite> ends = new ArrayList<>();
        List<RangeWrite> beginnings = new ArrayList<>();
        for (ByteString key : keys) {
            MemorySegment value = value(values.size());
            values.add(value);
            ends.add(range(key, value, 30_000, BYTES));
            beginnings.add(range(key, value, 0, 30_000));
        }
        Map<String, Long> asked =
                cluster.requestsOf(
                        () -> {
                            try (BatchWriteSession session =
                                    open(PutOptions.DEFAULT, keys.toArray(ByteString[]::new))) {
                                assertThat(session.keys()).isEqualTo(keys);
                                assertThat(session.started()).hasSize(20).allMatch(Outcome::isOk);
                                assertThat(session.write(ends)).hasSize(20).allMatch(Outcome::isOk);
                                assertThat(session.write(beginnings)).allMatch(Outcome::isOk);
                                assertThat(session.commit()).hasSize(20).allMatch(Outcome::isOk);
                            }
                        });
        assertThat(asked).isEqualTo(Map.of("BatchPutStart", 1L, "EndChecked", 1L));
        for (int i = 0; i < keys.size(); i++) {
            assertReads(keys.get(i), values.get(i));
        }
    }

    @Test
    void key_that_could_not_be_started_harms_no_other() {
        MemorySegment old = value(1);
        MemorySegment fresh = value(2);
        client.put(A, old, PutOptions.DEFAULT).orThrow();
        ByteString large = ByteString.of("large");
        ByteString negative = ByteString.of("negative");
        List<ByteString> keys = List.of(A, B, negative, large, B, ByteString.EMPTY, C);
        List<Long> sizes =
                List.of(
                        (long) BYTES,
                        (long) BYTES,
                        -1L,
                        1L << 30,
                        (long) BYTES,
                        (long) BYTES,
                        (long) BYTES);
        Code[] codes = {
            StoreCode.OBJECT_ALREADY_EXISTS,
            StoreCode.OK,
            StoreCode.INVALID_PARAMS,
            StoreCode.NO_AVAILABLE_HANDLE,
            StoreCode.INVALID_PARAMS,
            StoreCode.INVALID_PARAMS,
            StoreCode.OK
        };
        try (BatchWriteSession session =
                client.openWriteBatch(keys, sizes, PutOptions.DEFAULT).orThrow()) {
            assertThat(session.started())
                    .extracting(BatchWriteSessionTest::code)
                    .containsExactly(codes);
            assertThat(session.write(List.of(all(A, fresh), all(B, fresh), all(C, old))))
                    .extracting(BatchWriteSessionTest::code)
                    .containsExactly(StoreCode.OBJECT_ALREADY_EXISTS, StoreCode.OK, StoreCode.OK);
            assertThat(session.commit())
                    .extracting(BatchWriteSessionTest::code)
                    .containsExactly(codes);
        }
        assertReads(A, old);
        assertReads(B, fresh);
        assertReads(C, old);
    }

    @Test
    void groups_are_those_of_their_keys_when_a_key_before_is_refused() {
        PutOptions grouped =
                PutOptions.DEFAULT.withGroups(
                        List.of(ByteString.of("g1"), ByteString.of("g2"), ByteString.EMPTY));
        try (BatchWriteSession session =
                client.openWriteBatch(List.of(A, B, C), List.of(-1L, 10L, 10L), grouped)
                        .orThrow()) {
            assertThat(session.started())
                    .extracting(BatchWriteSessionTest::code)
                    .containsExactly(StoreCode.INVALID_PARAMS, StoreCode.OK, StoreCode.OK);
        }
    }

    @Test
    void range_that_is_refused_harms_no_other() {
        MemorySegment value = value(1);
        MemorySegment gone;
        try (Arena freed = Arena.ofShared()) {
            gone = freed.allocate(10);
        }
        try (BatchWriteSession session = open(PutOptions.DEFAULT, A, B)) {
            assertThat(
                            session.write(
                                    List.of(
                                            range(A, value, 0, 60_000),
                                            new RangeWrite(A, BYTES - 9, value.asSlice(0, 10)),
                                            new RangeWrite(A, -1, value.asSlice(0, 10)),
                                            new RangeWrite(A, 70_000, gone),
                                            all(C, value),
                                            range(B, value, 10, 20),
                                            range(B, value, 19, 30),
                                            range(B, value, 0, 11),
                                            range(B, value, 0, BYTES),
                                            range(B, value, 15, 15),
                                            range(B, value, 0, 10),
                                            range(B, value, 20, BYTES),
                                            range(A, value, 60_000, BYTES))))
                    .extracting(BatchWriteSessionTest::code)
                    .containsExactly(
                            StoreCode.OK,
                            StoreCode.INVALID_PARAMS,
                            StoreCode.INVALID_PARAMS,
                            StoreCode.INVALID_PARAMS,
                            StoreCode.INVALID_PARAMS,
                            StoreCode.OK,
                            StoreCode.INVALID_PARAMS,
                            StoreCode.INVALID_PARAMS,
                            StoreCode.INVALID_PARAMS,
                            StoreCode.OK,
                            StoreCode.OK,
                            StoreCode.OK,
                            StoreCode.OK);
            assertThat(session.commit()).allMatch(Outcome::isOk);
        }
        assertReads(A, value);
        assertReads(B, value);
    }

    @Test
    void commit_leaves_open_what_is_not_complete_and_close_takes_it_back() {
        MemorySegment value = value(1);
        try (BatchWriteSession session = open(PutOptions.DEFAULT, A, B, C)) {
            session.write(List.of(all(A, value), range(B, value, 0, 99_999)));
            List<Outcome<Long>> first = session.commit();
            assertThat(first)
                    .extracting(BatchWriteSessionTest::code)
                    .containsExactly(
                            StoreCode.OK, StoreCode.INVALID_WRITE, StoreCode.INVALID_WRITE);
            assertReads(A, value);
            assertThat(code(client.get(B, arena.allocate(BYTES))))
                    .isEqualTo(StoreCode.REPLICA_IS_NOT_READY);
            assertThat(session.write(List.of(all(A, value), range(B, value, 99_999, BYTES))))
                    .extracting(BatchWriteSessionTest::code)
                    .containsExactly(StoreCode.INVALID_WRITE, StoreCode.OK);
            List<Outcome<Long>> second = session.commit();
            assertThat(second.getFirst()).isEqualTo(first.getFirst());
            assertThat(second)
                    .extracting(BatchWriteSessionTest::code)
                    .containsExactly(StoreCode.OK, StoreCode.OK, StoreCode.INVALID_WRITE);
        }
        assertThat(client.existsBatch(List.of(A, B, C)))
                .containsExactly(Outcome.ok(true), Outcome.ok(true), Outcome.ok(false));
        // Its key is free.
        assertThat(client.put(C, value, PutOptions.DEFAULT).isOk()).isTrue();
    }

    @Test
    void what_is_revoked_never_was() {
        MemorySegment value = value(1);
        BatchWriteSession session = open(PutOptions.DEFAULT, A, B);
        session.write(List.of(all(A, value), all(B, value)));
        Map<String, Long> asked =
                cluster.requestsOf(
                        () -> assertThat(session.revoke()).allMatch(Outcome::isOk).hasSize(2));
        assertThat(asked).isEqualTo(Map.of("BatchPutRevoke", 1L));
        assertThat(client.stats().orThrow().usedBytes()).isZero();
        for (Outcome<?> late : List.of(session.commit().getFirst(), session.revoke().getFirst())) {
            assertThat(code(late)).isEqualTo(StoreCode.INVALID_WRITE);
        }
        assertThat(session.write(List.of(all(A, value))))
                .extracting(BatchWriteSessionTest::code)
                .containsExactly(StoreCode.INVALID_WRITE);
        assertThat(cluster.requestsOf(session::close)).isEmpty();
        assertThat(client.existsBatch(List.of(A, B)))
                .containsExactly(Outcome.ok(false), Outcome.ok(false));
    }

    @Test
    void node_that_takes_its_memory_back_fails_its_own_objects_alone() {
        StorageNode other = cluster.node(16 << 20);
        List<ByteString> keys = keys(40);
        MemorySegment value = value(1);
        List<RangeWrite> ranges = keys.stream().map(key -> all(key, value)).toList();
        try (BatchWriteSession session = open(PutOptions.UPSERT, keys.toArray(ByteString[]::new))) {
            other.unmount(other.segments().getFirst().id(), Duration.ZERO).orThrow();
            List<Code> written =
                    session.write(ranges).stream().map(BatchWriteSessionTest::code).toList();
            assertThat(written).containsOnly(StoreCode.OK, StoreCode.WRITE_FAIL);
            List<Code> committed =
                    session.commit().stream().map(BatchWriteSessionTest::code).toList();
            for (int i = 0; i < keys.size(); i++) {
                assertThat(committed.get(i))
                        .isEqualTo(
                                written.get(i) == StoreCode.OK
                                        ? StoreCode.OK
                                        : StoreCode.INVALID_WRITE);
            }
            for (int i = 0; i < keys.size(); i++) {
                if (written.get(i) == StoreCode.OK) {
                    assertReads(keys.get(i), value);
                    assertThat(nodeOf(keys.get(i))).isEqualTo(node.endpoint());
                }
            }
        }
    }

    @Test
    void session_over_versions_that_readers_have_replaces_them_together() throws Exception {
        MemorySegment old = value(1);
        MemorySegment fresh = value(2);
        client.putBatch(List.of(A, B), List.of(old, old), PutOptions.DEFAULT);
        try (BatchWriteSession session =
                client.async()
                        .openWriteBatch(
                                List.of(A, B),
                                List.of((long) BYTES, (long) BYTES),
                                PutOptions.UPSERT)
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS)
                        .orThrow()) {
            assertThat(session.write(List.of(all(A, fresh), all(B, fresh))))
                    .allMatch(Outcome::isOk);
            assertReads(A, old);
            assertThat(session.commit()).allMatch(Outcome::isOk);
        }
        assertReads(A, fresh);
        assertReads(B, fresh);
    }

    @Test
    void options_that_are_no_sessions_are_refused_as_a_whole() {
        PutOptions nof = new PutOptions(config(1, 1, false));
        for (PutOptions options :
                List.of(
                        PutOptions.DEFAULT.withReplicas(-1),
                        PutOptions.DEFAULT.withReplicas(2).withSameNode(),
                        nof,
                        nof.withSameNode())) {
            assertThat(code(client.openWriteBatch(List.of(A), List.of(10L), options)))
                    .isEqualTo(StoreCode.INVALID_PARAMS);
            assertThat(code(client.openWrite(A, 10, options))).isEqualTo(StoreCode.INVALID_PARAMS);
        }
        assertThat(
                        client.openWriteBatch(List.of(), List.of(), PutOptions.DEFAULT)
                                .orThrow()
                                .commit())
                .isEmpty();
    }

    private static ReplicateConfig config(long replicas, long nofReplicas, boolean sameNode) {
        ReplicateConfig plain = ReplicateConfig.DEFAULT;
        return new ReplicateConfig(
                replicas,
                nofReplicas,
                plain.dfsReplicaNum(),
                plain.softPinAction(),
                plain.softPinTtlMs(),
                plain.withHardPin(),
                plain.preferredSegments(),
                plain.preferredSegment(),
                plain.preferredNofSegments(),
                sameNode,
                plain.dataType(),
                plain.hostId(),
                plain.groupIds());
    }

    @Test
    void lists_of_different_lengths_are_thrown_out() {
        List<Runnable> calls =
                List.of(
                        () -> client.openWriteBatch(List.of(A, B), List.of(1L), PutOptions.DEFAULT),
                        () -> client.putBatch(List.of(A, B), List.of(), PutOptions.DEFAULT),
                        () -> client.upsertBatch(List.of(A, B), List.of(), PutOptions.DEFAULT),
                        () ->
                                client.putPartsBatch(
                                        List.of(), List.of(List.of()), PutOptions.DEFAULT),
                        () -> client.getBatch(List.of(A), List.of()),
                        () -> client.getPartsBatch(List.of(A), List.of()),
                        () -> client.getPrefix(List.of(A), List.of()));
        for (Runnable call : calls) {
            assertThatThrownBy(call::run)
                    .isInstanceOfSatisfying(
                            CassiaException.class,
                            e -> assertThat(e.code()).isEqualTo(StoreCode.INVALID_PARAMS));
        }
    }

    /** Which nodes each batch of eight objects got, of ten batches. */
    private List<Set<String>> nodes(PutOptions options) {
        List<Set<String>> nodes = new ArrayList<>();
        for (int round = 0; round < 10; round++) {
            String suffix = "-" + options.replicate().preferAllocInSameNode() + round;
            List<ByteString> keys =
                    keys(8).stream().map(key -> ByteString.of(key.text() + suffix)).toList();
            MemorySegment value = value(1).asSlice(0, 1000);
            if (round % 2 == 0) {
                List<MemorySegment> parts = List.of(value.asSlice(0, 10), value.asSlice(10));
                assertThat(client.putPartsBatch(keys, Collections.nCopies(8, parts), options))
                        .allMatch(Outcome::isOk);
            } else {
                try (BatchWriteSession session =
                        client.openWriteBatch(keys, Collections.nCopies(8, 1000L), options)
                                .orThrow()) {
                    session.write(keys.stream().map(key -> all(key, value)).toList());
                    assertThat(session.commit()).allMatch(Outcome::isOk);
                }
            }
            Set<String> used = new TreeSet<>();
            keys.forEach(key -> used.add(nodeOf(key)));
            nodes.add(used);
        }
        return nodes;
    }

    @Test
    void batch_that_is_to_lie_on_one_node_does() {
        cluster.node(16 << 20);
        cluster.node(16 << 20);
        assertThat(nodes(PutOptions.DEFAULT.withSameNode())).allMatch(used -> used.size() == 1);
        assertThat(nodes(PutOptions.DEFAULT)).anyMatch(used -> used.size() > 1);
    }

    @Test
    void puts_that_choose_a_node_each_refuse_the_same_node_before_they_ask() {
        MemorySegment value = value(1);
        PutOptions same = PutOptions.DEFAULT.withSameNode();
        List<Outcome<?>> outcomes = new ArrayList<>();
        assertThat(
                        cluster.requestsOf(
                                () -> {
                                    outcomes.add(client.put(A, value, same));
                                    outcomes.add(client.put(A, new byte[10], same));
                                    outcomes.add(client.putVersion(A, value, same));
                                    outcomes.add(client.upsert(A, value, same));
                                    outcomes.add(client.putParts(A, List.of(value), same));
                                    outcomes.addAll(
                                            client.putBatch(List.of(A), List.of(value), same));
                                    outcomes.addAll(
                                            client.upsertBatch(List.of(A), List.of(value), same));
                                    outcomes.addAll(
                                            client.putPartsBatch(
                                                    List.of(A),
                                                    List.of(List.of(value)),
                                                    same.withReplicas(2)));
                                    outcomes.addAll(
                                            client.putPartsBatch(
                                                    List.of(A),
                                                    List.of(List.of(value)),
                                                    new PutOptions(config(1, 1, true))));
                                }))
                .isEmpty();
        assertThat(outcomes)
                .hasSize(9)
                .allMatch(outcome -> code(outcome) == StoreCode.INVALID_PARAMS);
    }
}
