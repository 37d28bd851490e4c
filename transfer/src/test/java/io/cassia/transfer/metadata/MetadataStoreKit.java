package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.testkit.ServiceProcess;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What every metadata store does, whatever server is behind it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class MetadataStoreKit {
    static final Duration REQUEST = Duration.ofSeconds(10);
    static final Duration RECOVERY = Duration.ofSeconds(20);
    static final Duration HEARTBEAT = Duration.ofMillis(100);
    static final MetadataOptions OPTIONS =
            MetadataOptions.DEFAULT
                    .withTimeouts(Duration.ofSeconds(1), REQUEST)
                    .withHeartbeat(HEARTBEAT, Duration.ofSeconds(4));

    /** A server that can lose its data. */
    interface Backend extends AutoCloseable {
        /** What engines are given as metadata. */
        String connection();

        void kill();

        /** Starts it again where it was, without data. */
        void startEmpty();

        @Override
        void close();
    }

    private Backend backend;

    abstract Backend start() throws IOException;

    /** The connection string of another port. */
    abstract String connection(int port);

    @BeforeAll
    final void startBackend() throws IOException {
        backend = start();
    }

    @AfterAll
    final void stopBackend() {
        if (backend != null) {
            backend.close();
        }
    }

    final Backend backend() {
        return backend;
    }

    final MetadataStore open() {
        return open(backend.connection());
    }

    static MetadataStore open(String connection) {
        return MetadataStores.open(connection, OPTIONS).orThrow().orElseThrow();
    }

    static Outcome<Optional<String>> find(MetadataStore store, String key) {
        return store.find(key, REQUEST);
    }

    private static void assertFound(MetadataStore store, String key, String value) {
        assertThat(find(store, key)).isEqualTo(Outcome.ok(Optional.of(value)));
    }

    private static void assertAbsent(MetadataStore store, String key) {
        assertThat(find(store, key)).isEqualTo(Outcome.ok(Optional.empty()));
    }

    private static void put(MetadataStore store, String key, String value) {
        assertThat(store.put(key, value)).isEqualTo(Outcome.done());
    }

    @Test
    void a_value_is_found_overwritten_and_removed() {
        try (MetadataStore store = open()) {
            assertAbsent(store, "mooncake/ram/a");
            put(store, "mooncake/ram/a", "{\"v\":1}");
            assertFound(store, "mooncake/ram/a", "{\"v\":1}");
            put(store, "mooncake/ram/a", "{\"v\":2}");
            assertFound(store, "mooncake/ram/a", "{\"v\":2}");
            assertThat(store.remove("mooncake/ram/a")).isEqualTo(Outcome.done());
            assertAbsent(store, "mooncake/ram/a");
        }
    }

    @Test
    void removing_what_is_not_there_succeeds() {
        try (MetadataStore store = open()) {
            assertThat(store.remove("mooncake/ram/never")).isEqualTo(Outcome.done());
        }
    }

    @Test
    void keeping_writes_what_is_missing_and_leaves_what_stands() {
        try (MetadataStore store = open();
                MetadataStore other = open()) {
            assertThat(store.keep("mooncake/ram/kept", "1")).isEqualTo(Outcome.done());
            assertFound(store, "mooncake/ram/kept", "1");
            assertThat(store.keep("mooncake/ram/kept", "1")).isEqualTo(Outcome.done());
            assertFound(store, "mooncake/ram/kept", "1");
            assertThat(other.remove("mooncake/ram/kept")).isEqualTo(Outcome.done());
            assertThat(store.keep("mooncake/ram/kept", "1")).isEqualTo(Outcome.done());
            assertFound(other, "mooncake/ram/kept", "1");
            put(other, "mooncake/ram/kept", "somebody else's");
            assertThat(store.keep("mooncake/ram/kept", "1")).isEqualTo(Outcome.done());
            assertFound(other, "mooncake/ram/kept", "1");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mooncake/ram/10.0.0.1:15001",
                "mooncake/ram/[fe80::1]:15001",
                "mooncake/cluster/nvmeof/deep/er//x/",
                "mooncake/ram/a b+c&d=e?f#g%20h%",
                "mooncake/ram/*~'\"\\\\",
                "mooncake/ram/\u00e4\u4e2d\u6587\ud83d\ude00",
                "mooncake/ram/../x"
            })
    void names_may_hold_any_text(String key) {
        try (MetadataStore store = open()) {
            put(store, key, key);
            assertFound(store, key, key);
            assertThat(store.remove(key)).isEqualTo(Outcome.done());
            assertAbsent(store, key);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "\n", "ends\n", "ends\n\n", "a\u0000b", "\u4e2d\u6587 \ud83d\ude00"})
    void values_may_hold_any_text(String value) {
        try (MetadataStore store = open()) {
            put(store, "mooncake/ram/text", value);
            assertFound(store, "mooncake/ram/text", value);
        }
    }

    @Test
    void values_of_a_mebibyte_are_kept_whole() {
        String value = "0123456789abcdef".repeat(1 << 16);
        try (MetadataStore store = open()) {
            put(store, "mooncake/ram/big", value);
            assertThat(store.keep("mooncake/ram/big", value)).isEqualTo(Outcome.done());
            assertThat(find(store, "mooncake/ram/big").orThrow().orElseThrow().equals(value))
                    .isTrue();
        }
    }

    @Test
    void many_keys_of_many_threads_do_not_disturb_each_other() throws Exception {
        try (MetadataStore store = open();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Boolean>> running = new ArrayList<>();
            for (int thread = 0; thread < 16; thread++) {
                int number = thread;
                running.add(threads.submit(() -> ownKeys(store, number)));
            }
            for (Future<Boolean> each : running) {
                assertThat(each.get()).isTrue();
            }
            assertThat(find(store, "mooncake/ram/shared").orThrow().orElseThrow())
                    .matches("thread \\d+ round 19");
        }
    }

    private static boolean ownKeys(MetadataStore store, int thread) {
        for (int round = 0; round < 20; round++) {
            String key = "mooncake/ram/thread-%d/%d".formatted(thread, round);
            put(store, key, key + " value");
            put(store, "mooncake/ram/shared", "thread %d round %d".formatted(thread, round));
            assertFound(store, key, key + " value");
            if (round % 2 == 1) {
                assertThat(store.remove(key)).isEqualTo(Outcome.done());
                assertAbsent(store, key);
            }
        }
        return IntStream.range(0, 10)
                .mapToObj(half -> "mooncake/ram/thread-%d/%d".formatted(thread, half * 2))
                .allMatch(key -> find(store, key).equals(Outcome.ok(Optional.of(key + " value"))));
    }

    @Test
    void a_server_that_is_not_there_is_told_with_key_and_cause() {
        try (MetadataStore store = open(connection(ServiceProcess.freePort()))) {
            assertUnreachable(() -> store.put("mooncake/ram/lost", "x"), "connect");
            assertUnreachable(() -> find(store, "mooncake/ram/lost"), "connect");
            assertUnreachable(() -> store.remove("mooncake/ram/lost"), "connect");
        }
    }

    @Test
    void a_server_that_never_answers_is_given_up_in_time() throws IOException {
        MetadataOptions brief =
                OPTIONS.withTimeouts(Duration.ofMillis(500), Duration.ofMillis(700));
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                MetadataStore store =
                        MetadataStores.open(connection(silent.getLocalPort()), brief)
                                .orThrow()
                                .orElseThrow()) {
            assertUnreachable(() -> store.find("mooncake/ram/lost", Duration.ofMillis(300)), "");
            assertUnreachable(() -> store.put("mooncake/ram/lost", "x"), "");
        }
    }

    private static void assertUnreachable(Supplier<Outcome<?>> call, String cause) {
        long start = System.nanoTime();
        Outcome<?> outcome = call.get();
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_METADATA);
                            assertThat(failed.detail()).contains("mooncake/ram/lost");
                            assertThat(failed.detail().toLowerCase(java.util.Locale.ROOT))
                                    .contains(cause);
                        });
        // A request's time, and a busy machine's.
        assertThat(took).isLessThan(REQUEST.plusSeconds(20));
    }

    @Test
    void what_a_server_lost_is_published_again_and_the_store_reconnects() {
        RpcMeta endpoint = new RpcMeta("127.0.0.1", 15001, OptionalLong.of(7));
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (MetadataStore store = open();
                MetadataStore reader = open()) {
            try (Publication publication =
                    new Publication(store, OPTIONS, "survivor", endpoint, () -> "{}", meters)) {
                assertThat(publication.publish()).isEqualTo(Outcome.done());
                assertFound(reader, "mooncake/ram/survivor", "{}");
                for (int round = 0; round < 2; round++) {
                    double before = failures(meters);
                    backend.kill();
                    assertThat(ServiceProcess.pollUntil(() -> failures(meters) > before, RECOVERY))
                            .isTrue();
                    backend.startEmpty();
                    assertComesBack(reader, "mooncake/rpc_meta/survivor");
                    assertComesBack(reader, "mooncake/ram/survivor");
                }
            }
            assertAbsent(reader, "mooncake/rpc_meta/survivor");
            assertAbsent(reader, "mooncake/ram/survivor");
        }
    }

    private static double failures(SimpleMeterRegistry meters) {
        return meters.get("cassia.metadata.heartbeats").tag("result", "failed").counter().count();
    }

    private static void assertComesBack(MetadataStore reader, String key) {
        boolean back =
                ServiceProcess.pollUntil(
                        () ->
                                find(reader, key) instanceof Outcome.Ok<Optional<String>>(var value)
                                        && value.isPresent(),
                        RECOVERY);
        assertThat(back).as("%s is published again: %s", key, find(reader, key)).isTrue();
    }

    @Test
    void entries_have_the_keys_and_texts_of_the_protocol() throws Exception {
        RpcMeta endpoint = new RpcMeta("10.0.0.1", 15001, OptionalLong.of(42));
        MetadataOptions options = OPTIONS.withCluster("blue");
        try (MetadataStore store = open();
                Publication publication =
                        new Publication(
                                store,
                                options,
                                "node/7",
                                endpoint,
                                () -> "{\"name\":\"node/7\"}",
                                new SimpleMeterRegistry())) {
            Outcome<Done> published = publication.publish();
            assertThat(published).isEqualTo(Outcome.done());
            assertThat(raw("mooncake/blue/rpc_meta/node/7"))
                    .isEqualTo(
                            "{\"incarnation\":42,\"ip_or_host_name\":\"10.0.0.1\","
                                    + "\"rpc_port\":15001}"
                                    + ending());
            assertThat(raw("mooncake/blue/node/7")).isEqualTo("{\"name\":\"node/7\"}" + ending());
        }
    }

    /** A value as the server has it, asked for by other means than the store. */
    abstract String raw(String key) throws Exception;

    /** What values end with in this store. */
    abstract String ending();
}
