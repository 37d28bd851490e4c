package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.cassia.transfer.environment.EngineEnvironment;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A file of one process, lent by the REST service in another one, used by clients in a third and
 * over TCP.
 */
class LentFileProcessTest {
    private static final long LENGTH = 64 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private ProcessCluster cluster;
    private CassiaProcess gateway;
    private FileOwner owner;
    private StoreClient near;
    private StoreClient far;
    private String address;

    @BeforeEach
    void start() throws Exception {
        cluster = ProcessCluster.start();
        gateway = cluster.gateway();
        address = gateway.ready().get("addresses").get("rest").asString();
        owner =
                FileOwner.start(
                        Path.of("/dev/shm", "owner-" + ProcessHandle.current().pid() + ".kv"),
                        LENGTH);
        near = cluster.client();
        StoreClientConfig config =
                new StoreClientConfig(
                        cluster.address(), StoreClientConfig.P2P, "127.0.0.1", "default", PATIENCE);
        far =
                StoreClient.connect(
                                config.withEngine(
                                        EngineEnvironment.read(Map.of("MC_FORCE_TCP", "1"))
                                                .orThrow()),
                                Clock.system(),
                                new SimpleMeterRegistry())
                        .orThrow();
    }

    @AfterEach
    void stop() throws Exception {
        far.close();
        near.close();
        owner.close();
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

    private HttpResponse<byte[]> get(String key) throws Exception {
        return send("GET", "/api/get/" + key, new byte[0]);
    }

    private JsonNode post(String path, String json) throws Exception {
        HttpResponse<byte[]> response = send("POST", path, json.getBytes(StandardCharsets.UTF_8));
        String text = new String(response.body(), StandardCharsets.UTF_8);
        assertThat(response.statusCode()).as(text).isEqualTo(200);
        return JsonMapper.shared().readTree(text);
    }

    private JsonNode decode() throws Exception {
        return post(
                "/api/reconfigure",
                "{\"mode\":\"decode\",\"path\":\"%s\",\"size\":%d}"
                        .formatted(owner.file(), LENGTH));
    }

    private void prefill() throws Exception {
        JsonNode answer = post("/api/reconfigure", "{\"mode\":\"prefill\"}");
        assertThat(answer.get("segment_ids")).isEmpty();
    }

    private static String name(HttpResponse<byte[]> response) {
        return JsonMapper.shared().readTree(response.body()).get("name").asString();
    }

    private static byte[] value(int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(length).nextBytes(bytes);
        return bytes;
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    private boolean isMapped() throws IOException {
        return Files.readString(Path.of("/proc/" + gateway.pid() + "/maps"))
                .contains(owner.file().toString());
    }

    private long segments() {
        return near.stats().orThrow().segments().size();
    }

    private static void eventually(String what, BooleanSupplier condition) {
        Outcome<String> outcome =
                Eventually.ok(
                        PATIENCE,
                        () ->
                                condition.getAsBoolean()
                                        ? Outcome.ok(what)
                                        : Outcome.failed(StoreCode.INTERNAL_ERROR, what));
        assertThat(outcome.isOk()).as(what).isTrue();
    }

    /** Puts over each of the three ways, and gets each of them over each. */
    private void useFromEverywhere(String prefix) throws Exception {
        byte[] bytes = value((5 << 20) + 3);
        assertThat(send("PUT", "/api/put/" + prefix + "rest", bytes).statusCode()).isEqualTo(200);
        near.put(ByteString.of(prefix + "near"), bytes, PutOptions.DEFAULT).orThrow();
        far.put(ByteString.of(prefix + "far"), bytes, PutOptions.DEFAULT).orThrow();
        for (String by : new String[] {"rest", "near", "far"}) {
            ByteString key = ByteString.of(prefix + by);
            assertThat(get(prefix + by).body()).isEqualTo(bytes);
            assertThat(near.getBytes(key).orThrow()).isEqualTo(bytes);
            assertThat(far.getBytes(key).orThrow()).isEqualTo(bytes);
        }
    }

    @Test
    void decode_lends_the_memory_and_prefill_takes_it_back() throws Exception {
        assertThat(decode().get("segment_ids")).hasSize(1);
        assertThat(isMapped()).isTrue();
        useFromEverywhere("a");
        assertThat(near.stats().orThrow().segments()).hasSize(1);

        prefill();
        assertThat(isMapped()).isFalse();
        assertThat(segments()).isZero();
        assertThat(code(far.getBytes(ByteString.of("anear"))))
                .isEqualTo(StoreCode.OBJECT_NOT_FOUND);
        assertThat(name(send("PUT", "/api/put/b", value(10)))).isEqualTo("NO_AVAILABLE_HANDLE");

        assertThat(decode().get("segment_ids")).hasSize(1);
        useFromEverywhere("c");

        assertThat(gateway.terminate()).isZero();
        assertThat(segments()).isZero();
        assertThat(Files.size(owner.file())).isEqualTo(LENGTH);
    }

    @Test
    void what_the_owner_writes_is_noticed() throws Exception {
        JsonNode mounted =
                post(
                        "/api/mount_shm",
                        "{\"name\":\"%s\",\"size\":%d,\"offset\":0}"
                                .formatted(owner.file().getFileName(), LENGTH));
        byte[] bytes = value(1 << 20);
        near.put(ByteString.of("k"), bytes, PutOptions.DEFAULT).orThrow();
        byte[] all = Files.readAllBytes(owner.file());
        int at = 0;
        while (Arrays.mismatch(all, at, at + bytes.length, bytes, 0, bytes.length) >= 0) {
            at += 8;
        }
        owner.flip(at + 70_000);
        HttpResponse<byte[]> wrong = get("k");
        assertThat(wrong.statusCode()).isEqualTo(500);
        assertThat(name(wrong)).isEqualTo("CHECKSUM_MISMATCH");
        assertThat(name(get("k"))).isEqualTo("OBJECT_NOT_FOUND");
        near.put(ByteString.of("k"), bytes, PutOptions.DEFAULT).orThrow();
        assertThat(get("k").body()).isEqualTo(bytes);

        String id = mounted.get("segment_ids").get(0).asString();
        JsonNode answer =
                post(
                        "/api/unmount_shm",
                        "{\"segment_ids\":[\"%s\"],\"grace_period_seconds\":1}".formatted(id));
        assertThat(answer.get("status").asString()).isEqualTo("success");
        assertThat(isMapped()).isFalse();
        assertThat(segments()).isZero();
    }

    @Test
    void a_file_that_is_cut_off_costs_its_objects_and_no_process() throws Exception {
        JsonNode decoded = decode();
        useFromEverywhere("a");
        owner.length(1 << 20);

        byte[] bytes = value((5 << 20) + 3);
        HttpResponse<byte[]> byGateway = get("arest");
        assertThat(byGateway.statusCode()).isIn(503, 404);
        assertThat(name(byGateway)).isIn("TRANSFER_FAIL", "OBJECT_NOT_FOUND");
        for (StoreClient client : new StoreClient[] {near, far}) {
            assertThat(code(client.getBytes(ByteString.of("afar"))))
                    .isIn(StoreCode.TRANSFER_FAIL, StoreCode.OBJECT_NOT_FOUND);
            assertThat(code(client.put(ByteString.of("b"), bytes, PutOptions.DEFAULT)))
                    .isIn(
                            StoreCode.TRANSFER_FAIL,
                            StoreCode.WRITE_FAIL,
                            StoreCode.NO_AVAILABLE_HANDLE);
        }
        eventually("the segment leaves the pool", () -> segments() == 0);
        assertThat(gateway.isAlive()).isTrue();
        assertThat(gateway.stderrText())
                .contains("cut off by its owner", owner.file().toString())
                .contains(decoded.get("segment_ids").get(0).asString())
                .contains("now " + (1 << 20) + " bytes");
        assertThat(new String(send("GET", "/metrics", new byte[0]).body(), StandardCharsets.UTF_8))
                .contains("cassia_node_lent_files_cut_total 1.0");
        assertThat(Files.size(owner.file())).isEqualTo(1 << 20);
        eventually(
                "it is unmapped",
                () -> {
                    try {
                        return !isMapped();
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                });

        owner.length(LENGTH);
        decode();
        useFromEverywhere("c");
        prefill();
        assertThat(gateway.terminate()).isZero();
    }
}
