package io.cassia.lab.codes;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.lab.process.CassiaProcess;
import io.cassia.lab.process.ProcessCluster;
import io.cassia.rpc.mooncake.Placement;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Codes that a client meets when the other processes of its cluster stop or die. */
class StoreFailureCodesTest {
    private static final ByteString KEY = ByteString.of("k");

    @Test
    @Covers(
            store = {StoreCode.TRANSFER_FAIL, StoreCode.OK},
            scenario = "The only node that holds an object is killed, then the object is read.")
    void object_of_a_killed_node(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            CassiaProcess node = cluster.node("16MiB");
            try (StoreClient client = cluster.client()) {
                MemorySegment memory = arena.allocate(4096);
                coverage.expect(client.put(KEY, memory, PutOptions.DEFAULT), StoreCode.OK);
                node.kill();
                Outcome<Long> lost = client.get(KEY, memory);
                coverage.expect(lost, StoreCode.TRANSFER_FAIL);
                assertThat(((Outcome.Failed<Long>) lost).detail()).contains("'k'", "4096 bytes");
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.RPC_TIMEOUT, StoreCode.OK},
            scenario = "The master is stopped and does not answer within the client's deadline.")
    void stopped_master(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start()) {
            try (StoreClient client = cluster.client(Duration.ofSeconds(2))) {
                coverage.expect(client.exists(KEY), StoreCode.OK);
                cluster.master().stop();
                coverage.expect(client.exists(KEY), StoreCode.RPC_TIMEOUT);
                cluster.master().resume();
                coverage.expect(client.exists(KEY), StoreCode.OK);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.TRANSFER_FAIL, StoreCode.OK},
            scenario = "The only node is killed, then an object is put; another node comes.")
    void put_to_a_killed_node_is_taken_back(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            CassiaProcess node = cluster.node("16MiB");
            try (StoreClient client = cluster.client(Duration.ofSeconds(10))) {
                MemorySegment memory = arena.allocate(4096);
                node.kill();
                coverage.expect(
                        client.put(KEY, memory, PutOptions.DEFAULT), StoreCode.TRANSFER_FAIL);
                cluster.node("16MiB");
                // The key is free at once, and the put keeps away from the node that failed.
                coverage.expect(client.put(KEY, memory, PutOptions.DEFAULT), StoreCode.OK);
                coverage.expect(client.get(KEY, memory), StoreCode.OK);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.RPC_FAIL, StoreCode.OK},
            scenario = "The master is killed, then an object is read and another one put.")
    void killed_master(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            cluster.node("16MiB");
            try (StoreClient client = cluster.client(Duration.ofSeconds(5))) {
                MemorySegment memory = arena.allocate(4096);
                coverage.expect(client.put(KEY, memory, PutOptions.DEFAULT), StoreCode.OK);
                cluster.master().kill();
                coverage.expect(client.get(KEY, memory), StoreCode.RPC_FAIL);
                coverage.expect(
                        client.put(ByteString.of("new"), memory, PutOptions.DEFAULT),
                        StoreCode.RPC_FAIL);
            }
        }
    }

    @Test
    @Covers(
            store = {StoreCode.CHECKSUM_MISMATCH, StoreCode.OBJECT_NOT_FOUND, StoreCode.OK},
            scenario = "Another process writes into the shared memory of a node.")
    void overwritten_memory_of_a_node(Coverage coverage) throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            CassiaProcess node = cluster.node("16MiB");
            try (StoreClient client = cluster.client()) {
                MemorySegment memory = arena.allocate(200_000);
                coverage.expect(client.put(KEY, memory, PutOptions.DEFAULT), StoreCode.OK);
                long address =
                        ((Placement.Memory) client.replicas(KEY).orThrow().getFirst().placement())
                                .buffer()
                                .address();
                overwrite(node.pid(), address + 100_000);
                coverage.expect(client.getRange(KEY, 0, memory.asSlice(0, 65_536)), StoreCode.OK);
                coverage.expect(client.get(KEY, memory), StoreCode.CHECKSUM_MISMATCH);
                // A replica with wrong bytes has left service, and there was no other one.
                coverage.expect(client.get(KEY, memory), StoreCode.OBJECT_NOT_FOUND);
            }
        }
    }

    /** Writes one byte at an address of another process's shared file. */
    private static void overwrite(long pid, long address) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "maps"))) {
            String[] columns = line.split("\\s+", 6);
            String[] range = columns[0].split("-", 2);
            long from = Long.parseUnsignedLong(range[0], 16);
            long to = Long.parseUnsignedLong(range[1], 16);
            if (address >= from && address < to) {
                long offset = address - from + Long.parseUnsignedLong(columns[2], 16);
                try (FileChannel file =
                        FileChannel.open(Path.of(columns[5].strip()), StandardOpenOption.WRITE)) {
                    file.write(ByteBuffer.wrap(new byte[] {42}), offset);
                }
                return;
            }
        }
        throw new IllegalStateException("process " + pid + " maps nothing at " + address);
    }

    @Test
    void reads_and_puts_go_on_when_one_of_two_nodes_is_killed_or_stopped() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                Arena arena = Arena.ofShared()) {
            List<CassiaProcess> nodes =
                    List.of(cluster.remoteNode("64MiB"), cluster.remoteNode("64MiB"));
            try (StoreClient client = cluster.client()) {
                PutOptions twice = PutOptions.DEFAULT.withReplicas(2);
                MemorySegment memory = arena.allocate(100_000);
                for (int i = 0; i < 10; i++) {
                    memory.fill((byte) i);
                    client.put(ByteString.of("k" + i), memory, twice).orThrow();
                }
                nodes.getFirst().stop();
                for (int i = 0; i < 10; i++) {
                    read(client, "k" + i, memory, i);
                    client.put(ByteString.of("s" + i), memory, PutOptions.DEFAULT).orThrow();
                }
                nodes.getFirst().resume();
                nodes.getLast().kill();
                for (int i = 0; i < 10; i++) {
                    read(client, "k" + i, memory, i);
                    client.put(ByteString.of("d" + i), memory, PutOptions.DEFAULT).orThrow();
                    read(client, "d" + i, memory, i);
                }
            }
        }
    }

    private static void read(StoreClient client, String key, MemorySegment memory, int value) {
        memory.fill((byte) -1);
        assertThat(client.get(ByteString.of(key), memory)).isEqualTo(Outcome.ok(100_000L));
        MemorySegment expected = MemorySegment.ofArray(new byte[100_000]).fill((byte) value);
        assertThat(memory.mismatch(expected)).isEqualTo(-1);
    }
}
