package io.cassia.gateways.rest;

import static io.cassia.gateways.rest.RestCluster.json;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.testkit.ServiceProcess;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What the service does not put up with. */
class RestLimitsTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static RestConfig config(long buffers, int requests, Duration patience) {
        return new RestConfig("127.0.0.1", 0, buffers, requests, patience);
    }

    private static Socket connect(RestCluster cluster, String head) throws Exception {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), cluster.rest.port());
        socket.setSoTimeout((int) LIMIT.toMillis());
        socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
        return socket;
    }

    private static void assertEnds(Socket socket) {
        try (socket;
                InputStream in = socket.getInputStream()) {
            assertThat(in.readAllBytes()).isEmpty();
        } catch (java.io.IOException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }

    private static double gauge(RestCluster cluster, String name) {
        return cluster.meters.get(name).gauge().value();
    }

    private static void await(RestCluster cluster, String gauge, double value) {
        assertThat(ServiceProcess.pollUntil(() -> gauge(cluster, gauge) == value, LIMIT))
                .as("%s is %s, not %s", gauge, gauge(cluster, gauge), value)
                .isTrue();
    }

    @Test
    void an_object_larger_than_the_buffers_passes_in_pieces() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(1 << 20, 4, Duration.ofSeconds(5)), 64 << 20)) {
            byte[] large = new byte[(5 << 20) + 17];
            new SplittableRandom(5).nextBytes(large);
            HttpResponse<byte[]> put = cluster.put("/api/put/large", large);
            assertThat(put.statusCode()).as(RestCluster.text(put)).isEqualTo(200);
            HttpResponse<byte[]> got = cluster.get("/api/get/large");
            assertThat(got.headers().firstValueAsLong("Content-Length")).hasValue(large.length);
            assertThat(got.body()).isEqualTo(large);
            HttpResponse<byte[]> range =
                    cluster.get("/api/get/large", "Range", "bytes=1000-3000000");
            assertThat(range.statusCode()).isEqualTo(206);
            assertThat(range.body()).isEqualTo(Arrays.copyOfRange(large, 1000, 3_000_001));
            assertThat(cluster.put("/api/put/large", large).statusCode()).isEqualTo(409);
            await(cluster, "cassia_rest_buffer_used_bytes", 0);
        }
    }

    @Test
    void an_object_in_pieces_that_is_replaced_meanwhile_breaks_off() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(1 << 20, 4, Duration.ofSeconds(20)), 128 << 20)) {
            assertThat(cluster.put("/api/put/large", new byte[32 << 20]).statusCode())
                    .isEqualTo(200);
            try (Socket reader =
                    connect(cluster, "GET /api/get/large HTTP/1.1\r\nHost: x\r\n\r\n")) {
                assertThat(reader.getInputStream().read()).isEqualTo('H');
                replace(cluster, "large");
                long got = 0;
                byte[] chunk = new byte[1 << 16];
                try {
                    for (int n = 0; n >= 0; n = reader.getInputStream().read(chunk)) {
                        got += n;
                    }
                } catch (java.io.IOException e) {
                    assertThat(e).hasMessageContaining("reset");
                }
                assertThat(got).isLessThan(32 << 20);
            }
            assertThat(cluster.count("cassia_rest_broken_answers")).isEqualTo(1);
        }
    }

    @Test
    void values_in_a_document_count_until_the_client_has_taken_it() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(64 << 20, 4, Duration.ofSeconds(20)), 64 << 20)) {
            assertThat(cluster.put("/api/put/large", new byte[32 << 20]).statusCode())
                    .isEqualTo(200);
            await(cluster, "cassia_rest_buffer_used_bytes", 0);
            String keys = "{\"keys\": [\"large\"]}";
            try (Socket reader =
                    connect(
                            cluster,
                            "POST /api/batch_get HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                                    .formatted(keys.length(), keys))) {
                assertThat(reader.getInputStream().read()).isEqualTo('H');
                assertThat(gauge(cluster, "cassia_rest_buffer_used_bytes")).isEqualTo(32 << 20);
            }
            await(cluster, "cassia_rest_buffer_used_bytes", 0);
        }
    }

    private static void replace(RestCluster cluster, String key) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment value = arena.allocate(100);
            cluster.client.upsert(ByteString.of(key), value, PutOptions.DEFAULT).orThrow();
        }
    }

    @Test
    void a_large_upload_that_breaks_off_is_taken_back() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(1 << 20, 4, Duration.ofSeconds(20)), 64 << 20)) {
            Socket half =
                    connect(
                            cluster,
                            "PUT /api/put/half HTTP/1.1\r\nHost: x\r\nContent-Length: 4194304\r\n\r\n");
            half.getOutputStream().write(new byte[2 << 20]);
            half.close();
            await(cluster, "cassia_rest_requests_in_flight", 0);
            assertThat(
                            ServiceProcess.pollUntil(
                                    () -> cluster.count("cassia_rest_lost_clients") > 0, LIMIT))
                    .isTrue();
            assertThat(cluster.client.exists(ByteString.of("half")).orThrow()).isFalse();
            assertThat(cluster.put("/api/put/half", new byte[100]).statusCode()).isEqualTo(200);
        }
    }

    @Test
    void a_body_without_a_length_beyond_the_buffers_is_413() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(1 << 20, 4, Duration.ofSeconds(5)), 16 << 20)) {
            byte[] large = new byte[(1 << 20) + 1];
            HttpResponse<byte[]> chunked =
                    cluster.put(
                            "/api/put/large",
                            BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(large)));
            assertThat(chunked.statusCode()).isEqualTo(413);
            assertThat(json(chunked).get("code").asInt())
                    .isEqualTo(StoreCode.BUFFER_OVERFLOW.number());
            assertThat(cluster.client.exists(ByteString.of("large")).orThrow()).isFalse();
            HttpResponse<byte[]> document = cluster.putJson("/api/put", " ".repeat(2 << 20));
            assertThat(document.statusCode()).isEqualTo(413);
            assertThat(cluster.put("/api/put/fits", new byte[1 << 20]).statusCode()).isEqualTo(200);
            await(cluster, "cassia_rest_buffer_used_bytes", 0);
        }
    }

    @Test
    void a_client_that_stops_sending_is_cut_off_and_holds_nothing() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(1 << 20, 4, Duration.ofMillis(300)), 16 << 20)) {
            Socket body =
                    connect(
                            cluster,
                            "PUT /api/put/half HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc");
            Socket head = connect(cluster, "GET /api/get/x HTTP/1.1\r\nHost: ");
            assertEnds(body);
            assertEnds(head);
            assertThat(cluster.count("cassia_rest_slow_clients")).isEqualTo(2);
            await(cluster, "cassia_rest_requests_in_flight", 0);
            await(cluster, "cassia_rest_buffer_used_bytes", 0);
            assertThat(cluster.client.exists(ByteString.of("half")).orThrow()).isFalse();
            assertThat(cluster.put("/api/put/half", new byte[1000]).statusCode()).isEqualTo(200);
        }
    }

    @Test
    void a_client_that_does_not_take_its_answer_holds_no_lease_and_is_cut_off() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(32 << 20, 4, Duration.ofSeconds(2)), 64 << 20)) {
            assertThat(cluster.put("/api/put/big", new byte[24 << 20]).statusCode()).isEqualTo(200);
            try (Socket lazy = connect(cluster, "GET /api/get/big HTTP/1.1\r\nHost: x\r\n\r\n")) {
                // Its answer has begun, so the object has been read.
                assertThat(lazy.getInputStream().read()).isEqualTo('H');
                assertThat(gauge(cluster, "cassia_rest_buffer_used_bytes")).isPositive();
                cluster.client.remove(ByteString.of("big"), false).orThrow();
                await(cluster, "cassia_rest_requests_in_flight", 0);
            }
            assertThat(cluster.count("cassia_rest_slow_clients")).isEqualTo(1);
            assertThat(cluster.count("cassia_rest_lost_clients")).isPositive();
            await(cluster, "cassia_rest_buffer_used_bytes", 0);
        }
    }

    @Test
    void requests_beyond_the_limit_are_503_and_connections_beyond_it_are_closed() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(1 << 20, 1, Duration.ofSeconds(20)), 16 << 20)) {
            List<Socket> waiting = new ArrayList<>();
            try {
                waiting.add(
                        connect(
                                cluster,
                                "PUT /api/put/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab"));
                await(cluster, "cassia_rest_requests_in_flight", 1);
                HttpResponse<byte[]> refused = cluster.get("/api/exist/x");
                assertThat(refused.statusCode()).isEqualTo(503);
                assertThat(refused.headers().firstValue("Retry-After")).isPresent();
                assertThat(json(refused).get("name").asString())
                        .isEqualTo(StoreCode.UNAVAILABLE_IN_CURRENT_STATUS.name());
                assertThat(cluster.count("cassia_rest_busy_refusals")).isEqualTo(1);

                while (cluster.count("cassia_rest_dropped_connections") == 0) {
                    assertThat(waiting).hasSizeLessThan(50);
                    waiting.add(connect(cluster, "GET /api/exist/x"));
                    boolean _ =
                            ServiceProcess.pollUntil(
                                    () -> cluster.count("cassia_rest_dropped_connections") > 0,
                                    Duration.ofMillis(100));
                }
                waiting.getFirst().getOutputStream().write("cde".getBytes(StandardCharsets.UTF_8));
                waiting.getFirst().getOutputStream().flush();
                assertThat(
                                new String(
                                        waiting.getFirst().getInputStream().readNBytes(12),
                                        StandardCharsets.US_ASCII))
                        .isEqualTo("HTTP/1.1 200");
            } finally {
                for (Socket socket : waiting) {
                    socket.close();
                }
            }
        }
    }

    @Test
    void who_finds_the_buffers_taken_is_refused_when_they_stay_taken() {
        int[] refusals = {0};
        BodyMemory memory = new BodyMemory(1 << 20, Duration.ofMillis(50), () -> refusals[0]++);
        try (BodyMemory.Body first = memory.take(1 << 20).orThrow()) {
            assertThat(first.memory().byteSize()).isEqualTo(1 << 20);
            assertThat(memory.take(1)).isInstanceOf(Outcome.Failed.class);
            assertThat(memory.takeMore(1)).isInstanceOf(Outcome.Failed.class);
            assertThat(refusals[0]).isEqualTo(2);
        }
        assertThat(memory.usedBytes()).isZero();
        memory.take(1 << 20).orThrow().close();
        assertThat(memory.take((1 << 20) + 1)).isInstanceOf(Outcome.Failed.class);
        assertThat(refusals[0]).isEqualTo(2);
    }

    @Test
    void a_truncated_body_stores_nothing() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(1 << 20, 4, Duration.ofSeconds(5)), 16 << 20)) {
            connect(
                            cluster,
                            "PUT /api/put/cut HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
                    .close();
            connect(
                            cluster,
                            String.join(
                                    "\r\n",
                                    "PUT /api/put/cut HTTP/1.1",
                                    "Host: x",
                                    "Transfer-Encoding: chunked",
                                    "",
                                    "5",
                                    "abcde",
                                    ""))
                    .close();
            assertThat(
                            ServiceProcess.pollUntil(
                                    () -> cluster.count("cassia_rest_lost_clients") >= 2, LIMIT))
                    .isTrue();
            await(cluster, "cassia_rest_requests_in_flight", 0);
            assertThat(cluster.client.exists(ByteString.of("cut")).orThrow()).isFalse();
        }
    }

    @Test
    void a_master_that_has_gone_is_told_as_such() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(1 << 20, 4, Duration.ofSeconds(5)), 16 << 20)) {
            cluster.master.close();
            HttpResponse<byte[]> got = cluster.get("/api/get/x");
            assertThat(got.statusCode()).isIn(503, 504);
            assertThat(json(got).get("name").asString()).isIn("RPC_FAIL", "RPC_TIMEOUT");
            HttpResponse<byte[]> health = cluster.get("/health");
            assertThat(health.statusCode()).isEqualTo(503);
            assertThat(json(health).get("status").asString()).isEqualTo("master_unreachable");
        }
    }
}
