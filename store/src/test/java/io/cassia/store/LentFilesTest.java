package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.transfer.TransferEngine;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Files of somebody else in the pool. */
class LentFilesTest {
    private static final ByteString KEY = ByteString.of("k");
    private static final long LENGTH = 32 << 20;

    private final Cluster cluster = Cluster.start();
    private final StorageNode node = cluster.node(0);
    private final byte[] value = value();
    private Path file;

    @BeforeEach
    void create() throws IOException {
        file = Files.createTempFile(Path.of("/dev/shm"), "lent", ".kv");
        resize(LENGTH);
    }

    @AfterEach
    void stop() throws IOException {
        cluster.close();
        assertThat(file).as("it is its owner's").exists();
        Files.delete(file);
    }

    private static byte[] value() {
        byte[] bytes = new byte[(9 << 20) + 77];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    private void resize(long length) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            if (channel.size() > length) {
                channel.truncate(length);
            } else {
                assertThat(channel.write(ByteBuffer.wrap(new byte[1]), length - 1)).isOne();
            }
        }
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    private static void eventually(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as(what).isNegative();
            LockSupport.parkNanos(10_000_000);
        }
    }

    private List<Uuid> lend() {
        return node.mount(file, 0, LENGTH).orThrow();
    }

    @Test
    void long_files_are_several_segments_and_overlaps_are_refused() {
        long page = TransferEngine.pageBytes();
        StorageNode other =
                cluster.node(
                        new NodeConfig(cluster.address(), StoreClientConfig.P2P, "127.0.0.1", 0)
                                .withLongestSegment(10 * page + 1));
        List<Uuid> ids = other.mount(file, page, 25 * page + 3).orThrow();
        assertThat(ids).hasSize(3);
        assertThat(other.segments().stream().map(Segment::size))
                .containsExactly(10 * page, 10 * page, 5 * page + 3);
        assertThat(code(node.mount(file, 0, 2 * page))).isEqualTo(StoreCode.SEGMENT_ALREADY_EXISTS);
        // The first part of it is free, the second is not: nothing of it is lent.
        assertThat(code(other.mount(file, 16 * page, 20 * page)))
                .isEqualTo(StoreCode.SEGMENT_ALREADY_EXISTS);
        assertThat(other.segments()).hasSize(3);
        assertThat(code(node.mount(file, 1, page))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(node.mount(file, 0, 0))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(code(node.mount(file, 0, LENGTH + 1))).isEqualTo(StoreCode.INVALID_PARAMS);
        assertThat(node.segments()).isEmpty();
        for (Uuid id : ids) {
            assertThat(other.unmount(id, Duration.ZERO).isOk()).isTrue();
        }
        assertThat(node.mount(file, 0, LENGTH).isOk()).isTrue();
    }

    @Test
    void objects_lie_in_the_file_and_a_byte_that_its_owner_writes_is_noticed() throws IOException {
        lend();
        StoreClient client = cluster.client();
        client.put(KEY, value, PutOptions.DEFAULT).orThrow();
        assertThat(client.getBytes(KEY).orThrow()).isEqualTo(value);
        byte[] bytes = Files.readAllBytes(file);
        int at = indexOf(bytes, value);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            byte flipped = (byte) (value[5 << 20] ^ 1);
            assertThat(channel.write(ByteBuffer.wrap(new byte[] {flipped}), at + (5 << 20)))
                    .isOne();
        }
        assertThat(code(client.getBytes(KEY))).isEqualTo(StoreCode.CHECKSUM_MISMATCH);
        assertThat(code(client.getBytes(KEY)))
                .as("the replica has left service")
                .isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    private static int indexOf(byte[] bytes, byte[] part) {
        for (int at = 0; at + part.length <= bytes.length; at++) {
            if (java.util.Arrays.mismatch(bytes, at, at + part.length, part, 0, part.length) < 0) {
                return at;
            }
        }
        throw new AssertionError("the object is not in the file");
    }

    @Test
    void replicas_are_copied_out_of_the_file_and_drained() {
        lend();
        StoreClient client = cluster.client();
        client.put(KEY, value, PutOptions.DEFAULT).orThrow();
        StorageNode other = cluster.node(LENGTH);
        client.awaitTask(client.copy(KEY, List.of(other.endpoint())).orThrow()).orThrow();
        assertThat(client.replicas(KEY).orThrow()).hasSize(2);
        node.close();
        assertThat(client.getBytes(KEY).orThrow()).isEqualTo(value);
    }

    @Test
    void replicas_in_a_cut_file_are_not_copied_and_nobody_dies() throws IOException {
        lend();
        StoreClient client = cluster.client();
        client.put(KEY, value, PutOptions.DEFAULT).orThrow();
        StorageNode other = cluster.node(LENGTH);
        resize(1 << 20);
        Outcome<?> copied = client.copy(KEY, List.of(other.endpoint())).then(client::awaitTask);
        assertThat(code(copied))
                .isIn(
                        StoreCode.TRANSFER_FAIL,
                        StoreCode.OBJECT_NOT_FOUND,
                        StoreCode.TASK_NOT_FOUND);
        eventually("the segment leaves", () -> node.segments().isEmpty());
    }

    @Test
    void a_file_that_is_cut_off_fails_transfers_and_leaves_the_pool() throws IOException {
        lend();
        StoreClient client = cluster.client();
        client.put(KEY, value, PutOptions.DEFAULT).orThrow();
        resize(0);
        assertThat(code(client.getBytes(KEY)))
                .isIn(StoreCode.TRANSFER_FAIL, StoreCode.OBJECT_NOT_FOUND);
        assertThat(code(client.put(ByteString.of("new"), value, PutOptions.DEFAULT)))
                .isIn(StoreCode.WRITE_FAIL, StoreCode.TRANSFER_FAIL, StoreCode.NO_AVAILABLE_HANDLE);
        eventually("the segment leaves", () -> node.segments().isEmpty());
        assertThat(code(client.getBytes(KEY))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(client.stats().orThrow().segments()).isEmpty();

        resize(LENGTH);
        lend();
        client.put(KEY, value, PutOptions.DEFAULT).orThrow();
        assertThat(client.getBytes(KEY).orThrow()).isEqualTo(value);
    }

    @Test
    void it_stays_readable_for_its_grace_and_is_unmapped_then() throws Exception {
        Uuid id = lend().getFirst();
        StoreClient client = cluster.client();
        client.put(KEY, value, PutOptions.DEFAULT).orThrow();
        CompletableFuture<Outcome<?>> unmounted =
                CompletableFuture.supplyAsync(() -> node.unmount(id, Duration.ofSeconds(3)));
        AtomicInteger number = new AtomicInteger();
        eventually(
                "nothing new is placed there",
                () ->
                        code(
                                        client.put(
                                                ByteString.of("new" + number.incrementAndGet()),
                                                new byte[100],
                                                PutOptions.DEFAULT))
                                == StoreCode.NO_AVAILABLE_HANDLE);
        assertThat(unmounted).isNotDone();
        assertThat(isMapped()).isTrue();
        assertThat(client.getBytes(KEY).orThrow()).isEqualTo(value);
        assertThat(unmounted.get(30, TimeUnit.SECONDS).isOk()).isTrue();
        assertThat(isMapped()).isFalse();
        assertThat(code(client.getBytes(KEY))).isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    private boolean isMapped() {
        try {
            return Files.readString(Path.of("/proc/self/maps")).contains(file.toString());
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void a_new_master_is_told_of_it() {
        MasterConfig config = MasterConfig.builder().rpc("127.0.0.1", 0).httpOff().build();
        int port;
        StorageNode lender;
        try (Master first = master(config)) {
            port = first.rpcPort();
            lender =
                    StorageNode.start(
                                    new NodeConfig(
                                            "127.0.0.1:" + port,
                                            StoreClientConfig.P2P,
                                            "127.0.0.1",
                                            0),
                                    Clock.system(),
                                    new SimpleMeterRegistry())
                            .orThrow();
            lender.mount(file, 0, LENGTH).orThrow();
        }
        MasterConfig again = MasterConfig.builder().rpc("127.0.0.1", port).httpOff().build();
        try (lender;
                Master second = master(again);
                StoreClient client =
                        StoreClient.connect(
                                        new StoreClientConfig(
                                                "127.0.0.1:" + second.rpcPort(),
                                                StoreClientConfig.P2P,
                                                "127.0.0.1",
                                                "default",
                                                Duration.ofSeconds(20)),
                                        Clock.system(),
                                        new SimpleMeterRegistry())
                                .orThrow()) {
            eventually(
                    "it is mounted again", () -> client.stats().orThrow().segments().size() == 1);
            client.put(KEY, value, PutOptions.DEFAULT).orThrow();
            assertThat(client.getBytes(KEY).orThrow()).isEqualTo(value);
        }
    }

    private static Master master(MasterConfig config) {
        return Master.start(config, Clock.system(), new SimpleMeterRegistry(), () -> "").orThrow();
    }
}
