package io.cassia.transfer.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.ManualClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Server and client of metadata over HTTP, together and each against raw requests. */
final class HttpMetadataTest {
    private static final Duration LIMIT = Duration.ofSeconds(3);

    private final ManualClock clock = new ManualClock();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final HttpMetadataServer server =
            HttpMetadataServer.start("127.0.0.1", 0, clock, meters).orThrow();
    private final MetadataStore store = HttpMetadataStore.open(server.uri()).orThrow();
    private final HttpClient raw = HttpClient.newHttpClient();

    @AfterEach
    void close() {
        store.close();
        server.close();
        raw.shutdownNow();
    }

    private HttpResponse<String> send(String method, String path, String body)
            throws IOException, InterruptedException {
        return raw.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                        .method(method, HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private int status(String method, String path, String body)
            throws IOException, InterruptedException {
        return send(method, path, body).statusCode();
    }

    @Test
    void values_come_back_and_go() {
        String key = "mooncake/ram/host:1/ü &=+%~*";
        assertThat(store.find(key, LIMIT).orThrow()).isEmpty();
        assertThat(store.put(key, "{\"a\":\"ü\"}").isOk()).isTrue();
        assertThat(store.find(key, LIMIT).orThrow()).contains("{\"a\":\"ü\"}");
        assertThat(store.put(key, "2").isOk()).isTrue();
        assertThat(store.find(key, LIMIT).orThrow()).contains("2");
        assertThat(store.remove(key).isOk()).isTrue();
        assertThat(store.remove(key).isOk()).isTrue();
        assertThat(store.find(key, LIMIT).orThrow()).isEmpty();
    }

    @Test
    void keys_are_percent_encoded_as_recorded() {
        assertThat(HttpMetadataStore.percentEncoded("mooncake/rpc_meta/127.0.0.1:12345 *~"))
                .isEqualTo("mooncake%2Frpc_meta%2F127.0.0.1%3A12345%20%2A~");
    }

    @Test
    void raw_requests_get_the_status_that_upstream_gives() throws Exception {
        assertThat(send("GET", "/health", "").body()).isEqualTo("OK");
        assertThat(status("GET", "/metadata?key=a%2Fb", "")).isEqualTo(404);
        assertThat(send("GET", "/metadata?key=a%2Fb", "").body()).isEqualTo("metadata not found");
        assertThat(status("PUT", "/metadata?key=a%2Fb", "1")).isEqualTo(200);
        assertThat(send("GET", "/metadata?x=y&key=a%2Fb", "").body()).isEqualTo("1");
        assertThat(status("DELETE", "/metadata?key=a%2Fb", "")).isEqualTo(200);
        assertThat(status("DELETE", "/metadata?key=a%2Fb", "")).isEqualTo(404);
        assertThat(status("GET", "/metadata", "")).isEqualTo(400);
        assertThat(status("GET", "/metadata?key=", "")).isEqualTo(400);
        assertThat(status("PUT", "/metadata?other=1", "1")).isEqualTo(400);
        assertThat(status("POST", "/metadata?key=a", "1")).isEqualTo(405);
        assertThat(status("PUT", "/metadata?key=" + "k".repeat(1024), "1")).isEqualTo(200);
        assertThat(status("PUT", "/metadata?key=" + "k".repeat(1025), "1")).isEqualTo(400);
    }

    @Test
    void values_that_are_too_long_are_refused() throws Exception {
        String limit = "x".repeat(HttpMetadataServer.MAX_VALUE_BYTES);
        assertThat(status("PUT", "/metadata?key=a", limit)).isEqualTo(200);
        assertThat(status("PUT", "/metadata?key=a", limit + "x")).isEqualTo(413);
        assertThat(meters.get("cassia.metadata.refusals").counter().count()).isEqualTo(1);
        assertThat(meters.get("cassia.metadata.entries").gauge().value()).isEqualTo(1);
    }

    @Test
    void a_full_server_refuses_new_keys_only() throws Exception {
        try (HttpMetadataServer small = limited(2, Duration.ofMinutes(1))) {
            MetadataStore limited = HttpMetadataStore.open(small.uri()).orThrow();
            assertThat(limited.put("a", "1").isOk()).isTrue();
            assertThat(limited.put("b", "1").isOk()).isTrue();
            assertThat(limited.put("c", "1"))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.detail()).contains("status 507", "full"));
            assertThat(limited.put("a", "2").isOk()).isTrue();
            assertThat(limited.remove("b").isOk()).isTrue();
            assertThat(limited.put("c", "1").isOk()).isTrue();
            limited.close();
        }
    }

    /** With room for one long value. */
    private HttpMetadataServer limited(int entries, Duration requestTime) {
        return HttpMetadataServer.start(
                        "127.0.0.1",
                        0,
                        clock,
                        new SimpleMeterRegistry(),
                        new HttpMetadataServer.Limits(entries, 1 << 20, requestTime))
                .orThrow();
    }

    @Test
    void a_request_that_does_not_come_to_its_end_is_closed_after_its_time() throws Exception {
        try (HttpMetadataServer hurried = limited(100, Duration.ofMillis(300));
                Socket body = stalled(hurried.port(), "a");
                Socket head = new Socket(InetAddress.getLoopbackAddress(), hurried.port())) {
            head.getOutputStream().write("GET /metadata?key=".getBytes(StandardCharsets.US_ASCII));
            for (Socket socket : new Socket[] {body, head}) {
                socket.setSoTimeout(20_000);
                assertThat(isClosed(socket)).isTrue();
            }
        }
    }

