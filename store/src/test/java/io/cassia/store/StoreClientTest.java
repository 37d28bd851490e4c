package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.transfer.environment.EngineEnvironment;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StoreClientTest {
    private final Arena arena = Arena.ofShared();
    private final Cluster cluster = Cluster.start();
    private StorageNode node;
    private StoreClient client;

    @BeforeEach
    void connect() {
        node = cluster.node(64 << 20);
        client = cluster.client();
    }

    @AfterEach
    void stop() {
        cluster.close();
        arena.close();
    }

    private static ByteString key(String text) {
        return ByteString.of(text);
    }

    private static byte[] bytes(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private MemorySegment memory(byte[] bytes) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    private static byte[] array(MemorySegment memory) {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    /** Flips a byte of a replica in the node's memory, as a broken DIMM would. */
    private static void damage(ReplicaDescriptor replica, long offset) {
        MemorySegment byteThere =
                MemorySegment.ofAddress(ReadItem.buffer(replica).address() + offset).reinterpret(1);
        byte old = byteThere.get(ValueLayout.JAVA_BYTE, 0);
        byteThere.set(ValueLayout.JAVA_BYTE, 0, (byte) (old ^ 1));
    }

    @Test
    void every_range_of_an_object_is_what_was_put() {
        byte[] value = bytes(200_001, 1);
        client.put(key("k"), value, PutOptions.DEFAULT).orThrow();
        int[] marks = {0, 1, 65535, 65536, 65537, 100_000, 131_072, 131_073, 200_000, 200_001};
        for (int from : marks) {
            for (int to : marks) {
                if (from <= to) {
                    MemorySegment into = arena.allocate(to - from);
                    assertThat(client.getRange(key("k"), from, into))
                            .isEqualTo(Outcome.ok((long) to - from));
                    assertThat(array(into)).isEqualTo(Arrays.copyOfRange(value, from, to));
                }
            }
        }
        assertThat(code(client.getRange(key("k"), 200_000, arena.allocate(2))))
                .isEqualTo(StoreCode.INVALID_READ);
        assertThat(client.getBytes(key("k")).orThrow()).isEqualTo(value);
    }

    @Test
    void more_ranges_than_the_local_buffer_has_room_for_are_read_all_the_same() {
        StoreClient small =
                cluster.client(StoreClientConfig.Memory.DEFAULT.withLocalBuffer(1 << 20));
        byte[] value = bytes(1_000_000, 8);
        client.put(key("k"), value, PutOptions.DEFAULT).orThrow();
        MemorySegment into = arena.allocate(100 * 100);
        List<RangeRead> ranges = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ranges.add(new RangeRead(key("k"), 9_999L * i + 1, into.asSlice(100L * i, 100)));
        }
        assertThat(small.getRanges(ranges)).hasSize(100).allMatch(Outcome::isOk);
        for (int i = 0; i < 100; i++) {
            assertThat(array(into.asSlice(100L * i, 100)))
                    .isEqualTo(Arrays.copyOfRange(value, 9_999 * i + 1, 9_999 * i + 101));
        }
    }

    @Test
    void wrong_byte_in_either_half_of_a_large_object_is_found() {
        for (long offset : new long[] {0, 700_000, 1_999_999}) {
            client.upsert(key("k"), memory(bytes(2_000_000, 5)), PutOptions.DEFAULT).orThrow();
            MemorySegment into = arena.allocate(2_000_000);
            client.get(key("k"), into).orThrow();
            damage(client.replicas(key("k")).orThrow().getFirst(), offset);
            assertThat(code(client.get(key("k"), into))).isEqualTo(StoreCode.CHECKSUM_MISMATCH);
        }
    }

    @Test
    void parts_are_gathered_and_scattered_in_order() {
        byte[] value = bytes(150_000, 2);
        List<MemorySegment> parts =
                List.of(
                        memory(Arrays.copyOfRange(value, 0, 10)),
                        memory(new byte[0]),
                        memory(Arrays.copyOfRange(value, 10, 70_000)),
                        memory(Arrays.copyOfRange(value, 70_000, 150_000)));
        client.putParts(key("k"), parts, PutOptions.DEFAULT).orThrow();
        MemorySegment all = arena.allocate(150_100);
        List<MemorySegment> into =
                List.of(all.asSlice(0, 3), all.asSlice(3, 99_997), all.asSlice(100_000, 50_100));
        assertThat(client.getParts(key("k"), into)).isEqualTo(Outcome.ok(150_000L));
        assertThat(array(all.asSlice(0, 150_000))).isEqualTo(value);
    }

    @Test
    void batch_tells_of_each_key_and_harms_no_neighbour() {
        List<ByteString> keys = new ArrayList<>();
        List<MemorySegment> values = new ArrayList<>();
        List<MemorySegment> into = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            keys.add(key("k" + i));
            values.add(memory(bytes(1000 + i, i)));
            into.add(arena.allocate(1000 + i));
        }
        List<ByteString> stored = new ArrayList<>(keys);
        stored.remove(17);
        List<MemorySegment> storedValues = new ArrayList<>(values);
        storedValues.remove(17);
        stored.remove(30);
        storedValues.remove(30);
        assertThat(client.putBatch(stored, storedValues, PutOptions.DEFAULT))
                .hasSize(98)
                .allMatch(Outcome::isOk);
        into.set(50, arena.allocate(1049));
        keys.set(70, key("k69"));
        try (WriteSession notReady =
                client.openWrite(key("k31"), 1031, PutOptions.DEFAULT).orThrow()) {
            List<Outcome<Long>> got = client.getBatch(keys, into);
            for (int i = 0; i < 100; i++) {
                Code expected =
                        switch (i) {
                            case 17 -> StoreCode.OBJECT_NOT_FOUND;
                            case 31 -> StoreCode.REPLICA_IS_NOT_READY;
                            case 50 -> StoreCode.INVALID_PARAMS;
                            default -> StoreCode.OK;
                        };
                assertThat(code(got.get(i))).as("key %d", i).isEqualTo(expected);
                if (expected == StoreCode.OK) {
                    int from = i == 70 ? 69 : i;
                    assertThat(array(into.get(i).asSlice(0, 1000 + from)))
                            .isEqualTo(bytes(1000 + from, from));
                }
            }
            assertThat(notReady.sizeBytes()).isEqualTo(1031);
        }
    }

    @Test
    void same_key_twice_fills_both_buffers() {
        client.put(key("a"), bytes(5000, 1), PutOptions.DEFAULT).orThrow();
        client.put(key("b"), bytes(6000, 2), PutOptions.DEFAULT).orThrow();
        List<MemorySegment> into =
                List.of(arena.allocate(5000), arena.allocate(6000), arena.allocate(5000));
        assertThat(client.getBatch(List.of(key("a"), key("b"), key("a")), into))
                .containsExactly(Outcome.ok(5000L), Outcome.ok(6000L), Outcome.ok(5000L));
        assertThat(array(into.get(0))).isEqualTo(bytes(5000, 1));
        assertThat(array(into.get(1))).isEqualTo(bytes(6000, 2));
        assertThat(array(into.get(2))).isEqualTo(bytes(5000, 1));
    }

    @Test
    void version_decides_over_a_conditional_put() {
        MemorySegment value = memory(bytes(100, 1));
        assertThat(code(client.put(key("k"), value, PutOptions.DEFAULT.ifVersion(7))))
                .isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        long first = client.putVersion(key("k"), value, PutOptions.DEFAULT).orThrow();
        assertThat(client.info(key("k")).orThrow().version()).isEqualTo(first);
        MemorySegment other = memory(bytes(300, 2));
        long second =
                client.putVersion(key("k"), other, PutOptions.DEFAULT.ifVersion(first)).orThrow();
        assertThat(second).isNotEqualTo(first);
        assertThat(code(client.put(key("k"), value, PutOptions.DEFAULT.ifVersion(first))))
                .isEqualTo(StoreCode.INVALID_VERSION);
        assertThat(client.getBytes(key("k")).orThrow()).isEqualTo(bytes(300, 2));
        client.upsert(key("k"), value, PutOptions.DEFAULT).orThrow();
        assertThat(client.getBytes(key("k")).orThrow()).isEqualTo(bytes(100, 1));
    }

    @Test
    void prefix_ends_at_the_first_key_that_is_not_readable() {
        List<ByteString> keys = List.of(key("p0"), key("p1"), key("p2"), key("p3"));
        for (int i : new int[] {0, 1, 3}) {
            client.put(keys.get(i), bytes(10, i), PutOptions.DEFAULT).orThrow();
        }
        assertThat(client.longestPrefix(keys)).isEqualTo(Outcome.ok(2));
        assertThat(client.longestPrefix(keys.subList(2, 4))).isEqualTo(Outcome.ok(0));
        List<MemorySegment> into = new ArrayList<>();
        keys.forEach(_ -> into.add(arena.allocate(10)));
        assertThat(client.getPrefix(keys, into)).hasSize(2).allMatch(Outcome::isOk);
    }

    @Test
    void no_replica_is_blamed_when_the_caller_reads_two_objects_into_one_memory() {
        client.put(key("a"), bytes(10, 1), PutOptions.DEFAULT).orThrow();
        client.put(key("b"), bytes(10, 2), PutOptions.DEFAULT).orThrow();
        List<MemorySegment> into = Collections.nCopies(2, arena.allocate(10));
        assertThat(client.getBatch(List.of(key("a"), key("b")), into))
                .extracting(StoreClientTest::code)
                .containsExactly(StoreCode.CHECKSUM_MISMATCH, StoreCode.OK);
        assertThat(client.getBytes(key("a")).orThrow()).isEqualTo(bytes(10, 1));
    }

    @Test
    void object_is_written_and_read_piece_by_piece() throws Exception {
        byte[] value = bytes(3_000_000, 9);
        MemorySegment memory = memory(value);
        try (WriteSession session =
                client.openWrite(key("k"), value.length, PutOptions.DEFAULT).orThrow()) {
            session.write(2_000_000, memory.asSlice(2_000_000)).orThrow();
            session.write(0, memory.asSlice(0, 70_000)).orThrow();
            assertThat(code(session.commit())).isEqualTo(StoreCode.INVALID_WRITE);
            session.write(70_000, memory.asSlice(70_000, 1_930_000)).orThrow();
            session.commit().orThrow();
            assertThat(code(session.write(0, memory))).isEqualTo(StoreCode.INVALID_WRITE);
        }
        try (ObjectStream stream = client.openStream(key("k")).orThrow()) {
            assertThat(stream.readAllBytes()).isEqualTo(value);
        }
        assertThat(client.openWrite(key("gone"), 10, PutOptions.DEFAULT).orThrow().revoke())
                .isEqualTo(Outcome.done());
        assertThat(client.exists(key("gone"))).isEqualTo(Outcome.ok(false));
    }

    @Test
    void wrong_bytes_of_one_replica_are_read_from_the_other_and_leave_service() {
        cluster.node(64 << 20);
        byte[] value = bytes(300_000, 3);
        client.put(key("k"), value, PutOptions.DEFAULT.withReplicas(2)).orThrow();
        List<ReplicaDescriptor> replicas = client.replicas(key("k")).orThrow();
        assertThat(replicas).hasSize(2);
        damage(replicas.getFirst(), 299_999);
        damage(replicas.getLast(), 0);
        MemorySegment into = arena.allocate(10_000);
        client.getRange(key("k"), 290_000, into).orThrow();
        assertThat(array(into)).isEqualTo(Arrays.copyOfRange(value, 290_000, 300_000));
        assertThat(client.replicas(key("k")).orThrow()).containsExactly(replicas.getLast());
        assertThat(code(client.getRange(key("k"), 1, into))).isEqualTo(StoreCode.CHECKSUM_MISMATCH);
        assertThat(code(client.getRange(key("k"), 1, into))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(cluster.meters.counter("cassia_store_read_checksum_mismatch").count())
                .isEqualTo(2);
    }

    /** What a Mooncake client writes that computes checksums, and one that verifies them reads. */
    @Test
    void wrong_bytes_are_found_by_upstreams_checksum_alone_and_leave_service() {
        cluster.node(64 << 20);
        StoreClient upstream =
                cluster.client(StoreClientConfig.Memory.DEFAULT.withCrc64(true).withSums(false));
        byte[] value = bytes(300_000, 3);
        upstream.put(key("k"), memory(value), PutOptions.DEFAULT.withReplicas(2)).orThrow();
        MemorySegment into = arena.allocate(300_000);
        client.get(key("k"), into).orThrow();
        assertThat(array(into)).isEqualTo(value);
        List<ReplicaDescriptor> replicas = client.replicas(key("k")).orThrow();
        replicas.forEach(replica -> damage(replica, 299_999));
        assertThat(code(client.get(key("k"), into))).isEqualTo(StoreCode.CHECKSUM_MISMATCH);
        assertThat(code(client.get(key("k"), into))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    void upstreams_checksum_is_handed_to_who_expects_one() {
        StoreClient both = cluster.client(StoreClientConfig.Memory.DEFAULT.withCrc64(true));
        MemorySegment value = memory(bytes(70_000, 3));
        both.put(key("k"), value, PutOptions.DEFAULT).orThrow();
        Clock clock = Clock.system();
        Deadline deadline = Deadline.after(clock, Duration.ofSeconds(20));
        try (MasterLink plain =
                MasterLink.connect(
                                cluster.address(),
                                StoreClientConfig.Calls.DEFAULT,
                                new Uuid(3, 4),
                                clock,
                                deadline,
                                new SimpleMeterRegistry())
                        .orThrow()) {
            Args.Key asked = new Args.Key(key("k"), ByteString.of("default"));
            assertThat(
                            plain.call(MasterMethods.GET_REPLICA_LIST, asked, deadline)
                                    .orThrow()
                                    .objectChecksum())
                    .hasValue(Crc64.of(List.of(value)));
        }
    }

    @Test
    void memory_that_is_no_longer_lent_refuses_the_write() {
        WriteSession session = client.openWrite(key("k"), 100, PutOptions.DEFAULT).orThrow();
        node.unmount(node.segments().getFirst().id(), Duration.ZERO).orThrow();
        assertThat(code(session.write(0, memory(bytes(100, 1))))).isEqualTo(StoreCode.WRITE_FAIL);
        assertThat(code(session.commit())).isEqualTo(StoreCode.INVALID_WRITE);
        session.close();
        assertThat(client.exists(key("k"))).isEqualTo(Outcome.ok(false));
    }

    @Test
    void replicas_are_copied_and_moved_on_order() {
        StorageNode other = cluster.node(64 << 20);
        StorageNode third = cluster.node(64 << 20);
        List<StorageNode> nodes = List.of(node, other, third);
        byte[] value = bytes(100_000, 4);
        client.put(key("k"), value, PutOptions.DEFAULT).orThrow();
        String first = endpoints(key("k")).getFirst();
        List<String> others =
                nodes.stream().map(StorageNode::endpoint).filter(n -> !n.equals(first)).toList();
        client.awaitTask(client.copy(key("k"), List.of(others.get(0))).orThrow()).orThrow();
        assertThat(endpoints(key("k"))).containsExactlyInAnyOrder(first, others.get(0));
        client.awaitTask(client.move(key("k"), first, others.get(1)).orThrow()).orThrow();
        assertThat(endpoints(key("k"))).containsExactlyInAnyOrderElementsOf(others);
        assertThat(client.getBytes(key("k")).orThrow()).isEqualTo(value);
    }

    private List<String> endpoints(ByteString key) {
        return client.replicas(key).orThrow().stream()
                .map(replica -> ReadItem.buffer(replica).transportEndpoint())
                .toList();
    }

    @Test
    void drained_node_leaves_its_objects_to_the_others() {
        for (int i = 0; i < 20; i++) {
            client.put(key("k" + i), bytes(1000, i), PutOptions.DEFAULT).orThrow();
        }
        StorageNode other = cluster.node(64 << 20);
        assertThat(node.drain(Duration.ofSeconds(30))).isEqualTo(Outcome.done());
        node.close();
        for (int i = 0; i < 20; i++) {
            assertThat(client.getBytes(key("k" + i)).orThrow()).isEqualTo(bytes(1000, i));
            assertThat(endpoints(key("k" + i))).containsExactly(other.endpoint());
        }
    }

    @Test
    void copy_of_a_remote_object_serves_its_own_version_and_no_other() {
        cluster.close();
        try (Cluster remote = Cluster.start()) {
            remote.node(
                    new NodeConfig(
                            remote.address(),
                            StoreClientConfig.P2P,
                            "127.0.0.1",
                            16 << 20,
                            EngineEnvironment.read(Map.of("MC_FORCE_TCP", "1")).orThrow()));
            StoreClientConfig tcp =
                    remote.config()
                            .withEngine(
                                    EngineEnvironment.read(Map.of("MC_FORCE_TCP", "1")).orThrow())
                            .withMemory(StoreClientConfig.Memory.DEFAULT.withHotCache(64 << 20));
            StoreClient reader = remote.client(tcp);
            StoreClient writer = remote.client();
            writer.put(key("k"), bytes(100_000, 1), PutOptions.DEFAULT).orThrow();
            MemorySegment into = arena.allocate(100_000);
            for (int i = 0; i < 5; i++) {
                reader.get(key("k"), into.fill((byte) 0)).orThrow();
                assertThat(array(into)).isEqualTo(bytes(100_000, 1));
            }
            double hits = remote.meters.counter("cassia_store_hot_cache_hits").count();
            assertThat(hits).isEqualTo(3);
            writer.put(key("k"), bytes(100_000, 2), PutOptions.UPSERT).orThrow();
            reader.get(key("k"), into).orThrow();
            assertThat(array(into)).isEqualTo(bytes(100_000, 2));
            writer.remove(key("k"), true).orThrow();
            assertThat(code(reader.get(key("k"), into))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
            assertThat(remote.meters.counter("cassia_store_hot_cache_hits").count())
                    .isEqualTo(hits);
        }
    }

    @Test
    void embedded_store_reads_its_own_memory() {
        NodeConfig memory =
                new NodeConfig(cluster.address(), StoreClientConfig.P2P, "127.0.0.1", 16 << 20);
        try (EmbeddedStore store =
                EmbeddedStore.start(
                                memory, cluster.config(), Clock.system(), new SimpleMeterRegistry())
                        .orThrow()) {
            List<String> own = List.of(store.node().endpoint());
            store.client()
                    .put(key("k"), bytes(1000, 1), PutOptions.DEFAULT.withPreferred(own))
                    .orThrow();
            assertThat(endpoints(key("k"))).isEqualTo(own);
            assertThat(client.getBytes(key("k")).orThrow()).isEqualTo(bytes(1000, 1));
        }
        assertThat(code(client.getBytes(key("k")))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    void large_memory_is_mounted_in_pieces_of_the_longest_segment() {
        StorageNode split =
                cluster.node(
                        new NodeConfig(
                                        cluster.address(),
                                        StoreClientConfig.P2P,
                                        "127.0.0.1",
                                        (10 << 20) + 4096)
                                .withLongestSegment(4 << 20));
        assertThat(split.segments())
                .extracting(segment -> segment.size())
                .containsExactly(4L << 20, 4L << 20, (2L << 20) + 4096);
        assertThat(client.stats().orThrow().capacityBytes())
                .isEqualTo((64L << 20) + (10 << 20) + 4096);
        assertThat(code(split.unmount(new Uuid(1, 2), Duration.ZERO)))
                .isEqualTo(StoreCode.SEGMENT_NOT_FOUND);
    }

    @Test
    void local_buffer_has_an_end() {
        StoreClient small =
                cluster.client(StoreClientConfig.Memory.DEFAULT.withLocalBuffer(1 << 20));
        assertThat(code(small.put(key("k"), bytes(2 << 20, 1), PutOptions.DEFAULT)))
                .isEqualTo(StoreCode.BUFFER_OVERFLOW);
        assertThat(small.put(key("k"), bytes(1 << 20, 1), PutOptions.DEFAULT).isOk()).isTrue();
        assertThat(small.getBytes(key("k")).orThrow()).isEqualTo(bytes(1 << 20, 1));
    }

    @Test
    void memory_on_the_heap_is_refused_for_its_key_alone() {
        MemorySegment heap = MemorySegment.ofArray(new byte[10]);
        List<Outcome<Done>> put =
                client.putBatch(
                        List.of(key("a"), key("b")),
                        List.of(heap, memory(bytes(10, 1))),
                        PutOptions.DEFAULT);
        assertThat(code(put.get(0))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(put.get(1).isOk()).isTrue();
        assertThat(code(client.get(key("b"), heap))).isEqualTo(StoreCode.INVALID_PARAMS);
    }

    @Test
    void stages_complete_with_the_same_outcomes() throws Exception {
        assertThat(
                        client.async()
                                .put(key("k"), memory(bytes(10, 1)), PutOptions.DEFAULT)
                                .toCompletableFuture()
                                .get(10, TimeUnit.SECONDS))
                .isEqualTo(Outcome.done());
        assertThat(
                        client.async()
                                .getBytes(key("k"))
                                .toCompletableFuture()
                                .get(10, TimeUnit.SECONDS)
                                .orThrow())
                .isEqualTo(bytes(10, 1));
        assertThat(
                        code(
                                client.async()
                                        .exists(key("k"))
                                        .toCompletableFuture()
                                        .get(10, TimeUnit.SECONDS)))
                .isEqualTo(StoreCode.OK);
    }

    @Test
    void replicas_are_found_by_expression_and_those_of_one_segment_are_cleared() {
        StorageNode second = cluster.node(16 << 20);
        StoreClient other = cluster.client();
        client.put(key("a-1"), bytes(10, 1), PutOptions.DEFAULT.withReplicas(2)).orThrow();
        client.put(key("b-1"), bytes(10, 1), PutOptions.DEFAULT).orThrow();
        other.put(key("a-2"), bytes(10, 1), PutOptions.DEFAULT).orThrow();
        assertThat(client.replicasByRegex("^a-").orThrow().keySet())
                .containsExactlyInAnyOrder(key("a-1"), key("a-2"));
        assertThat(code(client.replicasByRegex("("))).isEqualTo(StoreCode.INVALID_PARAMS);
        // Who was told where replicas are has a lease on them.
        List<ByteString> keys = List.of(key("a-1"), key("a-2"), key("b-1"), key("x"));
        assertThat(client.removeBatch(List.of(key("a-1")), true)).allMatch(Outcome::isOk);
        client.put(key("a-1"), bytes(10, 1), PutOptions.DEFAULT.withReplicas(2)).orThrow();
        assertThat(client.clearReplicas(keys, second.endpoint()).orThrow()).contains("a-1");
        assertThat(endpoints(key("a-1"))).containsExactly(node.endpoint());
        assertThat(other.exists(key("a-2"))).as("another's").isEqualTo(Outcome.ok(true));
    }

    @Test
    void removals_take_what_matches() {
        for (String name : List.of("a-1", "a-2", "b-1")) {
            client.put(key(name), bytes(10, 1), PutOptions.DEFAULT).orThrow();
        }
        assertThat(client.removeByRegex("^a-", false)).isEqualTo(Outcome.ok(2L));
        assertThat(code(client.removeByRegex("(", false))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(client.removeBatch(List.of(key("b-1"), key("x")), false))
                .extracting(StoreClientTest::code)
                .containsExactly(StoreCode.OK, StoreCode.OBJECT_NOT_FOUND);
        assertThat(client.health()).isEqualTo(Outcome.done());
    }
}
