package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.cassia.testkit.KeyFiles;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes whose data plane is secure, and those that do not belong to them. */
class SecureStoreProcessTest {
    private static final String TOKEN = "the token of this cluster";

    @TempDir private static Path keys;
    private static Path member = Path.of("");
    private static Path stranger = Path.of("");

    @TempDir private Path directory;
    private Path file = Path.of("");

    @BeforeEach
    void make() throws Exception {
        if (!Files.exists(keys.resolve("member.p12"))) {
            member = KeyFiles.make(keys, "member", "ip:127.0.0.1,dns:localhost");
            stranger = KeyFiles.make(keys, "stranger", "ip:127.0.0.1");
        }
        file = directory.resolve("value");
        byte[] value = new byte[300_000];
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) (i * 7 + i / 256);
        }
        Files.write(file, value);
    }

    private static Map<String, String> variables(Path keyStore, String token) {
        return Map.of(
                "CASSIA_KEY_STORE",
                keyStore.toString(),
                "CASSIA_STORE_PASSWORD",
                KeyFiles.PASSWORD,
                "CASSIA_CLUSTER_TOKEN",
                token);
    }

    private static CassiaProcess node(
            ProcessCluster cluster, Map<String, String> variables, String... more)
            throws Exception {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "node",
                                "--json",
                                "--master",
                                cluster.address(),
                                "--metadata",
                                StoreClientConfig.P2P,
                                "--segment",
                                "16MiB"));
        arguments.addAll(List.of(more));
        CassiaProcess node = CassiaProcess.launch(variables, arguments.toArray(String[]::new));
        node.ready();
        return node;
    }

    private static CassiaProcess.Ended run(
            ProcessCluster cluster, Map<String, String> variables, String command, String... more)
            throws Exception {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                command,
                                "--master",
                                cluster.address(),
                                "--metadata",
                                StoreClientConfig.P2P,
                                "--timeout",
                                "5s"));
        arguments.addAll(List.of(more));
        return CassiaProcess.run(variables, arguments.toArray(String[]::new));
    }

    private void assertStoresAndReads(ProcessCluster cluster, Map<String, String> secure)
            throws Exception {
        CassiaProcess.Ended put = run(cluster, secure, "put", "k", file.toString());
        assertThat(put.exit()).as(put.stderr()).isZero();
        Path copy = directory.resolve("copy");
        CassiaProcess.Ended got = run(cluster, secure, "get", "k", "-o", copy.toString());
        assertThat(got.exit()).as(got.stderr()).isZero();
        assertThat(Files.mismatch(file, copy)).isEqualTo(-1);
    }

    @Test
    void members_of_one_host_store_and_read() throws Exception {
        Map<String, String> secure = variables(member, TOKEN);
        try (ProcessCluster cluster = ProcessCluster.start();
                CassiaProcess node = node(cluster, secure)) {
            assertStoresAndReads(cluster, secure);
            assertThat(node.isAlive()).isTrue();
        }
    }

    @Test
    void members_store_and_read_over_tcp_and_others_are_refused() throws Exception {
        Map<String, String> secure = new TreeMap<>(variables(member, TOKEN));
        secure.put("MC_FORCE_TCP", "1");
        try (ProcessCluster cluster = ProcessCluster.start();
                CassiaProcess node = node(cluster, secure)) {
            assertStoresAndReads(cluster, secure);
            Map<String, Map<String, String>> others =
                    Map.of(
                            "plain", Map.of(),
                            "wrong token", variables(member, "the token of another"),
                            "unknown certificate", variables(stranger, TOKEN));
            for (Map.Entry<String, Map<String, String>> other : others.entrySet()) {
                assertRefused(other.getKey(), run(cluster, other.getValue(), "get", "k"));
            }
            assertRefused("put", run(cluster, Map.of(), "put", "p", file.toString()));
            assertThat(node.isAlive()).isTrue();
        }
    }

    private static void assertRefused(String who, CassiaProcess.Ended refused) {
        assertThat(refused.exit()).as(who + ": " + refused.stderr()).isEqualTo(5);
        assertThat(refused.stderr()).as(who).contains("TRANSFER_FAIL", "ERR_REJECT_HANDSHAKE");
        assertThat(refused.stdout()).as(who).isEmpty();
    }

    @Test
    void secure_client_speaks_to_no_plain_node() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start();
                CassiaProcess plain = node(cluster, Map.of())) {
            CassiaProcess.Ended put =
                    run(cluster, variables(member, TOKEN), "put", "k", file.toString());
            assertThat(put.exit()).isEqualTo(5);
            assertThat(put.stderr()).contains("TRANSFER_FAIL", "ERR_REJECT_HANDSHAKE");
            assertThat(plain.isAlive()).isTrue();
        }
    }

    @Test
    void secure_nodes_hand_over_their_objects_and_the_gateway_reads_them() throws Exception {
        Map<String, String> secure = variables(member, TOKEN);
        try (ProcessCluster cluster = ProcessCluster.start();
                CassiaProcess first = node(cluster, secure, "--drain", "20s")) {
            assertThat(run(cluster, secure, "put", "k", file.toString()).exit()).isZero();
            try (CassiaProcess second = node(cluster, secure);
                    CassiaProcess gateway =
                            CassiaProcess.launch(
                                    secure,
                                    "gateway",
                                    "--json",
                                    "--master",
                                    cluster.address(),
                                    "--metadata",
                                    StoreClientConfig.P2P,
                                    "--rest-port",
                                    "0");
                    HttpClient http = HttpClient.newHttpClient()) {
                assertThat(first.terminate()).isZero();
                String address = gateway.ready().get("addresses").get("rest").asString();
                HttpRequest get =
                        HttpRequest.newBuilder(URI.create(address + "/api/get/k")).build();
                assertThat(http.send(get, BodyHandlers.ofByteArray()).body())
                        .isEqualTo(Files.readAllBytes(file));
                HttpRequest put =
                        HttpRequest.newBuilder(URI.create(address + "/api/put/over-http"))
                                .PUT(BodyPublishers.ofFile(file))
                                .build();
                assertThat(http.send(put, BodyHandlers.discarding()).statusCode()).isEqualTo(200);
                assertThat(second.isAlive()).isTrue();
            }
        }
    }

    @Test
    void key_store_that_does_not_open_stops_the_start() throws Exception {
        try (ProcessCluster cluster = ProcessCluster.start()) {
            Map<String, String> wrong = new TreeMap<>(variables(member, TOKEN));
            wrong.put("CASSIA_STORE_PASSWORD", "not this one");
            CassiaProcess.Ended put = run(cluster, wrong, "put", "k", file.toString());
            assertThat(put.exit()).isNotZero();
            assertThat(put.stderr())
                    .contains("secure mode cannot use", "password")
                    .contains(member.toString())
                    .doesNotContain("not this one", TOKEN);
            try (StoreClient client = cluster.client()) {
                assertThat(client.stats().orThrow().objects()).isZero();
            }
        }
    }
}
