package io.cassia.lab.codes;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.master.Master;
import io.cassia.master.MasterConfig;
import io.cassia.rpc.RpcClient;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicaType;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Codes of the master as operators get them: over HTTP, with upstream's statuses. */
class AdminCodesTest {
    private static final Uuid OWNER = new Uuid(1, 2);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final String QUOTAS = "/api/v1/tenant_quotas";
    private static final String DRAINS = "/api/v1/drain_jobs";

    @TempDir private Path folder = Path.of("");
    private final HttpClient http = HttpClient.newHttpClient();
    private Master master = start(MasterConfig.builder());

    private static Master start(MasterConfig.Builder config) {
        return Master.start(
                        config.rpc("127.0.0.1", 0).http("127.0.0.1", 0).build(),
                        Clock.system(),
                        new SimpleMeterRegistry())
                .orThrow();
    }

    private void restart(MasterConfig.Builder config) {
        master.close();
        master = start(config);
    }

    @AfterEach
    void stop() {
        master.close();
    }

    private HttpResponse<String> send(String method, String path, String body) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + master.httpPort() + path);
        return http.send(
                HttpRequest.newBuilder(uri)
                        .method(method, HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static JsonNode json(HttpResponse<String> response) {
        return JsonMapper.shared().readTree(response.body());
    }

    private static void expect(
            Coverage coverage, HttpResponse<String> response, int status, StoreCode code) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        JsonNode body = json(response);
        Code actual = StoreCode.fromInt(body.get("error_code").asInt());
        assertThat(body.get("name").asString()).isEqualTo(actual.name());
        assertThat(body.get("remedy").asString()).isNotBlank();
        coverage.expect(actual, body.get("detail").asString(), code);
    }

    private static void expectOk(Coverage coverage, HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(json(response).get("success").asBoolean()).isTrue();
        coverage.expect(StoreCode.OK, "", StoreCode.OK);
    }

    /** Two segments, and an object in the first of them. */
    private void mount(String tenant) throws IOException {
        try (RpcClient client =
                RpcClient.builder("127.0.0.1", master.rpcPort(), new SimpleMeterRegistry())
                        .build()) {
            Segment first = new Segment(new Uuid(1, 1), "a:1", 1 << 20, 1 << 20, "a:1", "tcp", "");
            Segment other = new Segment(new Uuid(2, 2), "b:1", 1 << 20, 1 << 20, "b:1", "tcp", "");
            client.callExpected(
                            MasterMethods.REMOUNT_SEGMENT,
                            new Args.ReMountSegment(List.of(first, other), OWNER),
                            TIMEOUT)
                    .orThrow();
            ByteString key = ByteString.of("k");
            ByteString space = ByteString.of(tenant);
            client.callExpected(
                            MasterMethods.PUT_START,
                            new Args.PutStart(OWNER, key, 10, ReplicateConfig.DEFAULT, space),
                            TIMEOUT)
                    .orThrow();
            client.callExpected(
                            MasterMethods.PUT_END,
                            new Args.PutEnd(
                                    OWNER,
                                    new ObjectMeta(key, OptionalLong.empty()),
                                    ReplicaType.ALL.number(),
                                    space),
                            TIMEOUT)
                    .orThrow();
        }
    }

    @Test
    @Covers(
            store = {StoreCode.OBJECT_NOT_FOUND, StoreCode.OK},
            scenario = "An operator asks over HTTP where an absent key is.")
    void absent_key(Coverage coverage) throws Exception {
        mount("default");
        expectOk(coverage, send("GET", "/query_key?key=k", ""));
        expect(coverage, send("GET", "/query_key?key=none", ""), 404, StoreCode.OBJECT_NOT_FOUND);
    }

    @Test
    @Covers(
            store = {StoreCode.SEGMENT_NOT_FOUND, StoreCode.OK},
            scenario = "An operator asks over HTTP for the state of a segment that is not there.")
    void absent_segment(Coverage coverage) throws Exception {
        mount("default");
        String path = "/api/v1/segments/status?segment=";
        expectOk(coverage, send("GET", path + "a:1", ""));
        expect(coverage, send("GET", path + "none", ""), 404, StoreCode.SEGMENT_NOT_FOUND);
        expect(
                coverage,
                send("POST", DRAINS, "{\"segments\":[\"none\"]}"),
                404,
                StoreCode.SEGMENT_NOT_FOUND);
    }

    @Test
    @Covers(
            store = StoreCode.INVALID_PARAMS,
            scenario =
                    "An operator's HTTP request lacks a parameter, is no JSON, or asks for nothing.")
    void wrong_requests(Coverage coverage) throws Exception {
        for (String body : List.of("", "[]", "{\"segments\":[]}", "{\"segments\":[\"a\",\"a\"]}")) {
            expect(coverage, send("POST", DRAINS, body), 400, StoreCode.INVALID_PARAMS);
        }
        expect(coverage, send("GET", "/api/v1/segments/status", ""), 400, StoreCode.INVALID_PARAMS);
        expect(coverage, send("GET", "/explain", ""), 400, StoreCode.INVALID_PARAMS);
    }

    @Test
    @Covers(
            store = {
                StoreCode.JOB_NOT_FOUND,
                StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                StoreCode.OK
            },
            scenario =
                    "An operator asks for a drain job that never was, and drains segments twice.")
    void drain_jobs(Coverage coverage) throws Exception {
        mount("default");
        String wanted = "{\"segments\":[\"a:1\",\"b:1\"]}";
        HttpResponse<String> made = send("POST", DRAINS, wanted);
        expectOk(coverage, made);
        expect(
                coverage,
                send("POST", DRAINS, wanted),
                409,
                StoreCode.UNAVAILABLE_IN_CURRENT_STATUS);
        expect(
                coverage,
                send("GET", DRAINS + "/query?job_id=1-2", ""),
                404,
                StoreCode.JOB_NOT_FOUND);
        expect(
                coverage,
                send("POST", DRAINS + "/cancel?job_id=1-2", ""),
                404,
                StoreCode.JOB_NOT_FOUND);
    }

    @Test
    @Covers(
            store = {
                StoreCode.UNAVAILABLE_IN_CURRENT_MODE,
                StoreCode.TENANT_NOT_EMPTY,
                StoreCode.PERSISTENT_FAIL,
                StoreCode.OK
            },
            scenario =
                    "An operator manages quotas over HTTP: without tenants, of one with objects,"
                            + " and when the policy's directory is gone.")
    void quotas(Coverage coverage) throws Exception {
        expect(coverage, send("GET", QUOTAS, ""), 409, StoreCode.UNAVAILABLE_IN_CURRENT_MODE);
        Path directory = Files.createDirectory(folder.resolve("etc"));
        Path file = Files.writeString(directory.resolve("t.yaml"), "version: 1\ntenants: []\n");
        restart(MasterConfig.builder().enableMultiTenants(true).tenantFile(Optional.of(file)));
        String team = QUOTAS + "?tenant_id=team";
        expectOk(coverage, send("PUT", team, "{\"requested_quota_bytes\":1000}"));
        mount("team");
        expect(coverage, send("DELETE", team, ""), 409, StoreCode.TENANT_NOT_EMPTY);
        Files.delete(file);
        Files.delete(directory);
        expect(
                coverage,
                send("PUT", team, "{\"requested_quota_bytes\":2000}"),
                500,
                StoreCode.PERSISTENT_FAIL);
    }
}
