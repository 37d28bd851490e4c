package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.testkit.Seeds;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is written piece by piece is read as it was given, or not at all. */
class WriteSessionTest {
    private static final ByteString KEY = ByteString.of("k");

    /** Two chunks, the second one short. */
    private static final int BYTES = 100_000;

    private final Arena arena = Arena.ofShared();
    private final Cluster cluster = Cluster.start();
    private final StorageNode node = cluster.node(16 << 20);
    private final StoreClient client = cluster.client();

    @AfterEach
    void stop() {
        cluster.close();
        arena.close();
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    private MemorySegment random(long seed) {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    /** Where in the node's memory an object lies that nobody can ask for yet. */
    private MemorySegment place(MemorySegment value) {
        Segment segment = node.segments().getFirst();
        MemorySegment memory = MemorySegment.ofAddress(segment.base()).reinterpret(segment.size());
        for (long at = 0; at + value.byteSize() <= segment.size(); at++) {
            if (memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at)
                            == value.get(ValueLayout.JAVA_LONG_UNALIGNED, 0)
                    && memory.asSlice(at, value.byteSize()).mismatch(value) == -1) {
                return memory.asSlice(at, value.byteSize());
            }
        }
        throw new AssertionError("the object is not in the node's memory");
    }

    /** As a writer does that comes too late. */
    private void damage(MemorySegment value, long offset) {
        MemorySegment there = place(value);
        byte old = there.get(ValueLayout.JAVA_BYTE, offset);
        there.set(ValueLayout.JAVA_BYTE, offset, (byte) ~old);
    }

    private static void write(WriteSession session, MemorySegment value, long from, long to) {
        session.write(from, value.asSlice(from, to - from)).orThrow();
    }

    @Test
    void what_somebody_else_writes_between_pieces_and_commit_is_found() {
        MemorySegment value = random(1);
        try (WriteSession session = client.openWrite(KEY, BYTES, PutOptions.DEFAULT).orThrow()) {
            // Out of order, and no piece has a whole chunk.
            write(session, value, 70_000, BYTES);
            write(session, value, 30_000, 70_000);
            write(session, value, 0, 30_000);
            damage(value, 50_000);
            session.commit().orThrow();
        }
        assertThat(code(client.get(KEY, arena.allocate(BYTES))))
                .isEqualTo(StoreCode.CHECKSUM_MISMATCH);
    }

    @Test
    void only_a_chunk_that_was_written_over_in_part_is_what_the_node_has() {
        MemorySegment value = random(1);
        try (WriteSession session = client.openWrite(KEY, BYTES, PutOptions.DEFAULT).orThrow()) {
            write(session, value, 0, BYTES);
            write(session, value, 80_000, 90_000);
            damage(value, 95_000);
            session.commit().orThrow();
        }
        MemorySegment into = arena.allocate(BYTES);
        assertThat(client.get(KEY, into)).isEqualTo(Outcome.ok((long) BYTES));
        assertThat(into.mismatch(value)).isEqualTo(95_000);
    }

    @Test
    void pieces_in_any_order_one_over_the_other_are_read_as_the_last_ones() {
        cluster.node(16 << 20);
        PutOptions twice = PutOptions.UPSERT.withReplicas(2);
        MemorySegment into = arena.allocate(BYTES);
        Seeds.forEach(
                50,
                seed -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    MemorySegment model = arena.allocate(BYTES);
                    try (WriteSession session = client.openWrite(KEY, BYTES, twice).orThrow()) {
                        while (!session.commit().isOk()) {
                            int from = random.nextInt(BYTES);
                            int to = Math.min(BYTES, from + random.nextInt(BYTES));
                            // Most writes begin or end where the object does, so that it fills up.
                            from = random.nextInt(3) == 0 ? 0 : from;
                            to = random.nextInt(3) == 0 ? BYTES : to;
                            MemorySegment piece =
                                    random(random.nextLong()).asSlice(from, to - from);
                            session.write(from, piece).orThrow();
                            model.asSlice(from, to - from).copyFrom(piece);
                        }
                    }
                    assertThat(client.get(KEY, into)).isEqualTo(Outcome.ok((long) BYTES));
                    assertThat(into.mismatch(model)).isEqualTo(-1);
                    assertThat(client.replicas(KEY).orThrow()).hasSize(2);
                });
    }

    @Test
    void committing_once_more_tells_the_same_version() {
        try (WriteSession session = client.openWrite(KEY, BYTES, PutOptions.DEFAULT).orThrow()) {
            write(session, random(1), 0, BYTES);
            long version = session.commit().orThrow();
            assertThat(session.commit()).isEqualTo(Outcome.ok(version));
            assertThat(code(session.revoke())).isEqualTo(StoreCode.INVALID_WRITE);
        }
        assertThat(client.exists(KEY)).isEqualTo(Outcome.ok(true));
    }
}
