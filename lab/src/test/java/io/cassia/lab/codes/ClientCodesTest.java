package io.cassia.lab.codes;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.HumanSize;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.lab.process.Eventually;
import io.cassia.lab.process.ProcessCluster;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.RpcServer;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.CopyStartResult;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicaList;
import io.cassia.rpc.mooncake.ReplicaStatus;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.NodeConfig;
import io.cassia.store.PutOptions;
import io.cassia.store.RangeRead;
import io.cassia.store.ReadSession;
import io.cassia.store.StorageNode;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.cassia.store.WriteSession;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Codes that a client or a node finds by itself. */
class ClientCodesTest {
    private static final ByteString KEY = ByteString.of("k");
    private static final ByteString TENANT = ByteString.of("default");

    private static StorageNode node(ProcessCluster cluster, String size) {
        return StorageNode.start(
                        new NodeConfig(
                                cluster.address(),
                                StoreClientConfig.P2P,
                                "127.0.0.1",
                                HumanSize.parse(size)),
                        Clock.system(),
                        new SimpleMeterRegistry())
                .orThrow();
    }

    private static RpcClient rpc(ProcessCluster cluster) {
        String[] address = cluster.address().split(":", -1);
        RpcClient rpc =
                RpcClient.builder(
                                address[0], Integer.parseInt(address[1]), new SimpleMeterRegistry())
                        .build();
        rpc.connect().orThrow();
        return rpc;
    }

    @Test
    @Covers(
            store = {StoreCode.INVALID_READ, StoreCode.OK},
            scenario = "A client reads a range that ends behind the object.")
    void range_behind_the_end(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            cluster.node("16MiB");
            try (StoreClient client = cluster.client()) {
                MemorySegment memory = arena.allocate(1000);
                coverage.expect(client.put(KEY, memory, PutOptions.DEFAULT), StoreCode.OK);
                coverage.expect(client.getRange(KEY, 1, memory), StoreCode.INVALID_READ);
                coverage.expect(
                        client.getRange(KEY, Long.MAX_VALUE, memory), StoreCode.INVALID_READ);
                coverage.expect(client.getRange(KEY, 1, memory.asSlice(0, 999)), StoreCode.OK);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.BUFFER_OVERFLOW, StoreCode.OK},
            scenario = "A heap array is put that is larger than the client's local buffer.")
    void value_larger_than_the_local_buffer(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start()) {
            cluster.node("16MiB");
            StoreClientConfig config =
                    new StoreClientConfig(
                                    cluster.address(),
                                    StoreClientConfig.P2P,
                                    "127.0.0.1",
                                    "default",
                                    Duration.ofSeconds(10))
                            .withMemory(StoreClientConfig.Memory.DEFAULT.withLocalBuffer(1 << 20));
            try (StoreClient client =
                    StoreClient.connect(config, Clock.system(), new SimpleMeterRegistry())
                            .orThrow()) {
                coverage.expect(
                        client.put(KEY, new byte[(1 << 20) + 1], PutOptions.DEFAULT),
                        StoreCode.BUFFER_OVERFLOW);
                coverage.expect(
                        client.put(KEY, new byte[1 << 20], PutOptions.DEFAULT), StoreCode.OK);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.INVALID_WRITE, StoreCode.OK},
            scenario = "A put that is written piece by piece is ended with a piece missing.")
    void put_with_a_piece_missing(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            cluster.node("16MiB");
            try (StoreClient client = cluster.client();
                    WriteSession session =
                            client.openWrite(KEY, 1000, PutOptions.DEFAULT).orThrow()) {
                MemorySegment memory = arena.allocate(999);
                coverage.expect(session.write(1, memory), StoreCode.OK);
                coverage.expect(session.commit(), StoreCode.INVALID_WRITE);
                coverage.expect(session.write(0, memory.asSlice(0, 1)), StoreCode.OK);
                coverage.expect(session.commit(), StoreCode.OK);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.INVALID_WRITE, StoreCode.OBJECT_NOT_FOUND, StoreCode.OK},
            scenario =
                    "A writer wakes up after the master has given its put up and its space to others.")
    void writer_that_wakes_late(Coverage coverage) throws Exception {
        try (ProcessCluster cluster =
                        ProcessCluster.start(
                                "--put-start-discard-timeout", "1s",
                                "--put-start-release-timeout", "2s");
                Arena arena = Arena.ofShared()) {
            cluster.node("16MiB");
            try (StoreClient client = cluster.client();
                    StoreClient other = cluster.client()) {
                MemorySegment old = arena.allocate(10 << 20).fill((byte) 1);
                MemorySegment fresh = arena.allocate(10 << 20).fill((byte) 2);
                WriteSession late = client.openWrite(KEY, 10 << 20, PutOptions.DEFAULT).orThrow();
                coverage.expect(late.write(0, old.asSlice(0, 5 << 20)), StoreCode.OK);
                // Only one of the two fits: it gets the late writer's space.
                ByteString next = ByteString.of("next");
                coverage.expect(
                        Eventually.ok(
                                Duration.ofSeconds(20),
                                () -> other.put(next, fresh, PutOptions.DEFAULT)),
                        StoreCode.OK);
                coverage.expect(late.write(5 << 20, old.asSlice(5 << 20)), StoreCode.INVALID_WRITE);
                coverage.expect(late.commit(), StoreCode.INVALID_WRITE);
                coverage.expect(late.revoke(), StoreCode.OBJECT_NOT_FOUND);
                coverage.expect(other.get(next, old), StoreCode.OK);
                assertThat(old.mismatch(fresh)).isEqualTo(-1);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.WRITE_FAIL, StoreCode.SEGMENT_NOT_FOUND, StoreCode.OK},
            scenario = "A node takes its memory back while an object is being written to it.")
    void memory_taken_back_under_a_put(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                StorageNode node = node(cluster, "16MiB");
                StoreClient client = cluster.client();
                Arena arena = Arena.ofShared()) {
            Uuid segment = node.segments().getFirst().id();
            try (WriteSession session = client.openWrite(KEY, 1000, PutOptions.DEFAULT).orThrow()) {
                coverage.expect(node.unmount(segment, Duration.ZERO), StoreCode.OK);
                coverage.expect(session.write(0, arena.allocate(1000)), StoreCode.WRITE_FAIL);
            }
            coverage.expect(node.unmount(segment, Duration.ZERO), StoreCode.SEGMENT_NOT_FOUND);
        }
    }

