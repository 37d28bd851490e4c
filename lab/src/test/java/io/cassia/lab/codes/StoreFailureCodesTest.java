package io.cassia.lab.codes;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.lab.process.CassiaProcess;
import io.cassia.lab.process.ProcessCluster;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
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
}
