package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.StoreClientConfig.Calls;
import io.cassia.store.StoreClientConfig.Memory;
import io.cassia.transfer.environment.EngineEnvironment;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a client makes of its settings. */
class ClientSettingsTest {
    private static final ByteString KEY = ByteString.of("k");

    /** Reads of a far object that come from the hot cache, of five. */
    private static double hits(Memory memory, int bytes) {
        EngineEnvironment tcp = EngineEnvironment.read(Map.of("MC_FORCE_TCP", "1")).orThrow();
        try (Cluster cluster = Cluster.start();
                Arena arena = Arena.ofShared()) {
            NodeConfig node =
                    new NodeConfig(
                            cluster.address(), StoreClientConfig.P2P, "127.0.0.1", 16 << 20, tcp);
            assertThat(cluster.node(node).segments()).hasSize(1);
            StoreClient client =
                    cluster.client(cluster.config().withEngine(tcp).withMemory(memory));
            MemorySegment value = arena.allocate(bytes);
            client.put(KEY, value, PutOptions.DEFAULT).orThrow();
            for (int i = 0; i < 5; i++) {
                client.get(KEY, value).orThrow();
            }
            return cluster.meters.counter("cassia_store_hot_cache_hits").count();
        }
    }

    @Test
    void hot_cache_keeps_objects_up_to_its_block_and_to_its_size() {
        Memory cache = Memory.DEFAULT.withHotCache(8 << 20).withHotBlock(1 << 20);
        assertThat(hits(cache, 1 << 20)).isEqualTo(3);
        assertThat(hits(cache, (1 << 20) + 1)).isZero();
        assertThat(hits(cache.withHotBlock(16 << 20), (8 << 20) + 1)).isZero();
        assertThat(hits(Memory.DEFAULT, 1000)).isZero();
    }

    /** The time stands still for this client: with time for retries it would never end. */
    @Test
    void question_without_retry_time_is_asked_once() {
        Clock still =
                new Clock() {
                    @Override
                    public long nanos() {
                        return 0;
                    }

                    @Override
                    public long epochMillis() {
                        return 1_800_000_000_000L;
                    }
                };
        Master master =
                Master.start(
                                MasterConfig.builder().rpc("127.0.0.1", 0).httpOff().build(),
                                Clock.system(),
                                new SimpleMeterRegistry(),
                                () -> "")
                        .orThrow();
        StoreClientConfig config =
                StoreClientConfig.of("127.0.0.1:" + master.rpcPort())
                        .withCalls(new Calls(Duration.ofSeconds(5), Duration.ZERO));
        try (StoreClient client =
                StoreClient.connect(config, still, new SimpleMeterRegistry()).orThrow()) {
            assertThat(client.exists(KEY)).isEqualTo(Outcome.ok(false));
            master.close();
            Outcome<Boolean> asked =
                    assertTimeoutPreemptively(Duration.ofSeconds(30), () -> client.exists(KEY));
            assertThat(asked).isInstanceOf(Outcome.Failed.class);
            assertThat(((Outcome.Failed<Boolean>) asked).code()).isEqualTo(StoreCode.RPC_FAIL);
        } finally {
            master.close();
        }
    }
}
