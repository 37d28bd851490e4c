package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.testkit.ServiceProcess;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.LeaseOption;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

final class EtcdMetadataStoreTest extends MetadataStoreKit {
    private Client client;

    @Override
    Backend start() throws IOException {
        return new ProcessBackend("etcd", ServiceProcess::etcd);
    }

    private ServiceProcess process() {
        return ((ProcessBackend) backend()).process;
    }

    @BeforeAll
    void openClient() {
        client = Client.builder().endpoints("http://" + process().address()).build();
    }

    @AfterAll
    void closeClient() {
        if (client != null) {
            client.close();
        }
    }

    @Override
    String connection(int port) {
        return "127.0.0.1:" + port;
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    private List<KeyValue> rawEntries(String key) throws Exception {
        return client.getKVClient().get(bytes(key)).get(10, TimeUnit.SECONDS).getKvs();
    }

    @Override
    String raw(String key) throws Exception {
        return rawEntries(key).getFirst().getValue().toString(StandardCharsets.UTF_8);
    }

    @Override
    String ending() {
        return "\n";
    }

    @Test
    void entries_hang_on_a_lease_and_vanish_with_their_store() throws Exception {
        String key = "mooncake/ram/leased";
        try (MetadataStore store = open()) {
            assertThat(store.put(key, "x").isOk()).isTrue();
            long lease = rawEntries(key).getFirst().getLease();
            assertThat(lease).isNotZero();
            assertThat(
                            client.getLeaseClient()
                                    .timeToLive(lease, LeaseOption.DEFAULT)
                                    .get(10, TimeUnit.SECONDS)
                                    .getGrantedTTL())
                    .isEqualTo(OPTIONS.entryTtl().toSeconds());
            assertThat(rawEntries(key)).hasSize(1);
        }
        assertThat(rawEntries(key)).isEmpty();
    }

    @Test
    void a_lease_is_kept_alive_beyond_its_time_without_any_request() throws Exception {
        String key = "mooncake/ram/alive";
        MetadataOptions brief =
                OPTIONS.withHeartbeat(Duration.ofMillis(100), Duration.ofSeconds(2));
        try (MetadataStore store =
                MetadataStores.open(backend().connection(), brief).orThrow().orElseThrow()) {
            assertThat(store.put(key, "x").isOk()).isTrue();
            long lease = rawEntries(key).getFirst().getLease();
            // A lease that nobody keeps is gone by then.
            boolean gone =
                    ServiceProcess.pollUntil(
                            () -> find(store, key).equals(Outcome.ok(Optional.empty())),
                            Duration.ofMillis(2800));
            assertThat(gone).isFalse();
            assertThat(rawEntries(key).getFirst().getLease()).isEqualTo(lease);
        }
    }

    @Test
    void an_entry_whose_lease_was_revoked_is_written_under_a_new_one() throws Exception {
        String key = "mooncake/ram/revoked";
        try (MetadataStore store = open()) {
            assertThat(store.put(key, "x").isOk()).isTrue();
            long lease = rawEntries(key).getFirst().getLease();
            client.getLeaseClient().revoke(lease).get(10, TimeUnit.SECONDS);
            assertThat(rawEntries(key)).isEmpty();
            assertThat(store.keep(key, "x")).isEqualTo(Outcome.done());
            assertThat(rawEntries(key).getFirst().getLease()).isNotIn(0L, lease);
        }
    }

    @Test
    void keeping_an_unchanged_entry_writes_nothing() throws Exception {
        String key = "mooncake/ram/unchanged";
        try (MetadataStore store = open()) {
            assertThat(store.put(key, "x").isOk()).isTrue();
            long revision = rawEntries(key).getFirst().getModRevision();
            assertThat(store.keep(key, "x")).isEqualTo(Outcome.done());
            assertThat(rawEntries(key).getFirst().getModRevision()).isEqualTo(revision);
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
    void a_value_beyond_the_servers_limit_is_refused_with_the_reason() {
        try (MetadataStore store = open()) {
            assertThat(store.put("mooncake/ram/huge", "x".repeat(1_700_000)))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed ->
                                    assertThat(failed.detail())
                                            .contains("mooncake/ram/huge", "too large"));
            assertThat(store.put("mooncake/ram/huge", "small").isOk()).isTrue();
        }
    }

    @Test
    void one_dead_member_of_the_list_does_not_matter() {
        String list = "etcd://127.0.0.1:" + ServiceProcess.freePort() + "," + process().address();
        try (MetadataStore store = open(list)) {
            assertThat(
                            ServiceProcess.pollUntil(
                                    () -> store.put("mooncake/ram/member", "x").isOk(), RECOVERY))
                    .isTrue();
        }
    }
}