    /** Waits for what becomes of a connection. */
    private static boolean isClosed(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketException e) {
            return true;
        }
    }

    /** Sends the beginning of a long value and no more. */
    private static Socket stalled(int port, String key) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        String head =
                "PUT /metadata?key=%s HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n"
                        .formatted(key);
        socket.getOutputStream()
                .write((head + "x".repeat(200_000)).getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    @Test
    void long_values_that_are_on_their_way_have_an_end_and_short_ones_go_on() throws Exception {
        try (HttpMetadataServer small = limited(100, Duration.ofMinutes(1));
                MetadataStore limited = HttpMetadataStore.open(small.uri()).orThrow()) {
            String longValue = "v".repeat(100_000);
            try (Socket first = stalled(small.port(), "a")) {
                assertThat(first.isConnected()).isTrue();
                Outcome<?> refused = limited.put("b", longValue);
                for (int i = 0; i < 100 && refused.isOk(); i++) {
                    // The stalled one has not come so far yet.
                    refused = limited.put("b", longValue);
                }
                assertThat(refused.toString()).contains("status 503");
                assertThat(limited.put("c", "short").isOk()).isTrue();
            }
            Outcome<?> stored = limited.put("b", longValue);
            for (int i = 0; i < 100 && !stored.isOk(); i++) {
                stored = limited.put("b", longValue);
            }
            assertThat(stored.isOk()).as("%s", stored).isTrue();
            assertThat(limited.find("b", LIMIT).orThrow()).contains(longValue);
            assertThat(limited.find("a", LIMIT).orThrow()).isEmpty();
        }
    }

    private static String endpoint(int port, long incarnation) {
        return "{%s\"ip_or_host_name\":\"h\",\"rpc_port\":%d}"
                .formatted(incarnation == 0 ? "" : "\"incarnation\":" + incarnation + ",", port);
    }

    @Test
    void an_endpoint_of_a_living_owner_is_not_replaced_by_a_stranger() throws Exception {
        String path = "/metadata?key=mooncake%2Frpc_meta%2Fn";
        assertThat(status("PUT", path, endpoint(1, 0))).isEqualTo(200);
        assertThat(send("PUT", path, endpoint(1, 0)).body()).isEqualTo("metadata unchanged");
        HttpResponse<String> refused = send("PUT", path, endpoint(2, 0));
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).startsWith("Duplicate rpc_meta key not allowed");
        // Writes of its segment show that the owner lives.
        clock.advance(HttpMetadataServer.OWNER_TTL);
        assertThat(status("PUT", "/metadata?key=mooncake%2Fram%2Fn", "{}")).isEqualTo(200);
        clock.advance(HttpMetadataServer.OWNER_TTL);
        assertThat(status("PUT", path, endpoint(2, 5))).isEqualTo(400);
        clock.advance(Duration.ofNanos(1));
        assertThat(status("PUT", path, endpoint(2, 0))).isEqualTo(200);
        assertThat(send("GET", path, "").body()).isEqualTo(endpoint(2, 0));
        assertThat(status("DELETE", path, "")).isEqualTo(200);
        assertThat(status("PUT", path, endpoint(3, 0))).isEqualTo(200);
    }

    @Test
    void a_restarted_owner_replaces_its_endpoint_at_once_and_its_predecessor_does_not() {
        String key = "mooncake/rpc_meta/n";
        assertThat(store.put(key, endpoint(1, 100)).isOk()).isTrue();
        assertThat(store.put(key, endpoint(2, 101)).isOk()).isTrue();
        assertThat(store.put(key, endpoint(1, 100)))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).isEqualTo(TransferCode.ERR_METADATA);
                            assertThat(failed.detail()).contains(key, "status 400");
                        });
        assertThat(store.find(key, LIMIT).orThrow()).contains(endpoint(2, 101));
    }

    @Test
    void a_server_that_is_not_there_is_a_metadata_failure() {
        server.close();
        for (Outcome<?> outcome :
                new Outcome<?>[] {store.find("k", LIMIT), store.put("k", "v"), store.remove("k")}) {
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> {
                                assertThat(failed.code()).isEqualTo(TransferCode.ERR_METADATA);
                                assertThat(failed.detail()).contains(" k at " + server.uri());
                            });
        }
    }

    @Test
    void what_is_no_address_of_a_server_is_refused() {
        for (String text : new String[] {"etcd://h:1", "h:1", "", "http://", "http:// x"}) {
            assertThat(HttpMetadataStore.open(text))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed ->
                                    assertThat(failed.code())
                                            .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT));
        }
    }

    @Test
    void a_port_that_is_taken_and_a_host_that_does_not_exist_are_told() {
        assertThat(HttpMetadataServer.start("127.0.0.1", server.port(), clock, meters))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.code()).isEqualTo(TransferCode.ERR_SOCKET));
        assertThat(HttpMetadataServer.start("no-such-host.invalid", 0, clock, meters))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.code()).isEqualTo(TransferCode.ERR_DNS));
    }

    @Test
    void keys_are_those_of_upstream() {
        assertThat(MetadataKeys.of("").segment("h:1")).isEqualTo("mooncake/ram/h:1");
        assertThat(MetadataKeys.of("").segment("nodeB/x")).isEqualTo("mooncake/nodeB/x");
        assertThat(MetadataKeys.of("c1").rpcMeta("h:1")).isEqualTo("mooncake/c1/rpc_meta/h:1");
        assertThat(MetadataKeys.of("c1/").segment("h:1")).isEqualTo("mooncake/c1/ram/h:1");
        assertThat(Optional.of(HttpMetadataServer.OWNER_TTL))
                .hasValueSatisfying(
                        ttl -> assertThat(ttl).isGreaterThan(MetadataOptions.DEFAULT.heartbeat()));
    }
}
