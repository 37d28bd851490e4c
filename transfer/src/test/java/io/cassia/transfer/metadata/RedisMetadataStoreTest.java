package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.testkit.ServiceProcess;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

final class RedisMetadataStoreTest extends MetadataStoreKit {
    @Override
    Backend start() throws IOException {
        return new ProcessBackend("redis", ServiceProcess::redis);
    }

    private ServiceProcess process() {
        return ((ProcessBackend) backend()).process;
    }

    @Override
    String connection(int port) {
        return "redis://127.0.0.1:" + port;
    }

    private Jedis client() {
        return new Jedis("127.0.0.1", process().port());
    }

    @Override
    String raw(String key) {
        try (Jedis client = client()) {
            return client.get(key);
        }
    }

    @Override
    String ending() {
        return "\n";
    }

    @Test
    void an_entry_vanishes_when_nobody_keeps_it() {
        String key = "mooncake/ram/mortal";
        MetadataOptions brief =
                OPTIONS.withHeartbeat(Duration.ofMillis(100), Duration.ofSeconds(2));
        try (MetadataStore store =
                        MetadataStores.open(backend().connection(), brief).orThrow().orElseThrow();
                Jedis client = client()) {
            assertThat(store.put(key, "x").isOk()).isTrue();
            assertThat(client.pttl(key)).isBetween(1L, 2000L);
            assertThat(
                            ServiceProcess.pollUntil(
                                    () -> find(store, key).equals(Outcome.ok(Optional.empty())),
                                    RECOVERY))
                    .isTrue();
        }
    }

    @Test
    void the_time_of_an_entry_begins_anew_while_its_engine_keeps_it() {
        MetadataOptions patient =
                OPTIONS.withHeartbeat(Duration.ofMillis(50), Duration.ofMinutes(1));
        RpcMeta endpoint = new RpcMeta("127.0.0.1", 15001, OptionalLong.of(1));
        try (MetadataStore store =
                        MetadataStores.open(backend().connection(), patient)
                                .orThrow()
                                .orElseThrow();
                Jedis client = client();
                Publication publication =
                        new Publication(
                                store,
                                patient,
                                "kept",
                                endpoint,
                                () -> "{}",
                                new SimpleMeterRegistry())) {
            assertThat(publication.publish().isOk()).isTrue();
            long[] last = {Long.MAX_VALUE};
            boolean renewed =
                    ServiceProcess.pollUntil(
                            () -> {
                                long before = last[0];
                                last[0] = client.pttl("mooncake/ram/kept");
                                return last[0] > before;
                            },
                            RECOVERY);
            assertThat(renewed).isTrue();
        }
    }

    @Test
    void a_frozen_server_fails_requests_and_serves_them_when_it_goes_on() {
        try (MetadataStore store = open()) {
            assertThat(store.put("mooncake/ram/frozen", "1").isOk()).isTrue();
            process().freeze();
            try {
                assertThat(store.find("mooncake/ram/frozen", Duration.ofMillis(300)).isOk())
                        .isFalse();
            } finally {
                process().thaw();
            }
            assertThat(
                            ServiceProcess.pollUntil(
                                    () -> store.put("mooncake/ram/frozen", "2").isOk(), RECOVERY))
                    .isTrue();
        }
    }

    @Test
    void a_password_and_a_database_are_used(@TempDir Path directory) {
        try (ServiceProcess locked =
                ServiceProcess.redis(directory, "--requirepass", "s3cret").start()) {
            String connection = "redis://" + locked.address();
            MetadataOptions right =
                    OPTIONS.withRedis(new MetadataOptions.RedisLogin("default", "s3cret", 3));
            try (MetadataStore store =
                            MetadataStores.open(connection, right).orThrow().orElseThrow();
                    Jedis client = new Jedis("127.0.0.1", locked.port())) {
                assertThat(store.put("mooncake/ram/secret", "x").isOk()).isTrue();
                client.auth("s3cret");
                assertThat(client.get("mooncake/ram/secret")).isNull();
                client.select(3);
                assertThat(client.get("mooncake/ram/secret")).isEqualTo("x\n");
            }
            for (String password : new String[] {"", "wr0ng"}) {
                MetadataOptions wrong =
                        OPTIONS.withRedis(new MetadataOptions.RedisLogin("", password, 0));
                try (MetadataStore store =
                        MetadataStores.open(connection, wrong).orThrow().orElseThrow()) {
                    assertThat(store.put("mooncake/ram/secret", "y"))
                            .isInstanceOfSatisfying(
                                    Outcome.Failed.class,
                                    failed ->
                                            assertThat(failed.detail())
                                                    .containsAnyOf("NOAUTH", "WRONGPASS")
                                                    .doesNotContain("wr0ng"));
                }
            }
            assertThat(right.toString()).doesNotContain("s3cret");
        }
    }
}
