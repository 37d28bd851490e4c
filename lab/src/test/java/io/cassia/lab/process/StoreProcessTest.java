package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.cassia.base.ByteString;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users do with a cluster of separate processes, and what happens when these are killed. */
class StoreProcessTest {
    private static ByteString key(String text) {
        return ByteString.of(text);
    }

    private static MemorySegment value(Arena arena, long bytes, long seed) {
        MemorySegment memory = arena.allocate(bytes, 8);
        Bytes.fill(memory, seed);
        return memory;
    }

    private static void roundTrip(StoreClient client, ByteString key, long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            assertThat(client.put(key, value(arena, bytes, bytes), PutOptions.DEFAULT))
                    .as("put of %d bytes", bytes)
                    .isEqualTo(Outcome.done());
            MemorySegment into = arena.allocate(bytes, 8);
            assertThat(client.get(key, into)).isEqualTo(Outcome.ok(bytes));
            assertThat(Bytes.firstWrong(into, bytes)).isEqualTo(-1);
        }
    }

    @Test
    void sizes_and_keys_of_every_kind_come_back_byte_for_byte() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start()) {
            cluster.node("256MiB");
            try (StoreClient client = cluster.client()) {
                for (long bytes : new long[] {1, 4095, 4096, 65537, (16L << 20) + 17, 64L << 20}) {
                    roundTrip(client, key("size-" + bytes), bytes);
                    assertThat(client.size(key("size-" + bytes))).isEqualTo(Outcome.ok(bytes));
                }
                for (String name :
                        List.of("a/b//c", "with spaces", "emoji 🌳", "k".repeat(65535))) {
                    roundTrip(client, key(name), 100);
                    assertThat(client.exists(key(name))).isEqualTo(Outcome.ok(true));
                    assertThat(client.remove(key(name), true)).isEqualTo(Outcome.done());
                    assertThat(client.exists(key(name))).isEqualTo(Outcome.ok(false));
                }
            }
        }
    }

    @Test
    void value_above_two_gigabytes_comes_back_byte_for_byte() throws Exception {
        long bytes = 3L << 30;
        assumeTrue(
                availableBytes() > 3 * bytes
                        && Path.of("/dev/shm").toFile().getUsableSpace() > 4L << 30,
                "needs 9 GiB of free memory and 4 GiB of shared memory");
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            cluster.node("3600MiB");
            try (StoreClient client = cluster.client(Duration.ofMinutes(2))) {
                MemorySegment memory = value(arena, bytes, 3);
                client.put(key("huge"), memory, PutOptions.DEFAULT).orThrow();
                memory.fill((byte) 0);
                assertThat(client.get(key("huge"), memory)).isEqualTo(Outcome.ok(bytes));
                assertThat(Bytes.firstWrong(memory, 3)).isEqualTo(-1);
            }
        }
    }

    /**
     * As one value and piece by piece, near and as if it were on another host: whole, as a stream,
     * and in ranges across the places where signed and unsigned 32 bits end.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("deep")
    void object_above_four_gigabytes_comes_back_byte_for_byte(boolean far) throws Exception {
        long bytes = (4L << 30) + (16 << 20) + 17;
        assumeTrue(
                availableBytes() > 3 * bytes
                        && Path.of("/dev/shm").toFile().getUsableSpace() > bytes + (1L << 30),
                "needs 13 GiB of free memory and 6 GiB of shared memory");
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            CassiaProcess node = far ? cluster.remoteNode("4200MiB") : cluster.node("4200MiB");
            MemorySegment memory = value(arena, bytes, 5);
            try (StoreClient client = cluster.client(Duration.ofMinutes(2))) {
                client.put(key("huge"), memory, PutOptions.DEFAULT).orThrow();
                readInEveryWay(client, memory, 5);
                client.remove(key("huge"), true).orThrow();

                Bytes.fill(memory, 6);
                Eventually.ok(Duration.ofSeconds(30), () -> putInPieces(client, memory)).orThrow();
                readInEveryWay(client, memory, 6);
            }
            assertThat(node.isAlive()).isTrue();
        }
    }

    /** The last piece first, as nobody promised an order. */
    private static Outcome<Long> putInPieces(StoreClient client, MemorySegment memory) {
        long piece = 64 << 20;
        long bytes = memory.byteSize();
        return client.openWrite(key("huge"), bytes, PutOptions.DEFAULT)
                .then(
                        session -> {
                            try (session) {
                                for (long at = bytes / piece * piece; at >= 0; at -= piece) {
                                    long length = Math.min(piece, bytes - at);
                                    session.write(at, memory.asSlice(at, length)).orThrow();
                                }
                                return session.commit();
                            }
                        });
    }

    /** The memory holds what was put, and in the end what was got. */
    private static void readInEveryWay(StoreClient client, MemorySegment memory, long seed)
            throws IOException {
        long bytes = memory.byteSize();
        assertThat(client.size(key("huge"))).isEqualTo(Outcome.ok(bytes));
        try (Arena arena = Arena.ofShared()) {
            MemorySegment into = arena.allocate((3 << 20) + 1);
            for (long at :
                    new long[] {
                        0, (2L << 30) - 77_777, (4L << 30) - 99_999, bytes - into.byteSize()
                    }) {
                client.getRange(key("huge"), at, into).orThrow();
                assertThat(into.mismatch(memory.asSlice(at, into.byteSize())))
                        .as("range at %d", at)
                        .isEqualTo(-1);
            }
        }
        try (InputStream stream = client.openStream(key("huge")).orThrow()) {
            byte[] window = new byte[8 << 20];
            long at = 0;
            for (int n = stream.readNBytes(window, 0, window.length);
                    n > 0;
                    n = stream.readNBytes(window, 0, window.length)) {
                long wrong =
                        MemorySegment.mismatch(
                                MemorySegment.ofArray(window), 0, n, memory, at, at + n);
                assertThat(wrong).as("stream at %d", at).isEqualTo(-1);
                at += n;
            }
            assertThat(at).isEqualTo(bytes);
        }
        memory.fill((byte) 0);
        assertThat(client.get(key("huge"), memory)).isEqualTo(Outcome.ok(bytes));
        assertThat(Bytes.firstWrong(memory, seed)).isEqualTo(-1);
    }

    private static long availableBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith("MemAvailable:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                .findFirst()
                .orElse(0);
    }

    @Test
    @Covers(
            store = {
                StoreCode.INVALID_PARAMS,
                StoreCode.OBJECT_ALREADY_EXISTS,
                StoreCode.OBJECT_NOT_FOUND,
                StoreCode.OK
            },
            scenario =
                    "A client puts an empty value, puts a key twice and reads one that is absent.")
    void bad_input_is_refused_and_harms_no_neighbour(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofConfined()) {
            cluster.node("64MiB");
            try (StoreClient client = cluster.client()) {
                MemorySegment a = value(arena, 1000, 1);
                coverage.expect(client.put(key("a"), a, PutOptions.DEFAULT), StoreCode.OK);
                coverage.expect(
                        client.put(key("a"), a, PutOptions.DEFAULT),
                        StoreCode.OBJECT_ALREADY_EXISTS);
                coverage.expect(
                        client.put(key("empty"), a.asSlice(0, 0), PutOptions.DEFAULT),
                        StoreCode.INVALID_PARAMS);
                MemorySegment into = arena.allocate(1000, 8);
                MemorySegment again = arena.allocate(1000, 8);
                List<Outcome<Long>> got =
                        client.getBatch(
                                List.of(key("a"), key("b"), key("a"), key("a")),
                                List.of(into, into, arena.allocate(10), again));
                coverage.expect(got.get(0), StoreCode.OK);
                coverage.expect(got.get(1), StoreCode.OBJECT_NOT_FOUND);
                coverage.expect(got.get(2), StoreCode.INVALID_PARAMS);
                coverage.expect(got.get(3), StoreCode.OK);
                assertThat(Bytes.firstWrong(into, 1)).isEqualTo(-1);
                assertThat(Bytes.firstWrong(again, 1)).isEqualTo(-1);
            }
        }
    }

    @Test
    @Covers(
            store = StoreCode.LEASE_EXPIRED,
            scenario = "A node is stopped during a read and goes on after the lease has run out.")
    void object_read_after_its_lease_ran_out_is_discarded(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start("--default-kv-lease-ttl", "500ms");
                Arena arena = Arena.ofShared()) {
            // Through shared memory the reader would not even notice.
            CassiaProcess node = cluster.remoteNode("64MiB");
            try (StoreClient client = cluster.client()) {
                client.put(key("slow"), value(arena, 32 << 20, 7), PutOptions.DEFAULT).orThrow();
                MemorySegment into = arena.allocate(32 << 20, 8);
                node.stop();
                FutureTask<Outcome<Long>> read =
                        new FutureTask<>(() -> client.get(key("slow"), into));
                Thread.ofPlatform().daemon().start(read);
                // Three leases long: the bytes cannot arrive in time, whatever the scheduler does.
                Thread.sleep(Duration.ofMillis(1500));
                node.resume();
                coverage.expect(read.get(30, TimeUnit.SECONDS), StoreCode.LEASE_EXPIRED);
                // A busy machine takes longer for so much than so brief a lease.
                Supplier<Outcome<Long>> again = () -> client.get(key("slow"), into);
                assertThat(Eventually.ok(Duration.ofSeconds(20), again))
                        .isEqualTo(Outcome.ok(32L << 20));
                assertThat(Bytes.firstWrong(into, 7)).isEqualTo(-1);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.NO_AVAILABLE_HANDLE, StoreCode.OK},
            scenario = "The pool is full of objects that other clients hold leases on.")
    void full_pool_says_what_fills_it_and_works_again_when_leases_end(Coverage coverage)
            throws Exception {
        try (ProcessCluster cluster =
                        ProcessCluster.start(
                                "--default-kv-lease-ttl", "3s",
                                "--eviction-high-watermark-ratio", "1.0");
                Arena arena = Arena.ofShared()) {
            cluster.node("16MiB");
            try (StoreClient client = cluster.exactClient()) {
                for (int i = 0; i < 16; i++) {
                    MemorySegment mib = value(arena, 1 << 20, i);
                    client.put(key("fill-" + i), mib, PutOptions.DEFAULT).orThrow();
                }
                List<ByteString> keys = new ArrayList<>();
                for (int i = 0; i < 16; i++) {
                    keys.add(key("fill-" + i));
                }
                MooncakeReader.lease(cluster.address(), keys);
                MemorySegment more = value(arena, 1 << 20, 99);
                Outcome<Done> refused = client.put(key("more"), more, PutOptions.DEFAULT);
                coverage.expect(refused, StoreCode.NO_AVAILABLE_HANDLE);
                assertThat(((Outcome.Failed<Done>) refused).detail())
                        .contains("used", "capacity", "largest-free", "leased", "pinned");
                Outcome<Done> later =
                        Eventually.ok(
                                Duration.ofSeconds(20),
                                () -> client.put(key("more"), more, PutOptions.DEFAULT));
                coverage.expect(later, StoreCode.OK);
            }
        }
    }

    @Test
    void reserved_space_that_a_stopped_node_may_still_write_to_is_kept_from_others()
            throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            CassiaProcess first = cluster.remoteNode("64MiB");
            try (StoreClient client = cluster.client()) {
                String there = client.stats().orThrow().segments().getFirst().name();
                cluster.remoteNode("64MiB");
                PutOptions options = PutOptions.DEFAULT.withPreferred(List.of(there));
                long bytes = 2 << 20;
                MemorySegment value = value(arena, bytes, 3);
                client.put(key("a"), value, options).orThrow();
                client.put(key("b"), value, options).orThrow();
                // Space for the next one is reserved on the node that now stops.
                first.stop();
                assertThat(client.put(key("c"), value, options)).isEqualTo(Outcome.done());
                assertThat(client.stats().orThrow().usedBytes())
                        .as("three objects and the space that the node may still fill")
                        .isEqualTo(4 * bytes);
                MemorySegment into = arena.allocate(bytes, 8);
                assertThat(client.get(key("c"), into)).isEqualTo(Outcome.ok(bytes));
                assertThat(Bytes.firstWrong(into, 3)).isEqualTo(-1);
                first.resume();
                for (String each : List.of("d", "e", "f", "g")) {
                    client.put(key(each), value, options).orThrow();
                    assertThat(client.get(key(each), into)).isEqualTo(Outcome.ok(bytes));
                    assertThat(Bytes.firstWrong(into, 3)).isEqualTo(-1);
                }
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.OBJECT_ALREADY_EXISTS, StoreCode.OK},
            scenario = "A writer is killed between PutStart and PutEnd; another one takes over.")
    void killed_writer_leaves_key_and_space_to_others(Coverage coverage) throws Exception {
        try (ProcessCluster cluster =
                        ProcessCluster.start(
                                "--put-start-discard-timeout", "2s",
                                "--put-start-release-timeout", "4s");
                Arena arena = Arena.ofShared()) {
            cluster.node("16MiB");
            try (StoreClient client = cluster.client()) {
                HalfPut.killedAfterPutStart(cluster.address(), "half", 10 << 20);
                MemorySegment whole = value(arena, 10 << 20, 5);
                coverage.expect(
                        client.put(key("half"), whole, PutOptions.DEFAULT),
                        StoreCode.OBJECT_ALREADY_EXISTS);
                // Only one of the two fits: this succeeds when the dead writer's space is back.
                Outcome<Done> later =
                        Eventually.ok(
                                Duration.ofSeconds(20),
                                () -> client.put(key("half"), whole, PutOptions.DEFAULT));
                coverage.expect(later, StoreCode.OK);
                MemorySegment into = arena.allocate(10 << 20, 8);
                assertThat(client.get(key("half"), into)).isEqualTo(Outcome.ok(10L << 20));
                assertThat(Bytes.firstWrong(into, 5)).isEqualTo(-1);
            }
        }
    }
}
