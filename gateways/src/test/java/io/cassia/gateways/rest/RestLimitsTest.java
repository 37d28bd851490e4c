package io.cassia.gateways.rest;

import static io.cassia.gateways.rest.RestCluster.json;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.testkit.ServiceProcess;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
    void a_body_beyond_the_buffers_is_413_with_and_without_a_length() throws Exception {
        try (RestCluster cluster =
                RestCluster.start(config(1 << 20, 4, Duration.ofSeconds(5)), 16 << 20)) {
            byte[] large = new byte[(1 << 20) + 1];
            HttpResponse<byte[]> told = cluster.put("/api/put/large", large);
            assertThat(told.statusCode()).isEqualTo(413);
            assertThat(json(told).get("code").asInt())
                    .isEqualTo(StoreCode.BUFFER_OVERFLOW.number());
            HttpResponse<byte[]> chunked =
                    cluster.put(
                            "/api/put/large",
                            BodyPublishers.ofInputStream(
                                    () -> new java.io.ByteArrayInputStream(large)));
            assertThat(chunked.statusCode()).isEqualTo(413);
            assertThat(cluster.client.exists(ByteString.of("large")).orThrow()).isFalse();
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
            try (Socket lazy =
                    connect(cluster, "GET /api/get/big HTTP/1.1\r\nHost: x\r\n\r\n")) {
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
                            "PUT /api/put/cut HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                    + "5\r\nabcde\r\n")
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
