package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferRequest;
import io.cassia.transfer.environment.EngineEnvironment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every chunk is proved, whoever copies it and whenever it comes. */
class ProofOnTheWayTest {
    /** Seventeen chunks, the last one short. */
    private static final int LENGTH = 16 * Checksums.CHUNK_BYTES + 5_000;

    private final Arena arena = Arena.ofShared();
    private final Cluster cluster = Cluster.start();
    private final StorageNode node = cluster.node(96 << 20);

    @AfterEach
    void stop() {
        cluster.close();
        arena.close();
    }

    private StoreClient client(boolean overTcp) {
        return cluster.client(
                cluster.config()
                        .withEngine(
                                EngineEnvironment.read(
                                                overTcp ? Map.of("MC_FORCE_TCP", "1") : Map.of())
                                        .orThrow()));
    }

    private MemorySegment random(Arena memory, int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return memory.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    private static void damage(ReplicaDescriptor replica, long offset) {
        MemorySegment there =
                MemorySegment.ofAddress(ReadItem.buffer(replica).address() + offset).reinterpret(1);
        byte old = there.get(ValueLayout.JAVA_BYTE, 0);
        there.set(ValueLayout.JAVA_BYTE, 0, (byte) (old ^ 64));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void wrong_byte_in_any_chunk_is_found_and_named(boolean overTcp) {
        StoreClient client = client(overTcp);
        MemorySegment value = random(arena, LENGTH, 1);
        MemorySegment into = arena.allocate(LENGTH);
        for (int chunk = 0; chunk < Checksums.chunks(LENGTH); chunk++) {
            ByteString key = ByteString.of("k" + chunk);
            client.put(key, value, PutOptions.DEFAULT).orThrow();
            client.get(key, into).orThrow();
            assertThat(into.mismatch(value)).isEqualTo(-1);
            long at = chunk * (long) Checksums.CHUNK_BYTES + 4_999;
            damage(client.replicas(key).orThrow().getFirst(), at);
            Outcome<Long> got = client.get(key, into);
            assertThat(code(got)).isEqualTo(StoreCode.CHECKSUM_MISMATCH);
            assertThat(((Outcome.Failed<Long>) got).detail())
                    .contains("the 64 KiB at " + chunk * (long) Checksums.CHUNK_BYTES + " ");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void batch_names_the_objects_with_wrong_bytes_and_no_others(boolean overTcp) {
        StoreClient client = client(overTcp);
        List<ByteString> keys = new ArrayList<>();
        List<MemorySegment> values = new ArrayList<>();
        List<MemorySegment> into = new ArrayList<>();
        int[] lengths = {1, 65_536, 100_000, 131_072, 70_000, 300_001, 2_000_000, 64, 1_048_576};
        for (int length : lengths) {
            keys.add(ByteString.of("b" + length));
            values.add(random(arena, length, length));
            into.add(arena.allocate(length));
        }
        assertThat(client.putBatch(keys, values, PutOptions.DEFAULT)).allMatch(Outcome::isOk);
        assertThat(client.getBatch(keys, into)).allMatch(Outcome::isOk);
        for (int i = 0; i < lengths.length; i++) {
            assertThat(into.get(i).mismatch(values.get(i))).isEqualTo(-1);
        }
        for (int i = 1; i < lengths.length; i += 2) {
            damage(client.replicas(keys.get(i)).orThrow().getFirst(), lengths[i] - 1);
        }
        List<Outcome<Long>> got = client.getBatch(keys, into);
        for (int i = 0; i < lengths.length; i++) {
            assertThat(code(got.get(i)))
                    .isEqualTo(i % 2 == 1 ? StoreCode.CHECKSUM_MISMATCH : StoreCode.OK);
        }
    }

    @Test
    void batch_over_several_nodes_of_this_process_is_right_everywhere() {
        for (int i = 0; i < 2; i++) {
            StorageNode _ = cluster.node(96 << 20);
        }
        StoreClient client = client(false);
        List<ByteString> keys = new ArrayList<>();
        List<MemorySegment> values = new ArrayList<>();
        List<MemorySegment> into = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            int length = i % 7 == 0 ? 700_000 + i : 4_000 * i + 1;
            keys.add(ByteString.of("n" + i));
            values.add(random(arena, length, i));
            into.add(arena.allocate(length));
        }
        PutOptions twice = PutOptions.DEFAULT.withReplicas(2);
        assertThat(client.putBatch(keys, values, twice)).allMatch(Outcome::isOk);
        assertThat(client.getBatch(keys, into)).allMatch(Outcome::isOk);
        for (int i = 0; i < keys.size(); i++) {
            assertThat(into.get(i).mismatch(values.get(i))).isEqualTo(-1);
        }
        // The other replica is read where the nearest one is wrong.
        for (int i = 0; i < keys.size(); i += 5) {
            damage(client.replicas(keys.get(i)).orThrow().getFirst(), values.get(i).byteSize() / 2);
        }
        into.forEach(memory -> memory.fill((byte) 0));
        assertThat(client.getBatch(keys, into)).allMatch(Outcome::isOk);
        for (int i = 0; i < keys.size(); i++) {
            assertThat(into.get(i).mismatch(values.get(i))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sums_of_parts_are_those_of_the_whole(boolean overTcp) {
        StoreClient client = client(overTcp);
        MemorySegment value = random(arena, 3_000_000, 7);
        long chunk = Checksums.CHUNK_BYTES;
        List<List<MemorySegment>> cuts =
                List.of(
                        List.of(
                                value.asSlice(0, 2 * chunk),
                                value.asSlice(2 * chunk, 0),
                                value.asSlice(2 * chunk, 20 * chunk),
                                value.asSlice(22 * chunk)),
                        List.of(value.asSlice(0, 1_000_001), value.asSlice(1_000_001)));
        for (int i = 0; i < cuts.size(); i++) {
            ByteString key = ByteString.of("cut" + i);
            client.putParts(key, cuts.get(i), PutOptions.DEFAULT.withReplicas(1)).orThrow();
            MemorySegment into = arena.allocate(3_000_000);
            assertThat(client.get(key, into)).isEqualTo(Outcome.ok(3_000_000L));
            assertThat(into.mismatch(value)).isEqualTo(-1);
            for (List<MemorySegment> cut : cuts) {
                List<MemorySegment> parts =
                        cut.stream().map(part -> arena.allocate(part.byteSize())).toList();
                assertThat(client.getParts(key, parts)).isEqualTo(Outcome.ok(3_000_000L));
                for (int part = 0; part < parts.size(); part++) {
                    assertThat(parts.get(part).mismatch(cut.get(part))).isEqualTo(-1);
                }
            }
            damage(client.replicas(key).orThrow().getFirst(), 2_999_999);
            List<MemorySegment> parts =
                    cuts.get(i).stream().map(part -> arena.allocate(part.byteSize())).toList();
            assertThat(code(client.getParts(key, parts))).isEqualTo(StoreCode.CHECKSUM_MISMATCH);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void memory_of_the_calling_thread_alone_is_put_and_read(boolean overTcp) {
        StoreClient client = client(overTcp);
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment value = random(confined, 5_000_000, 3);
            MemorySegment into = confined.allocate(5_000_000);
            client.put(ByteString.of("mine"), value, PutOptions.DEFAULT).orThrow();
            client.get(ByteString.of("mine"), into).orThrow();
            assertThat(into.mismatch(value)).isEqualTo(-1);
        }
    }

    @Test
    void memory_that_is_not_lent_any_more_fails_the_whole_object_once() {
        StoreClient client = client(false);
        ByteString key = ByteString.of("gone");
        client.put(key, random(arena, 8_000_000, 4), PutOptions.DEFAULT).orThrow();
        WriteSession session =
                client.openWrite(ByteString.of("half"), 100, PutOptions.DEFAULT).orThrow();
        node.unmount(node.segments().getFirst().id(), Duration.ZERO).orThrow();
        assertThat(code(client.get(key, arena.allocate(8_000_000)))).isNotEqualTo(StoreCode.OK);
        session.close();
    }

    /** Proves the chunks of some memory, and counts. */
    private static final class Counting extends Chunks {
        private final ByteString sums;
        private int looks;

        Counting(MemorySegment value) {
            super(value);
            this.sums = Checksums.of(List.of(value));
        }

        @Override
        boolean take(int chunk, int sum) {
            looks++;
            return sum == Checksums.read(sums, chunk);
        }
    }

    @Test
    void what_came_by_a_connection_that_broke_is_looked_at_anew() {
        MemorySegment value = random(arena, LENGTH, 9);
        Counting chunks = new Counting(value);
        TransferRequest request =
                new TransferRequest(Opcode.READ, value, new SegmentHandle(1, "peer"), 0);
        Transfers.Looks looks = new Transfers.Looks(List.of(request), List.of(chunks));
        looks.reached(0, 65_535);
        assertThat(chunks.looks).isZero();
        looks.reached(0, 200_000);
        assertThat(chunks.looks).isEqualTo(3);
        looks.reached(0, 0);
        byte old = value.get(ValueLayout.JAVA_BYTE, 70_000);
        value.set(ValueLayout.JAVA_BYTE, 70_000, (byte) (old + 1));
        assertThat(chunks.finish()).isEqualTo(1);
        value.set(ValueLayout.JAVA_BYTE, 70_000, old);
        chunks.looks = 0;
        looks.reached(0, LENGTH);
        assertThat(chunks.looks).isEqualTo(17);
        assertThat(chunks.finish()).isEqualTo(-1);
        assertThat(chunks.looks).isEqualTo(17);
    }
}
