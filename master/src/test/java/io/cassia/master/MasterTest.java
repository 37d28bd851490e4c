package io.cassia.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.RpcMethod;
import io.cassia.rpc.cassia.CassiaMessages.Acquire;
import io.cassia.rpc.cassia.CassiaMessages.Acquired;
import io.cassia.rpc.cassia.CassiaMessages.Explain;
import io.cassia.rpc.cassia.CassiaMessages.Explanation;
import io.cassia.rpc.cassia.CassiaMessages.KeyInfo;
import io.cassia.rpc.cassia.CassiaMessages.ListKeys;
import io.cassia.rpc.cassia.CassiaMessages.LongestPrefix;
import io.cassia.rpc.cassia.CassiaMessages.PrefixHit;
import io.cassia.rpc.cassia.CassiaMessages.Release;
import io.cassia.rpc.cassia.CassiaMessages.Stats;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.cassia.CheckedMethods;
import io.cassia.rpc.cassia.ReservedMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.ClientStatus;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaDescriptor;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MasterTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final Uuid A = new Uuid(1, 2);
    private static final ByteString TENANT = ByteString.of("default");
    private static final long MIB = 1 << 20;
    private static final int ALL = 4;

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private Master master = start(config());
    private RpcClient client = connect(master);

    private static MasterConfig.Builder config() {
        return MasterConfig.builder()
                .rpc("127.0.0.1", 0)
                .http("127.0.0.1", 0)
                .defaultLeaseTtl(Duration.ofMillis(300));
    }

    private Master start(MasterConfig.Builder config) {
        return Master.start(config.build(), Clock.system(), meters, () -> "the metrics\n")
                .orThrow();
    }

    private RpcClient connect(Master to) {
        return RpcClient.builder("127.0.0.1", to.rpcPort(), meters).build();
    }

    private void restart(MasterConfig.Builder config) {
        close();
        master = start(config);
        client = connect(master);
    }

    @AfterEach
    void close() {
        client.close();
        master.close();
    }

    @CanIgnoreReturnValue
    private <Q, R> R call(RpcMethod<Q, R> method, Q arguments) {
        return client.call(method, arguments, TIMEOUT).orThrow();
    }

    @CanIgnoreReturnValue
    private <Q, T> T ok(RpcMethod<Q, Outcome<T>> method, Q arguments) {
        return call(method, arguments).orThrow();
    }

    private <Q, T> Code code(RpcMethod<Q, Outcome<T>> method, Q arguments) {
        return call(method, arguments) instanceof Outcome.Failed<T> failed
                ? failed.code()
                : StoreCode.OK;
    }

    private static ByteString key(String text) {
        return ByteString.of(text);
    }

    private static Args.Key at(String key) {
        return new Args.Key(key(key), TENANT);
    }

    private void mount() {
        Segment segment =
                new Segment(new Uuid(11, 12), "node-a:1", 1L << 32, 16 * MIB, "h:1", "tcp", "");
        ok(MasterMethods.REMOUNT_SEGMENT, new Args.ReMountSegment(List.of(segment), A));
    }

    private void put(String key, long length) {
        ok(
                MasterMethods.PUT_START,
                new Args.PutStart(A, key(key), length, ReplicateConfig.DEFAULT, TENANT));
        ok(MasterMethods.PUT_END, new Args.PutEnd(A, meta(key), ALL, TENANT));
    }

    private static ObjectMeta meta(String key) {
        return new ObjectMeta(key(key), OptionalLong.empty());
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            Thread.sleep(5);
        }
    }

    @Test
    void the_life_of_an_object_over_rpc() {
        assertThat(ok(MasterMethods.SERVICE_READY, Done.DONE)).isEqualTo("2.0.0");
        assertThat(ok(MasterMethods.GET_FSDIR, Done.DONE)).isEmpty();
        assertThat(ok(MasterMethods.GET_STORAGE_CONFIG, Done.DONE).enableDiskEviction()).isTrue();
        assertThat(ok(MasterMethods.PING, A).clientStatus())
                .isEqualTo(ClientStatus.NEED_REMOUNT.number());
        mount();
        assertThat(ok(MasterMethods.PING, A).clientStatus()).isEqualTo(ClientStatus.OK.number());
        assertThat(ok(MasterMethods.EXIST_KEY, at("k"))).isFalse();
        put("k", 10);
        assertThat(ok(MasterMethods.EXIST_KEY, at("k"))).isTrue();
        assertThat(ok(MasterMethods.GET_REPLICA_LIST, at("k")).leaseTtlMs()).isEqualTo(300);
        assertThat(code(MasterMethods.REMOVE, new Args.Remove(key("k"), false, TENANT)))
                .isEqualTo(StoreCode.OBJECT_HAS_LEASE);
        assertThat(code(MasterMethods.REMOVE, new Args.Remove(key("k"), true, TENANT)))
                .isEqualTo(StoreCode.OK);
        assertThat(code(MasterMethods.GET_REPLICA_LIST, at("k")))
                .isEqualTo(StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    void batches_answer_item_by_item() {
        mount();
        List<ByteString> keys = List.of(key("a"), key("b"), key("c"));
        List<Outcome<List<ReplicaDescriptor>>> started =
                call(
                        MasterMethods.BATCH_PUT_START,
                        new Args.BatchPutStart(
                                A, keys, List.of(5L, 0L, 7L), ReplicateConfig.DEFAULT, TENANT));
        assertThat(started.stream().map(Outcome::isOk)).containsExactly(true, false, true);
        List<Outcome<Done>> ended =
                call(
                        MasterMethods.BATCH_PUT_END,
                        new Args.BatchPutEnd(
                                A, keys.stream().map(k -> meta(k.text())).toList(), ALL, TENANT));
        assertThat(ended.stream().map(Outcome::isOk)).containsExactly(true, false, true);
        assertThat(
                        call(MasterMethods.BATCH_EXIST_KEY, new Args.Keys(keys, TENANT)).stream()
                                .map(Outcome::orThrow))
                .containsExactly(true, false, true);
        assertThat(
                        call(MasterMethods.BATCH_GET_REPLICA_LIST, new Args.Keys(keys, TENANT))
                                .stream()
                                .map(Outcome::isOk))
                .containsExactly(true, false, true);
        assertThat(counter("master_batch_put_start_items_total")).isEqualTo(3);
        assertThat(counter("master_batch_put_start_failed_items_total")).isEqualTo(1);
        assertThat(counter("master_batch_put_start_partial_successes_total")).isEqualTo(1);
        assertThat(counter("master_batch_put_start_failures_total")).isZero();
    }

    private double counter(String name) {
        return meters.get(name).functionCounter().count();
    }

    @Test
    void a_cassia_client_asks_for_a_prefix_and_what_became_of_a_key() {
        mount();
        put("k0", 100);
        put("k1", 100);
        PrefixHit hit =
                ok(
                        CassiaMethods.LONGEST_PREFIX,
                        new LongestPrefix(
                                List.of(key("k0"), key("k1"), key("x")), TENANT, 0, true, true));
        assertThat(hit.count()).isEqualTo(2);
        assertThat(hit.objects()).hasSize(2).allMatch(Outcome::isOk);
        ok(CassiaMethods.RELEASE, new Release(List.of(hit.leaseId())));
        ok(MasterMethods.REMOVE, new Args.Remove(key("k0"), true, TENANT));
        Explanation gone = ok(CassiaMethods.EXPLAIN, new Explain(key("k0"), TENANT));
        assertThat(gone.state()).isEqualTo("absent");
        assertThat(gone.decisions().getFirst().what()).isEqualTo("removed");
        assertThat(code(CassiaMethods.TENANT_QUOTAS, TENANT))
                .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_MODE);
        assertThat(code(CassiaMethods.QUERY_DRAIN_JOB, A)).isEqualTo(StoreCode.JOB_NOT_FOUND);
    }

    @Test
    void a_cassia_client_acquires_lists_and_asks_for_statistics() {
        assertThat(ok(CassiaMethods.HELLO, A).capabilities())
                .contains("acquire", "release", "list", "stats", "longest-prefix", "checked");
        mount();
        for (int i = 0; i < 5; i++) {
            put("k" + i, 100);
        }
        Acquired acquired =
                ok(
                        CassiaMethods.ACQUIRE,
                        new Acquire(List.of(key("k0"), key("k1"), key("x")), TENANT, true, 0));
        assertThat(acquired.objects()).hasSize(2);
        Stats stats = ok(CassiaMethods.STATS, Done.DONE);
        assertThat(stats.objects()).isEqualTo(5);
        assertThat(stats.usedBytes()).isEqualTo(500);
        assertThat(stats.leasedBytes()).isEqualTo(200);
        assertThat(stats.segments()).hasSize(1);
        ok(CassiaMethods.RELEASE, new Release(List.of(acquired.leaseId())));
        assertThat(ok(CassiaMethods.STATS, Done.DONE).leasedBytes()).isZero();
        List<KeyInfo> page =
                ok(CassiaMethods.LIST_KEYS, new ListKeys(key("k"), key("k1"), 2, TENANT));
        assertThat(page.stream().map(info -> info.key().text())).containsExactly("k2", "k3");
    }

    @Test
    void every_method_of_the_release_and_our_own_is_answered() throws IOException {
        List<RpcMethod<?, ?>> all = new ArrayList<>(CassiaMethods.ALL);
        all.addAll(CheckedMethods.ALL);
        all.addAll(ReservedMethods.ALL);
        MasterMethods.ALL.stream()
                .filter(method -> method.name().contains("WrappedMasterService"))
                .forEach(all::add);
        assertThat(all).hasSize(64 + 15 + 4 + 3);
        try (RawConnection connection = new RawConnection(master.rpcPort())) {
            for (RpcMethod<?, ?> method : all) {
                // All arguments zero: empty texts and lists, numbers 0.
                byte[] body = new byte[400];
                ByteBuffer.wrap(body)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(method.arguments().hash());
                assertThat(
                                connection
                                        .exchange(RawConnection.frame(method.functionId(), body))
                                        .error())
                        .as(method.name())
                        .isZero();
            }
        }
    }

    @Test
    void remove_all_of_many_objects_goes_on_while_others_ask() throws InterruptedException {
        mount();
        List<ByteString> keys = new ArrayList<>();
        List<Long> lengths = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            keys.add(key("key-" + i));
            lengths.add(1L);
        }
        call(
                MasterMethods.BATCH_PUT_START,
                new Args.BatchPutStart(A, keys, lengths, ReplicateConfig.DEFAULT, TENANT));
        call(
                MasterMethods.BATCH_PUT_END,
                new Args.BatchPutEnd(
                        A, keys.stream().map(k -> meta(k.text())).toList(), ALL, TENANT));
        CountDownLatch asks = new CountDownLatch(20);
        try (RpcClient other = connect(master)) {
            Thread asking =
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        while (asks.getCount() > 0) {
                                            Object _ =
                                                    other.call(MasterMethods.PING, A, TIMEOUT)
                                                            .orThrow()
                                                            .orThrow();
                                            asks.countDown();
                                        }
                                    });
            long removed =
                    call(MasterMethods.REMOVE_ALL, new Args.RemoveAll(false, ByteString.EMPTY));
            assertThat(removed).isEqualTo(20_000);
            assertThat(asking.join(TIMEOUT)).isTrue();
            assertThat(asks.getCount()).isZero();
        }
    }

    @Test
    void a_silent_client_expires_by_the_timer() throws InterruptedException {
        restart(config().clientTtl(Duration.ofMillis(400)));
        mount();
        put("k", 10);
        await(() -> ok(CassiaMethods.STATS, Done.DONE).segments().isEmpty());
        assertThat(ok(MasterMethods.EXIST_KEY, at("k"))).isFalse();
        assertThat(ok(MasterMethods.PING, A).clientStatus())
                .isEqualTo(ClientStatus.NEED_REMOUNT.number());
    }

    @Test
    void a_port_in_use_is_a_failed_start_that_leaves_nothing() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Outcome<Master> rpcTaken =
                    Master.start(
                            config().rpc("127.0.0.1", taken.getLocalPort()).build(),
                            Clock.system(),
                            meters);
            assertThat(rpcTaken)
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> {
                                assertThat(failed.code()).isEqualTo(StoreCode.RPC_FAIL);
                                assertThat(failed.detail())
                                        .contains("127.0.0.1:" + taken.getLocalPort());
                            });
            int freePort;
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                freePort = free.getLocalPort();
            }
            Outcome<Master> httpTaken =
                    Master.start(
                            config().rpc("127.0.0.1", freePort)
                                    .http("127.0.0.1", taken.getLocalPort())
                                    .build(),
                            Clock.system(),
                            meters);
            assertThat(httpTaken.isOk()).isFalse();
            assertThat(httpTaken.toString()).contains("admin server cannot listen");
            // The RPC port was given back.
            new ServerSocket(freePort, 1, InetAddress.getLoopbackAddress()).close();
        }
    }

    @Test
    void an_unknown_host_is_a_failed_start() {
        assertThat(start("no-such-host.invalid", "127.0.0.1")).contains("does not resolve");
        assertThat(start("127.0.0.1", "no-such-host.invalid")).contains("does not resolve");
    }

    private String start(String rpcHost, String httpHost) {
        return Master.start(
                        config().rpc(rpcHost, 0).http(httpHost, 0).build(), Clock.system(), meters)
                .toString();
    }

    @Test
    void what_this_master_does_not_have_is_refused_at_the_start() {
        assertThat(
                        Master.start(config().rootFsDir("/mnt/x").build(), Clock.system(), meters)
                                .toString())
                .contains("INVALID_PARAMS", "root_fs_dir=/mnt/x");
        assertThatThrownBy(
                        () ->
                                config().putTimeouts(Duration.ofSeconds(5), Duration.ofSeconds(5))
                                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("longer than");
    }

    private HttpResponse<String> http(String method, String path) {
        try {
            URI uri = URI.create("http://127.0.0.1:" + master.httpPort() + path);
            return HTTP.send(
                    HttpRequest.newBuilder(uri)
                            .method(method, HttpRequest.BodyPublishers.noBody())
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private String body(String path) {
        HttpResponse<String> response = http("GET", path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    @Test
    void admin_endpoints_answer_as_upstream() {
        mount();
        put("a b", 10);
        put("c", 20);
        assertThat(body("/health"))
                .isEqualTo(
                        "{\"status\":\"ok\",\"role\":\"leader\",\"ha_state\":\"serving\","
                                + "\"service_ready\":true}");
        assertThat(body("/metrics")).isEqualTo("the metrics\n");
        assertThat(body("/role")).isEqualTo("leader");
        assertThat(body("/get_all_keys").lines()).containsExactlyInAnyOrder("a b", "c");
        assertThat(body("/get_all_segments")).isEqualTo("node-a:1\n");
        assertThat(body("/query_segment?segment=node-a:1"))
                .isEqualTo("node-a:1\nUsed(bytes): 30\nCapacity(bytes) : 16777216\n");
        assertThat(http("GET", "/query_segment?segment=none").statusCode()).isEqualTo(500);
        assertThat(body("/query_key?key=a%20b"))
                .isEqualTo(
                        "{\"success\":true,\"data\":[{\"size_\":10,"
                                + "\"buffer_address_\":4294967296,\"protocol_\":\"tcp\","
                                + "\"transport_endpoint_\":\"h:1\"}]}");
        HttpResponse<String> missing = http("GET", "/query_key?key=none");
        assertThat(missing.statusCode()).isEqualTo(404);
        assertThat(missing.body()).contains("\"success\":false", "\"error_code\":-704");
        assertThat(body("/batch_query_keys?keys=c,none"))
                .contains("\"c\":{\"ok\":true,\"values\":[{\"size_\":20")
                .contains("\"none\":{\"ok\":false,\"error\":\"OBJECT_NOT_FOUND\"}");
        assertThat(http("GET", "/batch_query_keys").statusCode()).isEqualTo(400);
        assertThat(body("/get_segments_detail"))
                .contains("\"total_segments\":1", "\"allocator_used_bytes\":30");
        assertThat(body("/api/v1/segments/status?segment=node-a:1"))
                .contains("\"status\":1", "\"status_name\":\"OK\"");
        assertThat(http("GET", "/api/v1/segments/status?segment=x").statusCode()).isEqualTo(404);
        assertThat(http("GET", "/api/v1/remove_all").statusCode()).isEqualTo(405);
        assertThat(http("POST", "/api/v1/remove_all?force=1").body())
                .isEqualTo("{\"success\":true,\"removed_count\":2}");
        assertThat(http("GET", "/nothing").statusCode()).isEqualTo(404);
    }

    @Test
    void without_an_admin_server_there_is_no_port() {
        restart(config().httpOff());
        assertThat(master.httpPort()).isEqualTo(MasterConfig.HTTP_OFF);
        assertThat(ok(MasterMethods.SERVICE_READY, Done.DONE)).isEqualTo("2.0.0");
    }

    @Test
    void metrics_have_upstreams_names_and_move() {
        mount();
        put("k", 10);
        ok(MasterMethods.GET_REPLICA_LIST, at("k"));
        assertThat(code(MasterMethods.GET_REPLICA_LIST, at("none"))).isNotEqualTo(StoreCode.OK);
        assertThat(counter("master_put_start_requests_total")).isEqualTo(1);
        assertThat(counter("master_put_start_failures_total")).isZero();
        assertThat(counter("master_get_replica_list_requests_total")).isEqualTo(2);
        assertThat(counter("master_get_replica_list_failures_total")).isEqualTo(1);
        assertThat(gauge("master_allocated_bytes")).isEqualTo(10);
        assertThat(gauge("master_total_capacity_bytes")).isEqualTo(16 * MIB);
        assertThat(gauge("master_key_count")).isEqualTo(1);
        assertThat(gauge("master_active_clients")).isEqualTo(1);
        assertThat(gauge("valid_get_nums_")).isEqualTo(1);
        assertThat(gauge("total_get_nums_")).isEqualTo(2);
        assertThat(gauge("master_metadata_bytes")).isPositive();
        master.refreshMetrics();
        assertThat(meters.get("segment_allocated_bytes").tag("segment", "node-a:1").gauge().value())
                .isEqualTo(10);
        assertThat(meters.get("master_value_size_bytes").summary().totalAmount()).isEqualTo(10);
        assertThat(meters.getMeters().stream().filter(m -> m instanceof FunctionCounter).count())
                .isGreaterThan(60);
    }

    private double gauge(String name) {
        return meters.get(name).gauge().value();
    }
}
