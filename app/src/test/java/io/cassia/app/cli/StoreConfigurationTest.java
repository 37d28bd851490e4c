package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.gateways.rest.RestAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What clients and nodes can be told, and by what. */
class StoreConfigurationTest {
    private static final String TOKEN = "a token of sixteen and more";

    @TempDir Path directory;
    private final FakeBackend backend = new FakeBackend();

    private String told(String... args) {
        CliRun run = CliRun.of(backend, args);
        assertThat(run.exit()).as(run.err()).isZero();
        return backend.configurations.toString();
    }

    @Test
    void every_setting_of_a_client_has_a_flag() {
        assertThat(
                        told(
                                "ls",
                                "--master=10.0.0.1:6000",
                                "--metadata=P2PHANDSHAKE",
                                "--local-host=10.0.0.9",
                                "--tenant=team",
                                "--timeout=7s",
                                "--retry-time=1s",
                                "--connect-timeout=250",
                                "--local-buffer=1MiB",
                                "--hot-cache=2GiB",
                                "--hot-block=4MiB",
                                "--crc64"))
                .contains(
                        "master=10.0.0.1:6000, metadata=P2PHANDSHAKE, localName=10.0.0.9,"
                                + " tenant=team, deadline=PT7S",
                        "localBufferBytes=1048576, hotCacheBytes=2147483648,"
                                + " hotBlockBytes=4194304, crc64=true",
                        "connectTimeout=PT0.25S, retryTime=PT1S",
                        "security=Plain");
    }

    @Test
    void mooncakes_variables_reach_clients_and_flags_win_over_them() {
        backend.variables.put("MC_STORE_LOCAL_HOT_CACHE_SIZE", "1073741824");
        backend.variables.put("MC_STORE_LOCAL_HOT_BLOCK_SIZE", "1048576");
        backend.variables.put("MOONCAKE_STORE_CHECKSUM", "true");
        backend.variables.put("MC_RPC_CONNECT_TIMEOUT_MS", "1500");
        backend.variables.put("CASSIA_MASTER", "10.0.0.1:6000");
        assertThat(told("gateway", "--hot-block", "2MiB"))
                .contains(
                        "master=10.0.0.1:6000",
                        "hotCacheBytes=1073741824, hotBlockBytes=2097152, crc64=true",
                        "connectTimeout=PT1.5S");
    }

    @Test
    void files_hold_settings_of_clients_and_of_nodes() throws IOException {
        Path client = directory.resolve("client.yaml");
        Files.writeString(client, "tenant: team\nlocal_buffer: 2MiB\n");
        Path node = directory.resolve("node.json");
        Files.writeString(node, "{\"segment\": \"3GiB\", \"longest_segment\": \"1GiB\"}");
        backend.variables.put("CASSIA_NODE_CONFIG", node.toString());
        assertThat(told("stat", "--config", client.toString()))
                .contains("tenant=team", "localBufferBytes=2097152");
        assertThat(told("node", "--drain", "5s"))
                .contains(
                        "segmentBytes=3221225472, longestSegmentBytes=1073741824, drainTime=PT5S");
    }

