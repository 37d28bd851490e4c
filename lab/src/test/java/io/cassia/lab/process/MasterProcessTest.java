package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.store.PutOptions;
import io.cassia.store.StoreClient;
import java.lang.foreign.Arena;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A master as a process of its own: its file, its admin port, its scrape. */
class MasterProcessTest {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private static String get(String admin, String path) throws Exception {
        HttpResponse<String> response =
                HTTP.send(
                        HttpRequest.newBuilder(URI.create(admin + path)).build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    @Test
    void a_file_of_mooncakes_configures_it_and_prometheus_gets_mooncakes_names(@TempDir Path folder)
            throws Exception {
        Path file =
                Files.writeString(
                        folder.resolve("master.yaml"),
                        """
                        # as for mooncake_master
                        rpc_thread_num: 8
                        default_kv_lease_ttl: 700
                        eviction_high_watermark_ratio: 0.9
                        enable_ha: false
                        etcd_endpoints: ""
                        """);
        try (ProcessCluster cluster = ProcessCluster.start("--config_path=" + file);
                Arena arena = Arena.ofShared()) {
            cluster.node("16MiB");
            try (StoreClient client = cluster.client()) {
                client.put(ByteString.of("k"), arena.allocateFrom("a value"), PutOptions.DEFAULT)
                        .orThrow();
            }
            JsonNode addresses = cluster.addresses();
            String admin = addresses.get("admin").asString();
            assertThat(get(admin, "/readyz")).contains("ok");
            assertThat(get(admin, "/explain?key=k")).contains("readable");
            String metrics = get(admin, "/metrics");
            for (String line :
                    List.of(
                            "master_key_count 1.0",
                            "master_put_start_requests_total 1.0",
                            "master_value_size_bytes_bucket{le=\"1024.0\"} 1",
                            "# TYPE master_value_size_bytes histogram",
                            "# TYPE master_evicted_key_count gauge",
                            "master_active_clients 1.0")) {
                assertThat(metrics).contains(line);
            }
            assertThat(metrics).containsPattern("segment_allocated_bytes\\{segment=\"[^\"]+\"} 8");
            assertThat(cluster.master().stderrText())
                    .contains("note: rpc-thread-num has no effect");
        }
    }

    @Test
    void a_wrong_file_stops_the_start_with_one_line(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("m.yaml"), "evicton_ratio: 0.1\n");
        CassiaProcess.Ended ended = CassiaProcess.run("master", "--config", file.toString());
        assertThat(ended.exit()).isEqualTo(2);
        assertThat(ended.stderr()).contains("evicton_ratio").contains("eviction-ratio");
        assertThat(ended.stderr()).doesNotContain("\tat ");
    }
}
