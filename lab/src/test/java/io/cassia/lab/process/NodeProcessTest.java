package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of a node's memory when its master or the node itself ends. */
class NodeProcessTest {
    private static CassiaProcess master(int port) throws Exception {
        CassiaProcess master =
                CassiaProcess.launch(
                        "master",
                        "--json",
                        "--rpc-port",
                        Integer.toString(port),
                        "--http-port",
                        "0",
                        "--metadata-port",
                        "0");
        master.ready();
        return master;
    }

    private static CassiaProcess node(String master, String... more) throws Exception {
        String[] arguments =
                new String[] {
                    "node",
                    "--json",
                    "--master",
                    master,
                    "--metadata",
                    "P2PHANDSHAKE",
                    "--segment",
                    "16MiB"
                };
        String[] all = Arrays.copyOf(arguments, arguments.length + more.length);
        System.arraycopy(more, 0, all, arguments.length, more.length);
        CassiaProcess node = CassiaProcess.launch(all);
        node.ready();
        return node;
    }

    private static StoreClient client(String master) {
        StoreClientConfig config =
                new StoreClientConfig(
                        master,
                        StoreClientConfig.P2P,
                        "127.0.0.1",
                        "default",
                        Duration.ofSeconds(20));
        return StoreClient.connect(config, Clock.system(), new SimpleMeterRegistry()).orThrow();
    }

    @Test
    void node_and_client_go_on_with_a_master_that_was_started_again() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        String address = "127.0.0.1:" + port;
        CassiaProcess first = master(port);
        try (CassiaProcess node = node(address);
                StoreClient client = client(address);
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(10_000);
            Bytes.fill(memory, 1);
            client.put(ByteString.of("before"), memory, PutOptions.DEFAULT).orThrow();
            first.kill();
            try (CassiaProcess second = master(port)) {
                assertThat(second.isAlive()).isTrue();
                // The node mounts its memory again within a heartbeat or two.
                Outcome<?> stored =
                        Eventually.ok(
                                Duration.ofSeconds(30),
                                () ->
                                        client.put(
                                                ByteString.of("after"),
                                                memory,
                                                PutOptions.DEFAULT));
                assertThat(stored.isOk()).as("%s", stored).isTrue();
                assertThat(client.get(ByteString.of("after"), memory))
                        .isEqualTo(Outcome.ok(10_000L));
                assertThat(Bytes.firstWrong(memory, 1)).isEqualTo(-1);
                assertThat(client.get(ByteString.of("before"), memory))
                        .isInstanceOfSatisfying(
                                Outcome.Failed.class,
                                failed ->
                                        assertThat(failed.code())
                                                .isEqualTo(StoreCode.OBJECT_NOT_FOUND));
                assertThat(node.isAlive()).isTrue();
            }
        } finally {
            first.close();
        }
    }

    /** Its metadata server is as empty as it is itself; no engine looks after that for an hour. */
    @Test
    void node_is_found_again_after_the_master_and_its_metadata_server_were_started_again()
            throws Exception {
        int port;
        int metadataPort;
        try (ServerSocket free = new ServerSocket(0);
                ServerSocket other = new ServerSocket(0)) {
            port = free.getLocalPort();
            metadataPort = other.getLocalPort();
        }
        String address = "127.0.0.1:" + port;
        String metadata = "http://127.0.0.1:" + metadataPort + "/metadata";
        String[] master = {
            "master",
            "--json",
            "--http-port",
            "off",
            "--rpc-port",
            Integer.toString(port),
            "--metadata-port",
            Integer.toString(metadataPort)
        };
        CassiaProcess first = CassiaProcess.launch(master);
        first.ready();
        try (CassiaProcess node =
                        CassiaProcess.launch(
                                Map.of(
                                        "CASSIA_METADATA_HEARTBEAT", "1h",
                                        "CASSIA_METADATA_ENTRY_TTL", "2h"),
                                "node",
                                "--json",
                                "--segment",
                                "16MiB",
                                "--master",
                                address,
                                "--metadata",
                                metadata);
                Arena arena = Arena.ofShared()) {
            node.ready();
            first.kill();
            try (CassiaProcess second = CassiaProcess.launch(master)) {
                second.ready();
                StoreClientConfig config =
                        new StoreClientConfig(
                                address, metadata, "127.0.0.1", "default", Duration.ofSeconds(5));
                try (StoreClient client =
                        StoreClient.connect(config, Clock.system(), new SimpleMeterRegistry())
                                .orThrow()) {
                    MemorySegment memory = arena.allocate(1000);
                    Outcome<?> stored =
                            Eventually.ok(
                                    Duration.ofSeconds(30),
                                    () ->
                                            client.put(
                                                    ByteString.of("k"),
                                                    memory,
                                                    PutOptions.DEFAULT));
                    assertThat(stored.isOk()).as("%s %s", stored, node.stderrText()).isTrue();
                }
            }
        } finally {
            first.close();
        }
    }

    @Test
    void node_that_cannot_be_drained_says_so_while_it_ends() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                CassiaProcess leaving = node(cluster.address(), "--drain", "1s");
                StoreClient client = cluster.client();
                Arena arena = Arena.ofShared()) {
            client.put(ByteString.of("k"), arena.allocate(1000), PutOptions.DEFAULT).orThrow();
            assertThat(leaving.terminate()).isZero();
            assertThat(leaving.stderrText()).contains("node drains", "node not drained");
        }
    }

    /** Longer than other closing may take. */
    @Test
    @Tag("deep")
    void node_gets_all_the_time_for_draining_that_it_was_given() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                CassiaProcess leaving = node(cluster.address(), "--drain", "25s");
                StoreClient client = cluster.client();
                Arena arena = Arena.ofShared()) {
            client.put(ByteString.of("k"), arena.allocate(1000), PutOptions.DEFAULT).orThrow();
            assertThat(leaving.terminate()).isZero();
            assertThat(leaving.stderrText()).contains("node not drained");
            assertThat(client.exists(ByteString.of("k"))).isEqualTo(Outcome.ok(false));
        }
    }

    @Test
    void node_that_is_told_to_drain_hands_its_objects_over_before_it_ends() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start("--default-kv-lease-ttl", "500ms");
                CassiaProcess leaving = node(cluster.address(), "--drain", "30s");
                StoreClient client = cluster.client();
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(50_000);
            for (int i = 0; i < 20; i++) {
                Bytes.fill(memory, i);
                client.put(ByteString.of("k" + i), memory, PutOptions.DEFAULT).orThrow();
            }
            cluster.node("16MiB");
            leaving.terminate();
            for (int i = 0; i < 20; i++) {
                ByteString key = ByteString.of("k" + i);
                // A busy machine takes longer for a read than so brief a lease.
                Supplier<Outcome<Long>> read = () -> client.get(key, memory);
                assertThat(Eventually.ok(Duration.ofSeconds(20), read))
                        .as("k%d", i)
                        .isEqualTo(Outcome.ok(50_000L));
                assertThat(Bytes.firstWrong(memory, i)).isEqualTo(-1);
            }
        }
    }

    @Test
    void node_that_leaves_takes_its_objects_along() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                CassiaProcess leaving = node(cluster.address());
                StoreClient client = cluster.client();
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(1000);
            client.put(ByteString.of("k"), memory, PutOptions.DEFAULT).orThrow();
            leaving.terminate();
            assertThat(client.exists(ByteString.of("k"))).isEqualTo(Outcome.ok(false));
            assertThat(client.stats().orThrow().capacityBytes()).isZero();
        }
    }
}