    @Test
    void members_of_a_secure_cluster_have_keys_and_a_token() throws IOException {
        Path keys = Files.writeString(directory.resolve("keys.p12"), "not read here");
        backend.variables.put("CASSIA_CLUSTER_TOKEN", TOKEN);
        backend.variables.put("CASSIA_STORE_PASSWORD", "secret");
        String secure = "security=Mutual[keyStore=%s, trustStore=%s".formatted(keys, keys);
        for (String command : new String[] {"ls", "node", "gateway"}) {
            backend.configurations.clear();
            assertThat(told(command, "--key-store", keys.toString()))
                    .contains(secure, "checksHost=true")
                    .doesNotContain("secret", TOKEN);
        }
        assertThat(told("ls", "--key-store", keys.toString(), "--verify-host=off"))
                .contains("checksHost=false");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ls --hot-cache=lots        | hot-cache=\"lots\"",
                "ls --hot-block=0           | hot-block=\"0\"",
                "ls --local-buffer=1        | local-buffer=\"1\"",
                "ls --timeout=0             | timeout=\"0\"",
                "ls --crc64=perhaps         | crc64=\"perhaps\"",
                "node --segment=0           | segment=\"0\"",
                "node --longest-segment=1KB | longest-segment=\"1KB\"",
                "node --drain=soon          | drain=\"soon\"",
                "ls --trust-store=x.p12     | trust-store needs key-store",
                "node --key-store=none.p12  | cannot read none.p12",
            })
    void bad_values_are_named_and_nothing_runs(String command, String named) {
        CliRun run = CliRun.of(backend, command.split(" ", -1));
        assertThat(run.exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run.err()).contains("INVALID_PARAMS", named);
        assertThat(backend.configurations).isEmpty();
    }

    @Test
    void short_token_and_misspelt_variable_stop_the_start() throws IOException {
        Path keys = Files.writeString(directory.resolve("keys.p12"), "");
        CliRun run = CliRun.of(backend, "node", "--key-store", keys.toString());
        assertThat(run.exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run.err()).contains("CASSIA_CLUSTER_TOKEN", "16 characters");
        backend.variables.put("CASSIA_SEGMNT", "1GiB");
        assertThat(CliRun.of(backend, "node").err()).contains("the nearest is CASSIA_SEGMENT");
    }

    @Test
    void rest_service_gets_its_key_from_a_flag_and_its_secrets_from_variables() {
        backend.variables.put("CASSIA_REST_PASSWORD", "secret");
        backend.variables.put("CASSIA_REST_TOKEN", TOKEN);
        assertThat(told("gateway", "--rest-key-store=rest.p12")).contains("security=Plain");
        assertThat(backend.rest.access())
                .isEqualTo(new RestAccess(Optional.of(Path.of("rest.p12")), "secret", TOKEN));
        assertThat(backend.log.toString()).doesNotContain("secret", TOKEN);
        backend.variables.put("CASSIA_REST_TOKEN", "short");
        CliRun run = CliRun.of(backend, "gateway");
        assertThat(run.exit()).isEqualTo(ExitCodes.USAGE);
        assertThat(run.err()).contains("INVALID_PARAMS", "CASSIA_REST_TOKEN", "16 characters");
    }

    @Test
    void what_is_in_force_can_be_printed_and_given_back() throws IOException {
        backend.variables.put("CASSIA_SEGMENT", "3MiB");
        backend.variables.put("CASSIA_CLUSTER_TOKEN", TOKEN);
        CliRun run = CliRun.of(backend, "node", "--drain=5s", "--print-config");
        assertThat(run.exit()).isZero();
        assertThat(run.out())
                .containsPattern("segment: 3MiB +# .*environment")
                .containsPattern("drain: 5s +# .*flag")
                .doesNotContain(TOKEN);
        assertThat(backend.configurations).isEmpty();
        backend.variables.clear();
        Path file = Files.writeString(directory.resolve("node.yaml"), run.out());
        assertThat(told("node", "--config", file.toString()))
                .contains("segmentBytes=3145728", "drainTime=PT5S");
        assertThat(CliRun.of(backend, "gateway", "--hot-cache=1GiB", "--print-config").out())
                .contains("hot-cache: 1GiB");
        assertThat(CliRun.of(backend, "node", "--drain=soon", "--print-config").exit())
                .isEqualTo(ExitCodes.USAGE);
    }

    @Test
    void secrets_are_no_flags() {
        assertThat(CliRun.of(backend, "ls", "--cluster-token=" + TOKEN).exit())
                .isEqualTo(ExitCodes.USAGE);
        assertThat(CliRun.of(backend, "ls", "--help").out())
                .contains("--hot-cache", "--master-server-address=HOST:PORT", "$CASSIA_MASTER")
                .doesNotContain("--cluster-token", "--store-password");
    }

    @Test
    void whole_cluster_in_a_process_takes_them_too() {
        assertThat(told("up", "--memory=3MiB", "--longest-segment=1MiB", "--hot-cache=9MiB"))
                .contains(
                        "segmentBytes=3145728, longestSegmentBytes=1048576",
                        "hotCacheBytes=9437184");
    }
}
