package io.cassia.gateways.rest;

import static io.cassia.gateways.rest.RestCluster.json;
import static io.cassia.gateways.rest.RestCluster.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.status.StoreCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The paths and their answers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RestServerTest {
    private final RestCluster cluster = RestCluster.start();

    @BeforeAll
    void ready() throws Exception {
        assertThat(cluster.get("/health").statusCode()).isEqualTo(200);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    private static byte[] value(int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(length).nextBytes(bytes);
        return bytes;
    }

    private static void assertFailure(HttpResponse<byte[]> response, int status, StoreCode code) {
        assertThat(response.statusCode()).as(text(response)).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
        JsonNode body = json(response);
        assertThat(body.get("code").asInt()).isEqualTo(code.number());
        assertThat(body.get("name").asString()).isEqualTo(code.name());
        assertThat(body.get("message").asString()).isNotBlank();
        assertThat(body.get("remedy").asString()).isNotBlank();
        assertThat(body.get("error").asString()).startsWith(code.label());
        assertThat(body.get("retryable").isBoolean()).isTrue();
    }

    @Test
    void upstreams_put_get_exist_and_remove() throws Exception {
        HttpResponse<byte[]> put =
                cluster.putJson("/api/put", "{\"key\": \"up/stream\", \"value\": \"wörld\"}");
        assertThat(put.statusCode()).isEqualTo(200);
        assertThat(text(put)).isEqualTo("{\"status\":\"success\"}");

        HttpResponse<byte[]> got = cluster.get("/api/get/up/stream");
        assertThat(got.statusCode()).isEqualTo(200);
        assertThat(text(got)).isEqualTo("wörld");
        assertThat(got.headers().firstValue("Content-Type")).contains("application/octet-stream");
        assertThat(got.headers().firstValueAsLong("Content-Length")).hasValue(6);

        assertThat(text(cluster.get("/api/exist/up/stream"))).isEqualTo("{\"exists\":true}");
        assertThat(text(cluster.get("/api/exist/other"))).isEqualTo("{\"exists\":false}");

        HttpResponse<byte[]> removed = cluster.delete("/api/remove/up%2Fstream?force=true");
        assertThat(text(removed)).isEqualTo("{\"status\":\"success\"}");
        assertFailure(cluster.get("/api/get/up/stream"), 404, StoreCode.OBJECT_NOT_FOUND);
        assertFailure(cluster.delete("/api/remove/up/stream"), 404, StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    void upstreams_put_of_an_existing_key_succeeds_and_says_that_it_existed() throws Exception {
        assertThat(cluster.putJson("/api/put", "{\"key\":\"twice\",\"value\":\"1\"}").statusCode())
                .isEqualTo(200);
        HttpResponse<byte[]> again =
                cluster.putJson("/api/put", "{\"key\":\"twice\",\"value\":\"2\"}");
        assertThat(again.statusCode()).isEqualTo(200);
        assertThat(json(again).get("existed").asBoolean()).isTrue();
        assertThat(text(cluster.get("/api/get/twice"))).isEqualTo("1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense",
                "[]",
                "{}",
                "{\"key\":\"k\"}",
                "{\"value\":\"v\"}",
                "{\"key\":\"k\",\"value\":null}",
                "{\"key\":1,\"value\":\"v\"}"
            })
    void malformed_puts_are_400(String document) throws Exception {
        assertFailure(cluster.putJson("/api/put", document), 400, StoreCode.INVALID_PARAMS);
    }

    @Test
    void empty_keys_and_values_are_400_and_nothing_is_stored() throws Exception {
        assertFailure(
                cluster.putJson("/api/put", "{\"key\":\"\",\"value\":\"v\"}"),
                400,
                StoreCode.INVALID_KEY);
        assertFailure(cluster.put("/api/put/", value(1)), 400, StoreCode.INVALID_KEY);
        assertFailure(
                cluster.putJson("/api/put", "{\"key\":\"empty\",\"value\":\"\"}"),
                400,
                StoreCode.INVALID_PARAMS);
        assertFailure(cluster.put("/api/put/empty", value(0)), 400, StoreCode.INVALID_PARAMS);
        assertThat(text(cluster.get("/api/exist/empty"))).isEqualTo("{\"exists\":false}");
        assertFailure(
                cluster.get("/api/get/" + "k".repeat(KeyPath.MAX_BYTES + 1)),
                400,
                StoreCode.INVALID_KEY);
        assertFailure(cluster.get("/api/get/"), 400, StoreCode.INVALID_KEY);
    }

    @Test
    void who_sends_too_long_a_key_is_told_to_change_it_and_not_to_try_again() throws Exception {
        HttpResponse<byte[]> refused =
                cluster.put("/api/put/" + "k".repeat(KeyPath.MAX_BYTES + 1), value(1));
        assertFailure(refused, 400, StoreCode.INVALID_KEY);
        JsonNode body = json(refused);
        assertThat(body.get("message").asString()).contains("4097 bytes");
        assertThat(body.get("remedy").asString()).contains("change the key");
        assertThat(body.get("retryable").asBoolean()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4095, 65_537, (1 << 20) + 1, (16 << 20) + 17})
    void a_body_goes_in_and_comes_out_with_a_length_and_in_chunks(int length) throws Exception {
        byte[] value = value(length);
        String told = "/api/put/told-" + length;
        HttpResponse<byte[]> put = cluster.put(told, value);
        assertThat(put.statusCode()).as(text(put)).isEqualTo(200);
        assertThat(json(put).get("bytes").asLong()).isEqualTo(length);
        assertThat(
                        cluster.put(
                                        "/api/put/chunked-" + length,
                                        BodyPublishers.ofInputStream(
                                                () -> new ByteArrayInputStream(value)))
                                .statusCode())
                .isEqualTo(200);
        for (String key : new String[] {"told-" + length, "chunked-" + length}) {
            HttpResponse<byte[]> got = cluster.get("/api/get/" + key);
            assertThat(got.headers().firstValueAsLong("Content-Length")).hasValue(length);
            assertThat(got.body()).isEqualTo(value);
            assertThat(cluster.delete("/api/remove/" + key + "?force=true").statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void a_put_of_an_existing_key_is_409() throws Exception {
        assertThat(cluster.put("/api/put/once", value(10)).statusCode()).isEqualTo(200);
        assertFailure(
                cluster.put("/api/put/once", value(11)), 409, StoreCode.OBJECT_ALREADY_EXISTS);
        assertThat(cluster.get("/api/get/once").body()).isEqualTo(value(10));
    }

    @Test
    void keys_hold_any_bytes() throws Exception {
        byte[] key = new byte[255];
        StringBuilder path = new StringBuilder("/api/put/");
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) (i + 1);
            path.append("%%%02x".formatted(i + 1));
        }
        assertThat(cluster.put(path.toString(), value(100)).statusCode()).isEqualTo(200);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment into = arena.allocate(100);
            assertThat(cluster.client.get(ByteString.wrap(key), into).orThrow()).isEqualTo(100);
            assertThat(into.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(value(100));
        }
        for (String odd : new String[] {"a//b/../c", "plus+plus", "semi;x=1", "q%3Fa%3Db", "%20"}) {
            assertThat(cluster.put("/api/put/" + odd, value(7)).statusCode()).isEqualTo(200);
            assertThat(cluster.get("/api/get/" + odd).body()).isEqualTo(value(7));
        }
        assertThat(cluster.client.exists(ByteString.of("plus+plus")).orThrow()).isTrue();
        assertThat(cluster.client.exists(ByteString.of("q?a=b")).orThrow()).isTrue();
    }

    @Test
    void head_tells_the_length_and_ranges_are_cut_out() throws Exception {
        byte[] value = value(1000);
        assertThat(cluster.put("/api/put/ranges", value).statusCode()).isEqualTo(200);
        HttpResponse<byte[]> head = cluster.send(cluster.request("/api/get/ranges").HEAD());
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValueAsLong("Content-Length")).hasValue(1000);
        assertThat(head.headers().firstValue("Accept-Ranges")).contains("bytes");
        assertThat(cluster.send(cluster.request("/api/get/nothing").HEAD()).statusCode())
                .isEqualTo(404);

        assertRange("bytes=0-9", value, 0, 10);
        assertRange("bytes=990-", value, 990, 1000);
        assertRange("bytes=-1", value, 999, 1000);
        assertRange("bytes=500-5000", value, 500, 1000);
        for (String ignored : new String[] {"bytes=9-3", "bytes=0-1,3-4", "lines=1-2", "bytes=-"}) {
            HttpResponse<byte[]> all = cluster.get("/api/get/ranges", "Range", ignored);
            assertThat(all.statusCode()).as(ignored).isEqualTo(200);
            assertThat(all.body()).isEqualTo(value);
        }
        HttpResponse<byte[]> outside = cluster.get("/api/get/ranges", "Range", "bytes=1000-");
        assertFailure(outside, 416, StoreCode.INVALID_PARAMS);
        assertThat(outside.headers().firstValue("Content-Range")).contains("bytes */1000");
    }

    private void assertRange(String range, byte[] value, int from, int to) throws Exception {
        HttpResponse<byte[]> part = cluster.get("/api/get/ranges", "Range", range);
        assertThat(part.statusCode()).as(range).isEqualTo(206);
        assertThat(part.headers().firstValue("Content-Range"))
                .contains("bytes " + from + "-" + (to - 1) + "/" + value.length);
        assertThat(part.body()).isEqualTo(java.util.Arrays.copyOfRange(value, from, to));
    }

    @Test
    void batches_have_one_result_per_key() throws Exception {
        String base64 = Base64.getEncoder().encodeToString(value(300));
        HttpResponse<byte[]> put =
                cluster.post(
                        "/api/batch_put",
                        """
                        {"objects": [{"key": "b1", "value": "one"},
                                     {"key": "b2", "base64": "%s"},
                                     {"key": "b1", "value": "again"}]}"""
                                .formatted(base64));
        assertThat(put.statusCode()).as(text(put)).isEqualTo(200);
        JsonNode stored = json(put).get("results");
        assertThat(stored.size()).isEqualTo(3);
        assertThat(stored.get(0).get("status").asString()).isEqualTo("success");
        assertThat(stored.get(1).get("status").asString()).isEqualTo("success");
        assertThat(stored.get(2).get("failure").get("name").asString())
                .isEqualTo("OBJECT_ALREADY_EXISTS");

        JsonNode exist = results("/api/batch_exist", "{\"keys\":[\"b1\",\"no\",\"b2\"]}");
        assertThat(exist.get(0).get("exists").asBoolean()).isTrue();
        assertThat(exist.get(1).get("exists").asBoolean()).isFalse();
        assertThat(exist.get(2).get("exists").asBoolean()).isTrue();

        JsonNode got = results("/api/batch_get", "{\"keys\":[\"b2\",\"no\",\"b1\",\"b2\"]}");
        assertThat(got.size()).isEqualTo(4);
        assertThat(got.get(0).get("base64").asString()).isEqualTo(base64);
        assertThat(got.get(0).get("size").asInt()).isEqualTo(300);
        assertThat(got.get(1).get("failure").get("code").asInt())
                .isEqualTo(StoreCode.OBJECT_NOT_FOUND.number());
        assertThat(Base64.getDecoder().decode(got.get(2).get("base64").asString()))
                .isEqualTo("one".getBytes(StandardCharsets.UTF_8));
        assertThat(got.get(3).get("base64").asString()).isEqualTo(base64);

        JsonNode removed =
                results("/api/batch_remove", "{\"keys\":[\"b1\",\"no\"],\"force\":true}");
        assertThat(removed.get(0).get("status").asString()).isEqualTo("success");
        assertThat(removed.get(1).get("failure").get("name").asString())
                .isEqualTo("OBJECT_NOT_FOUND");
    }

    private JsonNode results(String path, String document) throws Exception {
        HttpResponse<byte[]> response = cluster.post(path, document);
        assertThat(response.statusCode()).as(text(response)).isEqualTo(200);
        return json(response).get("results");
    }

    @Test
    void malformed_batches_are_400() throws Exception {
        for (String document : new String[] {"{}", "{\"keys\":1}", "{\"keys\":[1]}", "x"}) {
            assertFailure(cluster.post("/api/batch_get", document), 400, StoreCode.INVALID_PARAMS);
        }
        assertFailure(
                cluster.post("/api/batch_put", "{\"objects\":[{\"key\":\"a\"}]}"),
                400,
                StoreCode.INVALID_PARAMS);
        assertFailure(
                cluster.post("/api/batch_put", "{\"objects\":[{\"key\":\"a\",\"base64\":\"?\"}]}"),
                400,
                StoreCode.INVALID_PARAMS);
    }

    @Test
    void an_upsert_replaces_and_conditions_are_kept() throws Exception {
        assertThat(cluster.put("/api/upsert/v", value(10)).statusCode()).isEqualTo(200);
        String first = tag("/api/get/v");
        assertThat(cluster.put("/api/upsert/v", value(20)).statusCode()).isEqualTo(200);
        String second = tag("/api/get/v");
        assertThat(second).isNotEqualTo(first);
        assertThat(cluster.get("/api/get/v").body()).isEqualTo(value(20));

        HttpResponse<byte[]> same = cluster.get("/api/get/v", "If-None-Match", second);
        assertThat(same.statusCode()).isEqualTo(304);
        assertThat(same.body()).isEmpty();
        assertThat(cluster.get("/api/get/v", "If-None-Match", first).body()).isEqualTo(value(20));

        assertFailure(upsert("v", value(30), "If-Match", first), 412, StoreCode.INVALID_VERSION);
        assertFailure(
                upsert("v", value(30), "If-None-Match", "*"), 412, StoreCode.OBJECT_ALREADY_EXISTS);
        assertFailure(upsert("v", value(30), "If-Match", "x"), 400, StoreCode.INVALID_PARAMS);
        assertThat(upsert("v", value(30), "If-Match", second).statusCode()).isEqualTo(200);
        assertThat(cluster.get("/api/get/v").body()).isEqualTo(value(30));
    }

    /** Whoever was overtaken is told so, and may send again. */
    @Test
    void upserts_of_one_key_at_a_time_succeed_or_conflict() throws Exception {
        List<CompletableFuture<HttpResponse<byte[]>>> answers = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 64; i++) {
                byte[] value = value(200_000 + i);
                answers.add(
                        CompletableFuture.supplyAsync(
                                () -> {
                                    try {
                                        return upsert("race", value, "X-Nothing", "1");
                                    } catch (Exception e) {
                                        throw new CompletionException(e);
                                    }
                                },
                                threads));
            }
        }
        int stored = 0;
        for (CompletableFuture<HttpResponse<byte[]>> answer : answers) {
            HttpResponse<byte[]> response = answer.join();
            if (response.statusCode() == 200) {
                stored++;
            } else {
                assertFailure(response, 409, StoreCode.INVALID_WRITE);
            }
        }
        assertThat(stored).isPositive();
        byte[] last = cluster.get("/api/get/race").body();
        assertThat(last).isEqualTo(value(last.length));
    }

    private HttpResponse<byte[]> upsert(String key, byte[] value, String... headers)
            throws Exception {
        return cluster.send(
                cluster.request("/api/upsert/" + key)
                        .headers(headers)
                        .PUT(BodyPublishers.ofByteArray(value)));
    }

    private String tag(String path) throws Exception {
        return cluster.send(cluster.request(path).HEAD()).headers().firstValue("ETag").orElse("");
    }

    @Test
    void pins_and_replicas_are_taken_from_the_query() throws Exception {
        assertThat(
                        cluster.put("/api/put/pinned?hard_pin&soft_pin=30s&replicas=1", value(10))
                                .statusCode())
                .isEqualTo(200);
        for (String bad : new String[] {"replicas=0", "replicas=x", "soft_pin=x"}) {
            assertFailure(
                    cluster.put("/api/put/bad?" + bad, value(10)), 400, StoreCode.INVALID_PARAMS);
        }
        assertThat(text(cluster.get("/api/exist/bad"))).isEqualTo("{\"exists\":false}");
    }

    @Test
    void the_longest_prefix_is_counted() throws Exception {
        assertThat(cluster.put("/api/put/p1", value(10)).statusCode()).isEqualTo(200);
        assertThat(cluster.put("/api/put/p2", value(10)).statusCode()).isEqualTo(200);
        assertThat(cluster.put("/api/put/p4", value(10)).statusCode()).isEqualTo(200);
        HttpResponse<byte[]> prefix =
                cluster.post("/api/longest_prefix", "{\"keys\":[\"p1\",\"p2\",\"p3\",\"p4\"]}");
        assertThat(text(prefix)).isEqualTo("{\"length\":2}");
    }

    @Test
    void memory_is_lent_and_taken_back() throws Exception {
        HttpResponse<byte[]> mounted = cluster.post("/api/mount", "{\"size\": 1}");
        assertThat(mounted.statusCode()).as(text(mounted)).isEqualTo(200);
        assertThat(json(mounted).get("allocated_size").asLong()).isEqualTo(16 << 20);
        String id = json(mounted).get("segment_ids").get(0).asString();
        assertThat(cluster.client.stats().orThrow().segments()).hasSize(2);

        assertThat(text(cluster.post("/api/unmount", "{\"segment_ids\": [\"" + id + "\"]}")))
                .isEqualTo("{\"status\":\"success\"}");
        assertThat(cluster.client.stats().orThrow().segments()).hasSize(1);
        HttpResponse<byte[]> again =
                cluster.post("/api/unmount", "{\"segment_ids\": \"" + id + "\"}");
        assertFailure(again, 404, StoreCode.SEGMENT_NOT_FOUND);
        assertThat(json(again).get("failed_segment_ids").get(0).asString()).isEqualTo(id);

        for (String bad : new String[] {"{}", "{\"size\":0}", "{\"size\":\"x\"}"}) {
            assertFailure(cluster.post("/api/mount", bad), 400, StoreCode.INVALID_PARAMS);
        }
        for (String bad :
                new String[] {
                    "{}",
                    "{\"segment_ids\":[1]}",
                    "{\"segment_ids\":\"a\",\"grace_period_seconds\":-1}"
                }) {
            assertFailure(cluster.post("/api/unmount", bad), 400, StoreCode.INVALID_PARAMS);
        }
        assertFailure(
                cluster.post("/api/unmount_local_disk", "{\"grace_period_seconds\":3601}"),
                400,
                StoreCode.INVALID_PARAMS);
        assertFailure(
                cluster.post("/api/unmount_local_disk", "{}"),
                409,
                StoreCode.UNAVAILABLE_IN_CURRENT_MODE);
    }

    /** A file of somebody else in shared memory, that its test deletes. */
    private static Path sharedFile(int length) throws IOException {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "rest", ".kv");
        return Files.write(file, new byte[length]);
    }

    private static String shm(Path file, long offset, long size) {
        return "{\"name\":\"%s\",\"size\":%d,\"offset\":%d,\"protocol\":\"tcp\",\"location\":\"\"}"
                .formatted(file.getFileName(), size, offset);
    }

    private static String decode(Path file, long offset, long size) {
        return "{\"mode\":\"decode\",\"path\":\"%s\",\"size\":%d,\"offset\":%d}"
                .formatted(file, size, offset);
    }

    private static List<String> ids(HttpResponse<byte[]> response) {
        assertThat(response.statusCode()).as(text(response)).isEqualTo(200);
        List<String> ids = new ArrayList<>();
        json(response).get("segment_ids").forEach(id -> ids.add(id.stringValue()));
        return ids;
    }

    private int segments() {
        return cluster.client.stats().orThrow().segments().size();
    }

    @Test
    void a_file_in_shared_memory_is_lent_and_taken_back() throws Exception {
        Path file = sharedFile(2 << 20);
        try {
            List<String> ids = ids(cluster.post("/api/mount_shm", shm(file, 1 << 20, 1 << 20)));
            assertThat(ids).hasSize(1);
            assertThat(segments()).isEqualTo(2);
            assertFailure(
                    cluster.post("/api/mount_shm", shm(file, 0, 2 << 20)),
                    409,
                    StoreCode.SEGMENT_ALREADY_EXISTS);
            List<String> rest = ids(cluster.post("/api/mount_shm", shm(file, 0, 1 << 20)));
            String both =
                    "{\"segment_ids\":[\"%s\",\"%s\"],\"grace_period_seconds\":0}"
                            .formatted(ids.getFirst(), rest.getFirst());
            assertThat(text(cluster.post("/api/unmount_shm", both)))
                    .isEqualTo("{\"status\":\"success\"}");
            HttpResponse<byte[]> again = cluster.post("/api/unmount_shm", both);
            assertFailure(again, 404, StoreCode.SEGMENT_NOT_FOUND);
            assertThat(json(again).get("failed_segment_ids")).hasSize(2);
            assertThat(segments()).isEqualTo(1);
            assertThat(Files.size(file)).isEqualTo(2 << 20);
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void files_that_may_not_be_lent_are_400() throws Exception {
        Path file = sharedFile(1 << 20);
        Path link = file.resolveSibling(file.getFileName() + ".link");
        try {
            Files.createSymbolicLink(link, file);
            for (String bad :
                    new String[] {
                        "{}",
                        "[]",
                        "{\"name\":\"\",\"size\":1}",
                        "{\"name\":7,\"size\":1}",
                        "{\"name\":\"..\",\"size\":1}",
                        "{\"name\":\"a/b\",\"size\":1}",
                        "{\"name\":\"/dev/shm/x\",\"size\":1}",
                        "{\"name\":\"a\\u0000b\",\"size\":1}",
                        "{\"name\":\"no such file\",\"size\":1}",
                        "{\"name\":\"" + file.getFileName() + "\"}",
                        "{\"name\":\"" + file.getFileName() + "\",\"size\":1.5}",
                        "{\"name\":\"" + file.getFileName() + "\",\"size\":36893488147419103232}",
                        shm(link, 0, 1 << 20),
                        shm(file, 0, 0),
                        shm(file, 0, -1),
                        shm(file, -4096, 4096),
                        shm(file, 1, 4096),
                        shm(file, 0, (1 << 20) + 1),
                        shm(file, 1 << 20, 4096),
                        shm(file, 4096, Long.MAX_VALUE)
                    }) {
                assertFailure(cluster.post("/api/mount_shm", bad), 400, StoreCode.INVALID_PARAMS);
            }
            for (String bad :
                    new String[] {
                        "{}",
                        "{\"mode\":\"both\"}",
                        "{\"mode\":\"decode\"}",
                        "{\"mode\":\"decode\",\"path\":\"" + file + "\"}",
                        decode(file.getFileName(), 0, 4096),
                        decode(Path.of("/etc/hostname"), 0, 1),
                        decode(Path.of("/dev/shm/../../etc/hostname"), 0, 1),
                        decode(Path.of("/dev/shm"), 0, 1),
                        decode(link, 0, 4096)
                    }) {
                assertFailure(cluster.post("/api/reconfigure", bad), 400, StoreCode.INVALID_PARAMS);
            }
            assertThat(segments()).isEqualTo(1);
        } finally {
            Files.deleteIfExists(link);
            Files.delete(file);
        }
    }

    @Test
    void decode_lends_a_file_and_prefill_takes_it_back() throws Exception {
        Path first = sharedFile(2 << 20);
        Path second = sharedFile(1 << 20);
        try {
            assertThat(text(cluster.post("/api/reconfigure", "{\"mode\":\"prefill\"}")))
                    .isEqualTo("{\"status\":\"success\",\"mode\":\"prefill\",\"segment_ids\":[]}");

            HttpResponse<byte[]> lent = cluster.post("/api/reconfigure", decode(first, 0, 2 << 20));
            List<String> ids = ids(lent);
            assertThat(json(lent).get("mode").asString()).isEqualTo("decode");
            assertThat(ids(cluster.post("/api/reconfigure", decode(first, 0, 2 << 20))))
                    .as("once more it is as it was")
                    .isEqualTo(ids);
            assertFailure(
                    cluster.post("/api/reconfigure", decode(first, 0, 1 << 20)),
                    409,
                    StoreCode.SEGMENT_ALREADY_EXISTS);
            assertFailure(
                    cluster.post("/api/reconfigure", decode(second, 0, 2 << 20)),
                    400,
                    StoreCode.INVALID_PARAMS);
            assertThat(segments()).as("a failure keeps what there was").isEqualTo(2);

            List<String> others = ids(cluster.post("/api/reconfigure", decode(second, 0, 1 << 20)));
            assertThat(others).isNotEqualTo(ids);
            assertThat(segments()).isEqualTo(2);

            assertThat(ids(cluster.post("/api/reconfigure", "{\"mode\":\"prefill\"}"))).isEmpty();
            assertThat(segments()).isEqualTo(1);
            assertThat(ids(cluster.post("/api/reconfigure", decode(first, 1 << 20, 1 << 20))))
                    .hasSize(1);
            String id =
                    ids(cluster.post("/api/reconfigure", decode(first, 1 << 20, 1 << 20)))
                            .getFirst();
            assertThat(text(cluster.post("/api/unmount_shm", "{\"segment_ids\":\"" + id + "\"}")))
                    .isEqualTo("{\"status\":\"success\"}");
            assertThat(ids(cluster.post("/api/reconfigure", decode(first, 1 << 20, 1 << 20))))
                    .as("what was taken back is lent anew")
                    .hasSize(1)
                    .doesNotContain(id);
            assertThat(ids(cluster.post("/api/reconfigure", "{\"mode\":\"prefill\"}"))).isEmpty();
        } finally {
            Files.delete(first);
            Files.delete(second);
        }
    }

    @Test
    void other_paths_and_methods_say_so() throws Exception {
        assertFailure(cluster.get("/api/unknown"), 404, StoreCode.INVALID_PARAMS);
        assertFailure(cluster.get("/"), 404, StoreCode.INVALID_PARAMS);
        HttpResponse<byte[]> wrong = cluster.get("/api/put/k");
        assertFailure(wrong, 405, StoreCode.INVALID_PARAMS);
        assertThat(wrong.headers().firstValue("Allow")).contains("PUT");
    }

    @Test
    void metrics_tell_what_was_done() throws Exception {
        assertThat(cluster.put("/api/put/counted", value(12)).statusCode()).isEqualTo(200);
        assertThat(cluster.get("/api/get/counted").statusCode()).isEqualTo(200);
        assertThat(text(cluster.get("/metrics")))
                .contains("cassia_rest_requests")
                .contains("cassia_rest_sent_bytes")
                .contains("cassia_rest_buffer_used_bytes");
        assertThat(text(cluster.get("/metrics/summary"))).contains("received_bytes=");
        assertThat(json(cluster.get("/health")).get("status").asString()).isEqualTo("healthy");
        assertThat(
                        cluster.meters
                                .get("cassia_rest_requests")
                                .tags("operation", "get", "status", "200")
                                .timer()
                                .count())
                .isPositive();
    }
}