    @Test
    @Covers(
            store = {StoreCode.INVALID_VERSION, StoreCode.OBJECT_NOT_FOUND, StoreCode.OK},
            scenario = "An object is replaced on the condition of a version that it no longer has.")
    void version_that_was_replaced(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            cluster.node("16MiB");
            try (StoreClient client = cluster.client()) {
                MemorySegment value = arena.allocate(100);
                coverage.expect(
                        client.put(KEY, value, PutOptions.DEFAULT.ifVersion(1)),
                        StoreCode.OBJECT_NOT_FOUND);
                long first = client.putVersion(KEY, value, PutOptions.DEFAULT).orThrow();
                coverage.expect(
                        client.put(KEY, value, PutOptions.DEFAULT.ifVersion(first)), StoreCode.OK);
                coverage.expect(
                        client.put(KEY, value, PutOptions.DEFAULT.ifVersion(first)),
                        StoreCode.INVALID_VERSION);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.LEASE_EXPIRED, StoreCode.OK},
            scenario = "A session reads a range after its lease has run out.")
    void session_behind_its_lease(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start("--default-kv-lease-ttl", "300ms");
                Arena arena = Arena.ofShared()) {
            cluster.node("16MiB");
            try (StoreClient client = cluster.client()) {
                MemorySegment value = arena.allocate(100);
                coverage.expect(client.put(KEY, value, PutOptions.DEFAULT), StoreCode.OK);
                try (ReadSession session = client.openRead(List.of(KEY)).orThrow()) {
                    // The lease is over when the master lets the object be removed.
                    Outcome<Done> removed =
                            Eventually.ok(Duration.ofSeconds(20), () -> client.remove(KEY, false));
                    coverage.expect(removed, StoreCode.OK);
                    coverage.expect(
                            session.read(List.of(new RangeRead(KEY, 0, value))).getFirst(),
                            StoreCode.LEASE_EXPIRED);
                }
            }
        }
    }

    @Test
    @Covers(
            store = {
                StoreCode.OBJECT_HAS_REPLICATION_TASK,
                StoreCode.OBJECT_REPLICA_BUSY,
                StoreCode.REPLICA_IS_GONE,
                StoreCode.OK
            },
            scenario =
                    "An object is replaced, and the target's memory taken back, while a replica is"
                            + " being copied; and it is copied while it is being replaced.")
    void object_under_a_copy(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                StorageNode source = node(cluster, "16MiB");
                StorageNode target = node(cluster, "16MiB");
                StoreClient client = cluster.client();
                RpcClient rpc = rpc(cluster);
                Arena arena = Arena.ofShared()) {
            MemorySegment value = arena.allocate(100);
            PutOptions options = PutOptions.DEFAULT.withPreferred(List.of(source.endpoint()));
            coverage.expect(client.put(KEY, value, options), StoreCode.OK);
            Uuid copier = new Uuid(4711, 2);
            CopyStartResult started =
                    rpc.callExpected(
                                    MasterMethods.COPY_START,
                                    new Args.CopyStart(
                                            copier,
                                            KEY,
                                            TENANT,
                                            source.endpoint(),
                                            List.of(target.endpoint())),
                                    Duration.ofSeconds(10))
                            .orThrow();
            assertThat(started.targets()).hasSize(1);
            coverage.expect(
                    client.upsert(KEY, value, PutOptions.DEFAULT),
                    StoreCode.OBJECT_HAS_REPLICATION_TASK);
            target.unmount(target.segments().getFirst().id(), Duration.ZERO).orThrow();
            coverage.expect(
                    rpc.callExpected(
                            MasterMethods.COPY_END,
                            new Args.ClientKey(copier, KEY, TENANT),
                            Duration.ofSeconds(10)),
                    StoreCode.REPLICA_IS_GONE);
            coverage.expect(client.get(KEY, value), StoreCode.OK);
            try (WriteSession replacing = client.openWrite(KEY, 100, PutOptions.UPSERT).orThrow()) {
                assertThat(replacing.sizeBytes()).isEqualTo(100);
                coverage.expect(
                        rpc.callExpected(
                                MasterMethods.COPY_START,
                                new Args.CopyStart(
                                        copier,
                                        KEY,
                                        TENANT,
                                        source.endpoint(),
                                        List.of(source.endpoint())),
                                Duration.ofSeconds(10)),
                        StoreCode.OBJECT_REPLICA_BUSY);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.REPLICA_NOT_IN_LOCAL_MEMORY, StoreCode.TASK_NOT_FOUND, StoreCode.OK},
            scenario =
                    "A copy is ordered of a node whose client has memory of another engine, too.")
    void replica_of_another_engine(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                StorageNode node = node(cluster, "16MiB");
                StoreClient client = cluster.client();
                RpcClient rpc = rpc(cluster)) {
            Duration limit = Duration.ofSeconds(10);
            Segment elsewhere =
                    new Segment(
                            new Uuid(7, 7),
                            "elsewhere",
                            1 << 20,
                            1 << 20,
                            "127.0.0.1:1",
                            "tcp",
                            "");
            rpc.callExpected(
                            MasterMethods.MOUNT_SEGMENT,
                            new Args.MountSegment(elsewhere, node.client()),
                            limit)
                    .orThrow();
            Uuid writer = new Uuid(4711, 3);
            ReplicateConfig there =
                    PutOptions.DEFAULT.withPreferred(List.of("elsewhere")).replicate();
            rpc.callExpected(
                            MasterMethods.PUT_START,
                            new Args.PutStart(writer, KEY, 100, there, TENANT),
                            limit)
                    .orThrow();
            rpc.callExpected(
                            MasterMethods.PUT_END,
                            new Args.PutEnd(
                                    writer,
                                    new ObjectMeta(KEY, OptionalLong.empty()),
                                    ReplicaType.ALL.number(),
                                    TENANT),
                            limit)
                    .orThrow();
            Outcome<Uuid> task = client.copy(KEY, List.of(node.endpoint()));
            coverage.expect(task, StoreCode.OK);
            coverage.expect(
                    client.awaitTask(task.orThrow()), StoreCode.REPLICA_NOT_IN_LOCAL_MEMORY);
            coverage.expect(client.task(new Uuid(1, 1)), StoreCode.TASK_NOT_FOUND);
        }
    }

    @Test
    @Covers(
            store = {StoreCode.INVALID_REPLICA, StoreCode.NOT_SUPPORTED},
            scenario =
                    "A Mooncake master knows an object on the SSD of a client only, and is asked to"
                            + " list its keys.")
    void object_on_a_disk_alone(Coverage coverage) throws Exception {
        ReplicaDescriptor onDisk =
                new ReplicaDescriptor(
                        1,
                        new Placement.LocalDisk(new Uuid(1, 2), 100, "127.0.0.1:1"),
                        ReplicaStatus.COMPLETE.number());
        try (RpcServer server =
                        RpcServer.builder(new SimpleMeterRegistry())
                                .bind("127.0.0.1", 0)
                                .register(MasterMethods.SERVICE_READY, _ -> Outcome.ok("2.0.0"))
                                .register(
                                        MasterMethods.BATCH_GET_REPLICA_LIST,
                                        keys ->
                                                List.of(
                                                        Outcome.ok(
                                                                new ReplicaList(
                                                                        List.of(onDisk),
                                                                        5000,
                                                                        OptionalLong.empty()))))
                                .start()
                                .orThrow();
                StoreClient client =
                        StoreClient.connect(
                                        StoreClientConfig.of("127.0.0.1:" + server.port()),
                                        Clock.system(),
                                        new SimpleMeterRegistry())
                                .orThrow();
                Arena arena = Arena.ofShared()) {
            coverage.expect(client.get(KEY, arena.allocate(100)), StoreCode.INVALID_REPLICA);
            coverage.expect(
                    client.list(ByteString.EMPTY, ByteString.EMPTY, 10), StoreCode.NOT_SUPPORTED);
        }
    }
}
