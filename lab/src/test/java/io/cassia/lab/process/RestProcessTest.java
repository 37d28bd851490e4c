package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** The REST service in a process of its own, between HTTP clients and a real cluster. */
class RestProcessTest {
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private ProcessCluster cluster;
    private CassiaProcess gateway;
    private String address;

    @BeforeEach
    void start() throws Exception {
        cluster = ProcessCluster.start("--client-ttl", "2s");
        gateway =
                CassiaProcess.launch(
                        "gateway",
                        "--json",
                        "--master",
                        cluster.address(),
                        "--metadata",
                        "P2PHANDSHAKE",
                        "--rest-port",
                        "0",
                        "--rest-buffers",
                        "4MiB",
                        "--timeout",
                        "5s");
        address = gateway.ready().get("addresses").get("rest").asString();
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        cluster.close();
    }

    private HttpResponse<byte[]> send(String method, String path, byte[] body) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(address + path))
                        .timeout(Duration.ofSeconds(60))
                        .method(method, BodyPublishers.ofByteArray(body))
                        .build();
        return http.send(request, BodyHandlers.ofByteArray());
    }

    private static byte[] value(int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(length).nextBytes(bytes);
        return bytes;
    }

    @Test
    void http_and_the_client_see_the_same_objects() throws Exception {
        cluster.node("64MiB");
        byte[] large = value((20 << 20) + 3);
        assertThat(send("PUT", "/api/put/over/http", large).statusCode()).isEqualTo(200);
        try (StoreClient client = cluster.client();
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(large.length);
            assertThat(client.get(ByteString.of("over/http"), memory).orThrow())
                    .isEqualTo(large.length);
            assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(large);
            MemorySegment small = arena.allocate(5);
            small.fill((byte) 7);
            client.put(ByteString.of("by client"), small, PutOptions.DEFAULT).orThrow();
        }
        assertThat(send("GET", "/api/get/over/http", new byte[0]).body()).isEqualTo(large);
        assertThat(send("GET", "/api/get/by%20client", new byte[0]).body())
                .isEqualTo(new byte[] {7, 7, 7, 7, 7});
    }

    @Test
    void without_memory_without_a_node_and_without_a_master_the_code_says_so() throws Exception {
        HttpResponse<byte[]> full = send("PUT", "/api/put/k", value(100));
        assertThat(full.statusCode()).isEqualTo(507);
        assertThat(name(full)).isEqualTo("NO_AVAILABLE_HANDLE");

        CassiaProcess node = cluster.node("64MiB");
        assertThat(send("PUT", "/api/put/k", value(100)).statusCode()).isEqualTo(200);
        node.kill();
        HttpResponse<byte[]> lost = send("GET", "/api/get/k", new byte[0]);
        assertThat(lost.statusCode()).isIn(404, 503);
        assertThat(name(lost)).isIn("TRANSFER_FAIL", "OBJECT_NOT_FOUND");

        cluster.master().kill();
        HttpResponse<byte[]> gone = send("GET", "/api/get/k", new byte[0]);
        assertThat(gone.statusCode()).isIn(503, 504);
        assertThat(name(gone)).isIn("RPC_FAIL", "RPC_TIMEOUT");
        assertThat(send("GET", "/health", new byte[0]).statusCode()).isEqualTo(503);
        assertThat(gateway.terminate()).isZero();
    }

    private static String name(HttpResponse<byte[]> response) {
        return JsonMapper.shared().readTree(response.body()).get("name").asString();
    }
}
