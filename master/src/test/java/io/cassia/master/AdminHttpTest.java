package io.cassia.master;

import static io.cassia.master.TestMaster.A;
import static io.cassia.master.TestMaster.B;
import static io.cassia.master.TestMaster.MIB;
import static io.cassia.master.TestMaster.json;
import static io.cassia.master.TestMaster.segment;
import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.rpc.cassia.CassiaMessages.SetTenantQuota;
import io.cassia.rpc.cassia.CassiaMethods;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.status.CodeInfo;
import io.cassia.status.Language;
import io.cassia.status.StoreCode;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The admin endpoints over real sockets (spec mooncake-store 12.1). */
class AdminHttpTest {
    private static void assertFailure(
            HttpResponse<String> response, int status, StoreCode code, String said) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        JsonNode body = json(response);
        CodeInfo info = CodeInfo.of(code, Language.EN);
        assertThat(body.get("success").asBoolean()).isFalse();
        assertThat(body.get("error_code").asInt()).isEqualTo(code.number());
        assertThat(body.get("error_message").asString()).startsWith(code.name()).contains(said);
        assertThat(body.get("name").asString()).isEqualTo(code.name());
        assertThat(body.get("message").asString()).isEqualTo(info.summary());
        assertThat(body.get("remedy").asString()).isEqualTo(info.remedy());
        assertThat(body.get("retryable").isBoolean()).isTrue();
    }

    @Test
    void failures_have_upstreams_members_and_what_helps() throws Exception {
        try (TestMaster master = TestMaster.start()) {
            assertFailure(master.get("/query_key?key=x"), 404, StoreCode.OBJECT_NOT_FOUND, "x");
            assertFailure(
                    master.get("/query_segment?segment=s"), 500, StoreCode.SEGMENT_NOT_FOUND, "s");
            assertFailure(
                    master.get("/api/v1/segments/status?segment=s"),
                    404,
                    StoreCode.SEGMENT_NOT_FOUND,
                    "s");
            assertFailure(
                    master.get("/api/v1/segments/status"),
                    400,
                    StoreCode.INVALID_PARAMS,
                    "segment is missing");
            assertFailure(master.get("/explain"), 400, StoreCode.INVALID_PARAMS, "key");
            assertFailure(master.get("/nothing"), 404, StoreCode.INVALID_PARAMS, "/health/live");
            HttpResponse<String> wrong = master.get("/api/v1/remove_all");
            assertFailure(wrong, 405, StoreCode.INVALID_PARAMS, "use POST");
            assertThat(wrong.headers().firstValue("Allow")).contains("POST");
            assertFailure(
                    master.http("POST", "/api/v1/longest_prefix", "x".repeat((16 << 20) + 1)),
                    413,
                    StoreCode.INVALID_PARAMS,
                    "at most");
            assertThat(
                            master.meters()
                                    .get("cassia.admin.refused")
                                    .tag("reason", "unknown_path")
                                    .counter()
                                    .count())
                    .isEqualTo(1);
        }
    }

    @Test
    void segments_are_described_with_upstreams_members() throws Exception {
        try (TestMaster master = TestMaster.start().mounted()) {
            JsonNode detail = json(master.get("/get_segments_detail"));
            assertThat(detail.get("total_segments").asInt()).isEqualTo(1);
            assertThat(detail.at("/segments/0").toString())
                    .isEqualTo(
                            "{\"segment_name\":\"node-a:1\",\"segment_id\":\"11-11\","
                                    + "\"client_id\":\"1-2\",\"base_address\":\"0xb0000000000\","
                                    + "\"size_bytes\":16777216,\"size_human\":\"0.02 GiB\","
                                    + "\"te_endpoint\":\"node-a:1\",\"protocol\":\"tcp\","
                                    + "\"status\":\"OK\",\"allocator_used_bytes\":0,"
                                    + "\"allocator_capacity_bytes\":16777216,"
                                    + "\"allocator_usage_percent\":0.0}");
        }
    }

    @Test
    void liveness_and_readiness_are_asked_apart() throws Exception {
        try (TestMaster master = TestMaster.start()) {
            for (String path : List.of("/health/live", "/livez", "/health/ready", "/readyz")) {
                assertThat(master.get(path).statusCode()).as(path).isEqualTo(200);
                assertThat(json(master.get(path)).get("status").asString()).isEqualTo("ok");
            }
            assertThat(json(master.get("/health")).get("service_ready").asBoolean()).isTrue();
            assertThat(master.get("/metrics/summary").body())
                    .startsWith("role=leader, state=serving, service_ready=true, master={")
                    .contains("keys=0")
                    .endsWith("ha={}\n");
            assertThat(master.get("/kv_events/status").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void the_longest_prefix_is_told_and_leased() throws Exception {
        try (TestMaster master = TestMaster.start().mounted()) {
            master.put("a", 10);
            master.put("b", 10);
            master.put("d", 10);
            String body = "{\"keys\": [\"a\", \"b\", \"c\", \"d\"], \"with_replicas\": true}";
            JsonNode hit = json(master.http("POST", "/api/v1/longest_prefix", body));
            assertThat(hit.get("count").asInt()).isEqualTo(2);
            assertThat(hit.get("lease_ttl_ms").asLong()).isEqualTo(10_000);
            assertThat(hit.get("objects").size()).isEqualTo(2);
            assertThat(hit.at("/objects/1/0/size_").asInt()).isEqualTo(10);
            ByteString tenant = ByteString.of("default");
            assertThat(
                            master.call(
                                            MasterMethods.REMOVE,
                                            new Args.Remove(ByteString.of("b"), false, tenant))
                                    .toString())
                    .contains("OBJECT_HAS_LEASE");
            master.ok(MasterMethods.REMOVE, new Args.Remove(ByteString.of("d"), false, tenant));
            for (String bad :
                    List.of("", "[]", "{\"keys\": 1}", "{\"keys\": [1]}", "{\"keys\": []}", "{")) {
                HttpResponse<String> refused = master.http("POST", "/api/v1/longest_prefix", bad);
                assertThat(refused.statusCode()).as(bad).isEqualTo(400);
            }
        }
    }

    @Test
    void a_missing_key_is_explained() throws Exception {
        try (TestMaster master = TestMaster.start().mounted()) {
            assertThat(json(master.get("/explain?key=k")).get("state").asString())
                    .contains("absent");
            master.put("k", 10);
            JsonNode there = json(master.get("/explain?key=k"));
            assertThat(there.get("readable").asBoolean()).isTrue();
            assertThat(there.get("decisions").size()).isZero();
            master.ok(
                    MasterMethods.REMOVE,
                    new Args.Remove(ByteString.of("k"), true, ByteString.of("default")));
            JsonNode gone = json(master.get("/explain?key=k"));
            assertThat(gone.get("readable").asBoolean()).isFalse();
            assertThat(gone.at("/decisions/0/what").asString()).isEqualTo("removed");
            assertThat(gone.at("/decisions/0/size").asInt()).isEqualTo(10);
        }
    }

    @Test
    void a_drain_job_is_made_asked_for_and_cancelled() throws Exception {
        try (TestMaster master = TestMaster.start()) {
            master.mount(A, segment(11, "a:1", MIB));
            master.mount(B, segment(12, "b:1", MIB));
            master.put("k", 10);
            JsonNode made =
                    json(
                            master.http(
                                    "POST",
                                    "/api/v1/drain_jobs",
                                    "{\"segments\": [\"a:1\", \"b:1\"]}"));
            assertThat(made.get("success").asBoolean()).as(made.toString()).isTrue();
            assertThat(made.get("status").asString()).isEqualTo("CREATED");
            String id = made.get("job_id").asString();
            JsonNode job = json(master.get("/api/v1/drain_jobs/query?job_id=" + id));
            assertThat(job.get("type_name").asString()).isEqualTo("DRAIN");
            assertThat(job.get("max_concurrency").asInt()).isEqualTo(4);
            assertThat(job.get("segments").toString()).isEqualTo("[\"a:1\",\"b:1\"]");
            assertThat(job.get("status_name").asString()).isIn("CREATED", "RUNNING");
            assertThat(
                            json(master.get("/api/v1/segments/status?segment=a:1"))
                                    .get("status_name")
                                    .asString())
                    .isEqualTo("DRAINING");
            JsonNode cancelled =
                    json(master.http("POST", "/api/v1/drain_jobs/cancel?job_id=" + id, ""));
            assertThat(cancelled.get("status").asString()).isEqualTo("CANCELED");
            assertFailure(
                    master.http("POST", "/api/v1/drain_jobs/cancel?job_id=" + id, ""),
                    409,
                    StoreCode.UNAVAILABLE_IN_CURRENT_STATUS,
                    id);
        }
    }

    @Test
    void drain_jobs_that_cannot_be_are_refused() throws Exception {
        try (TestMaster master = TestMaster.start().mounted()) {
            String path = "/api/v1/drain_jobs";
            assertFailure(
                    master.http("POST", path, "nonsense"), 400, StoreCode.INVALID_PARAMS, "JSON");
            assertFailure(
                    master.http("POST", path, "{\"segments\": []}"),
                    400,
                    StoreCode.INVALID_PARAMS,
                    "segment");
            assertFailure(
                    master.http("POST", path, "{\"segments\": [\"none\"]}"),
                    404,
                    StoreCode.SEGMENT_NOT_FOUND,
                    "none");
            assertFailure(
                    master.get(path + "/query?job_id=1-2"), 404, StoreCode.JOB_NOT_FOUND, "1-2");
            assertFailure(master.get(path + "/query?job_id=x"), 400, StoreCode.INVALID_PARAMS, "x");
            assertFailure(
                    master.http("POST", path + "/cancel?job_id=1-2", ""),
                    404,
                    StoreCode.JOB_NOT_FOUND,
                    "1-2");
        }
    }

    @Test
    void quotas_of_tenants_are_set_listed_kept_in_the_file_and_deleted(@TempDir Path folder)
            throws Exception {
        Path file = Files.writeString(folder.resolve("t.yaml"), "version: 1\ntenants: []\n");
        MasterConfig.Builder config =
                TestMaster.config().enableMultiTenants(true).tenantFile(Optional.of(file));
        try (TestMaster master = TestMaster.start(config).mounted()) {
            String path = "/api/v1/tenant_quotas";
            String one = path + "?tenant_id=team-a";
            assertFailure(master.get(one), 404, StoreCode.OBJECT_NOT_FOUND, "team-a");
            JsonNode set = json(master.http("PUT", one, "{\"requested_quota_bytes\": 1048576}"));
            assertThat(set.at("/data/requested_quota_bytes").asLong()).isEqualTo(MIB);
            assertThat(set.at("/data/has_explicit_policy").asBoolean()).isTrue();
            assertThat(Files.readString(file)).contains("team-a").contains("1048576");
            assertThat(json(master.get(path)).get("data").size()).isEqualTo(1);
            master.put("k", 10, io.cassia.rpc.mooncake.ReplicateConfig.DEFAULT, "team-a");
            assertThat(json(master.get(one)).at("/data/charged_bytes").asInt()).isEqualTo(10);
            assertFailure(
                    master.http("DELETE", one, ""), 409, StoreCode.TENANT_NOT_EMPTY, "team-a");
            assertThat(
                            json(master.http(
                                            "POST",
                                            "/api/v1/remove_all?force=true&tenant_id=team-a",
                                            ""))
                                    .get("removed_count")
                                    .asInt())
                    .isEqualTo(1);
            assertThat(master.http("DELETE", one, "").statusCode()).isEqualTo(200);
            assertThat(Files.readString(file)).doesNotContain("team-a");
            for (String bad : List.of("{}", "{\"requested_quota_bytes\": 0}", "1", "")) {
                assertFailure(master.http("PUT", one, bad), 400, StoreCode.INVALID_PARAMS, "");
            }
            assertFailure(
                    master.http("PUT", path, "{\"requested_quota_bytes\": 1}"),
                    400,
                    StoreCode.INVALID_PARAMS,
                    "tenant_id");
        }
    }

    @Test
    void a_policy_that_cannot_be_saved_is_a_500(@TempDir Path folder) throws Exception {
        Path gone = Files.createDirectory(folder.resolve("gone"));
        Path file = Files.writeString(gone.resolve("t.yaml"), "version: 1\ntenants: []\n");
        MasterConfig.Builder config =
                TestMaster.config().enableMultiTenants(true).tenantFile(Optional.of(file));
        try (TestMaster master = TestMaster.start(config)) {
            Files.delete(file);
            Files.delete(gone);
            assertFailure(
                    master.http(
                            "PUT",
                            "/api/v1/tenant_quotas?tenant_id=t",
                            "{\"requested_quota_bytes\": 1}"),
                    500,
                    StoreCode.PERSISTENT_FAIL,
                    "t.yaml");
            assertFailure(
                    master.get("/api/v1/tenant_quotas?tenant_id=t"),
                    404,
                    StoreCode.OBJECT_NOT_FOUND,
                    "t");
        }
    }

    /** Both hold a lock of their own and want the other's, if the order is wrong. */
    @Test
    @Timeout(60)
    void quotas_are_set_by_http_and_by_rpc_at_the_same_time(@TempDir Path directory)
            throws Exception {
        Path file = directory.resolve("t.yaml");
        Files.writeString(file, "version: 1\ntenants: []\n");
        MasterConfig.Builder config =
                TestMaster.config().enableMultiTenants(true).tenantFile(Optional.of(file));
        try (TestMaster master = TestMaster.start(config).mounted();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            Future<?> byRpc =
                    other.submit(
                            () -> {
                                for (int i = 1; i <= 100; i++) {
                                    master.ok(
                                            CassiaMethods.SET_TENANT_QUOTA,
                                            new SetTenantQuota(ByteString.of("r"), i));
                                }
                            });
            for (int i = 1; i <= 100; i++) {
                JsonNode set =
                        json(
                                master.http(
                                        "PUT",
                                        "/api/v1/tenant_quotas?tenant_id=h",
                                        "{\"requested_quota_bytes\": " + i + "}"));
                assertThat(set.at("/data/requested_quota_bytes").asInt()).isEqualTo(i);
            }
            byRpc.get();
            assertThat(Files.readString(file)).contains("quota: 100\n  - name: \"r\"");
        }
    }

    @Test
    void without_tenants_their_quotas_are_a_conflict() throws Exception {
        try (TestMaster master = TestMaster.start()) {
            assertFailure(
                    master.get("/api/v1/tenant_quotas"),
                    409,
                    StoreCode.UNAVAILABLE_IN_CURRENT_MODE,
                    "enable_multi_tenants");
        }
    }

    @Test
    void too_many_keys_in_one_request_are_refused() throws Exception {
        try (TestMaster master = TestMaster.start()) {
            List<String> keys = new ArrayList<>();
            for (int i = 0; i < 100_001; i++) {
                keys.add("\"k\"");
            }
            HttpResponse<String> refused =
                    master.http(
                            "POST",
                            "/api/v1/longest_prefix",
                            "{\"keys\":[" + String.join(",", keys) + "]}");
            assertFailure(refused, 400, StoreCode.INVALID_PARAMS, "100001 keys");
        }
    }
}
