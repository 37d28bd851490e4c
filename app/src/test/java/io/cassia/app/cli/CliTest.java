package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.gateways.rest.RestConfig;
import io.cassia.master.core.AllocationStrategy;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CliTest {
    private final FakeBackend backend = new FakeBackend();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "up", "master", "node", "gateway", "put", "get", "exists", "rm", "ls", "stat",
                "replay", "demo", "explain"
            })
    void every_command_has_help_with_examples(String command) {
        CliRun help = CliRun.of(backend, command, "--help");
        assertThat(help.exit()).isZero();
        assertThat(help.out())
                .contains("Usage: cassia " + command)
                .contains("Examples:")
                .contains("  cassia " + command)
                .contains("--json");
        assertThat(help.err()).isEmpty();
        assertThat(backend.log).isEmpty();
    }

    @Test
    void without_a_command_the_help_tells_the_first_steps() {
        CliRun run = CliRun.of(backend);
        assertThat(run.exit()).isZero();
        assertThat(run.out()).contains("cassia demo").contains("Exit codes:");
        assertThat(CliRun.of(backend, "--version").out()).startsWith("cassia ");
    }

    @ParameterizedTest
    @CsvSource({
        "'stat --mastr x', --master",
        "'master --rpc-prt 1', --rpc-port",
        "'putt k f', put",
        "'node --segmnt 1GiB', --segment"
    })
    void a_misspelt_name_is_a_usage_error_that_names_the_nearest(String line, String nearest) {
        CliRun run = CliRun.of(backend, line.split(" ", -1));
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("error: ").contains("did you mean").contains(nearest);
    }

    @ParameterizedTest
    @CsvSource({
        "master --rpc-port 70000, it is a port",
        "master --client-ttl soon, it is a duration",
        "master --eviction-ratio 1.5, it is a number from 0 to 1",
        "master --allocation-strategy best, it is one of random",
        "replay t --clients 0, is not between 1 and 1024",
        "probe --timeout 0 h:1, leaves no time",
        "ls --limit -1, is not between 1 and 1000000000",
        "gateway --rest-port web, is not a port",
        "bench transfer --batch-size x, is not between 1 and 65536",
        "bench master --in-flight x, is not between 1 and 4096",
        "bench master --objects many, is not between 0 and 100M",
        "put k, FILE",
        "get, KEY",
    })
    void a_wrong_value_is_a_usage_error_that_says_why(String line, String why) {
        CliRun run = CliRun.of(backend, line.split(" ", -1));
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err())
                .contains(why)
                .contains("run './cassia " + line.split(" ", -1)[0])
                .contains(" --help'")
                .doesNotContain("java.lang");
    }

    @ParameterizedTest
    @CsvSource({
        "get --json, KEY",
        "ls --json --limit -1, is not between 1 and 1000000000",
        "up --json --rest-port 99999, is not a port",
        "putt --json k f, putt",
        "stat --json --mastr x, --mastr"
    })
    void a_usage_error_is_a_document_too_when_one_is_wanted(String line, String why) {
        CliRun run = CliRun.of(backend, line.split(" ", -1));
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.json().get("exitCode").asInt()).isEqualTo(2);
        assertThat(run.json().get("error").get("code").asString()).isEqualTo("INVALID_PARAMS");
        assertThat(run.json().get("error").get("detail").asString()).contains(why);
        assertThat(run.err()).contains(why);
    }

    @Test
    void what_follows_the_end_of_options_asks_for_no_document() {
        assertThat(CliRun.of(backend, "put", "--", "--json").out()).isEmpty();
    }

    @Test
    void a_setting_of_clients_that_cannot_be_is_named() {
        CliRun run = CliRun.of(backend, "ls", "--timeout", "0");
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err())
                .contains("INVALID_PARAMS", "timeout=\"0\"", "it is a duration from 1ms");
    }

    @Test
    void mooncakes_own_master_flags_work() {
        CliRun run =
                CliRun.of(
                        backend,
                        "master",
                        "--rpc_port=50055",
                        "-metrics_port=9",
                        "--rpc_address",
                        "0.0.0.0",
                        "--enable_http_metadata_server=true",
                        "--http_metadata_server_port=8099",
                        "--default_kv_lease_ttl=5000",
                        "--eviction_high_watermark_ratio=0.5",
                        "--eviction_ratio=0.1",
                        "--client_ttl=3",
                        "--put_start_discard_timeout_sec=7",
                        "--allocation_strategy=free_ratio_first",
                        "--enable_multi_tenants",
                        "--allow_evict_soft_pinned_objects=false",
                        "--cluster_id=c");
        assertThat(run.exit()).isZero();
        assertThat(backend.master.config().rpcPort()).isEqualTo(50055);
        assertThat(backend.master.config().httpPort()).isEqualTo(9);
        assertThat(backend.master.config().rpcHost()).isEqualTo("0.0.0.0");
        assertThat(backend.master.metadataPort()).isEqualTo(8099);
        assertThat(backend.master.config().defaultLeaseTtl()).hasSeconds(5);
        assertThat(backend.master.config().evictionHighWatermarkRatio()).isEqualTo(0.5);
        assertThat(backend.master.config().evictionRatio()).isEqualTo(0.1);
        assertThat(backend.master.config().clientTtl()).hasSeconds(3);
        assertThat(backend.master.config().putDiscardTimeout()).hasSeconds(7);
        assertThat(backend.master.config().allocationStrategy())
                .isEqualTo(AllocationStrategy.FREE_RATIO_FIRST);
        assertThat(backend.master.config().enableMultiTenants()).isTrue();
        assertThat(backend.master.config().allowEvictSoftPinned()).isFalse();
        assertThat(backend.master.config().clusterId()).isEqualTo("c");
    }

    @Test
    void values_that_exclude_each_other_are_a_usage_error() {
        CliRun run =
                CliRun.of(
                        backend,
                        "master",
                        "--put-start-discard-timeout=60s",
                        "--put-start-release-timeout=5s");
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).contains("must be longer");
    }

    @Test
    void the_metadata_server_can_be_left_out_in_both_spellings() {
        assertThat(CliRun.of(backend, "master", "--metadata-port", "off").exit()).isZero();
        assertThat(backend.master.metadataPort()).isEqualTo(-1);
        assertThat(CliRun.of(backend, "master", "--enable_http_metadata_server=false").exit())
                .isZero();
        assertThat(backend.master.metadataPort()).isEqualTo(-1);
        assertThat(CliRun.of(backend, "master", "--enable_http_metadata_server").exit()).isZero();
        assertThat(backend.master.metadataPort()).isEqualTo(8080);
    }

    @Test
    void up_tells_how_to_connect_and_stops_in_order() {
        CliRun up = CliRun.of(backend, "up", "--memory", "2GiB");
        assertThat(up.exit()).isZero();
        assertThat(up.out())
                .contains("rpc       127.0.0.1:50051")
                .contains("./cassia put hello README.md")
                .contains("\"metadata_server\": \"http://127.0.0.1:8080/metadata\"")
                .contains("\"master_server_addr\": \"127.0.0.1:50051\"")
                .contains("ready in ");
        assertThat(backend.log)
                .containsExactly(
                        "cluster 127.0.0.1 [2147483648]",
                        "gateway 127.0.0.1:50051 " + RestConfig.DEFAULT,
                        "closed gateway",
                        "closed cluster");
        assertThat(up.out())
                .contains("rest      http://127.0.0.1:9300")
                .contains("curl http://127.0.0.1:9300/api/get/");
    }

    @Test
    void a_server_listens_for_the_end_before_it_says_that_it_is_ready() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        List<String> seen = new ArrayList<>();
        StopSignal signal =
                (announce, close, longest) -> {
                    seen.add(out.toString(StandardCharsets.UTF_8));
                    announce.run();
                    seen.add(out.toString(StandardCharsets.UTF_8));
                    close.run();
                };
        Console console =
                new Console(
                        InputStream.nullInputStream(),
                        new PrintStream(out, false, StandardCharsets.UTF_8),
                        new PrintStream(OutputStream.nullOutputStream()),
                        false,
                        "./cassia");
        assertThat(new Cli(console, backend, Clock.system(), signal).execute("up")).isZero();
        assertThat(seen).hasSize(2);
        assertThat(seen.get(0)).isEmpty();
        assertThat(seen.get(1)).contains("ready in ");
        assertThat(backend.log).endsWith("closed cluster");
    }

    @Test
    void up_serves_rest_where_it_is_told_or_not_at_all() {
        assertThat(CliRun.of(backend, "up", "--rest-port", "off").exit()).isZero();
        assertThat(backend.log).noneMatch(line -> line.startsWith("gateway"));
        assertThat(
                        CliRun.of(backend, "up", "--client_http_port=1", "--rest-buffers", "1MiB")
                                .exit())
                .isZero();
        assertThat(backend.log)
                .contains(
                        "gateway 127.0.0.1:50051 "
                                + new RestConfig(
                                        "127.0.0.1", 1, 1 << 20, 64, Duration.ofSeconds(30)));
    }

    @Test
    void a_gateway_serves_the_cluster_that_it_is_told() {
        CliRun gateway =
                CliRun.of(
                        backend,
                        "gateway",
                        "--master",
                        "h:1",
                        "--host",
                        "10.0.0.2",
                        "--rest-requests",
                        "3",
                        "--rest-patience",
                        "1s");
        assertThat(gateway.exit()).isZero();
        assertThat(gateway.out()).contains("http://10.0.0.2:9300").contains("curl ");
        assertThat(backend.log)
                .containsExactly(
                        "gateway h:1 "
                                + new RestConfig(
                                        "10.0.0.2", 9300, 256 << 20, 3, Duration.ofSeconds(1)),
                        "closed gateway");
    }

    @Test
    void a_gateway_lends_files_from_where_it_is_told() {
        assertThat(CliRun.of(backend, "gateway", "--rest-lend-from", "/dev/shm,/mnt/kv/").exit())
                .isZero();
        assertThat(CliRun.of(backend, "gateway", "--rest-lend-from=none").exit()).isZero();
        assertThat(backend.log)
                .contains(
                        "gateway 127.0.0.1:50051 "
                                + RestConfig.DEFAULT.lendingFrom(
                                        List.of(Path.of("/dev/shm"), Path.of("/mnt/kv"))),
                        "gateway 127.0.0.1:50051 " + RestConfig.DEFAULT.lendingFrom(List.of()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gateway --rest-port off",
                "gateway --rest-buffers 0",
                "gateway --rest-port 70000",
                "gateway --rest-lend-from shm",
                "gateway --rest-lend-from /",
                "gateway --rest-lend-from none,/dev/shm",
                "gateway --rest-requests 0"
            })
    void a_gateway_that_makes_no_sense_is_a_usage_error(String line) {
        CliRun gateway = CliRun.of(backend, line.split(" ", -1));
        assertThat(gateway.exit()).isEqualTo(2);
        assertThat(backend.log).isEmpty();
    }

    @Test
    void up_as_json_is_one_line_when_it_is_ready() {
        CliRun up = CliRun.of(backend, "up", "--json");
        assertThat(up.out().lines()).hasSize(1);
        assertThat(up.json().get("master").asString()).isEqualTo("127.0.0.1:50051");
        assertThat(up.json().get("nodes").get(0).asString()).isEqualTo("127.0.0.1:15001");
    }

    @Test
    void a_server_that_cannot_start_fails_with_its_code() {
        backend.fail(io.cassia.status.StoreCode.RPC_FAIL, "port 50051 is taken");
        CliRun up = CliRun.of(backend, "up");
        assertThat(up.exit()).isEqualTo(5);
        assertThat(up.err()).contains("RPC_FAIL(-900): port 50051 is taken");
        assertThat(backend.log).doesNotContain("closed cluster");
    }

    @Test
    void a_node_lends_what_it_is_told_to_whom_it_is_told() {
        CliRun node =
                CliRun.of(
                        backend,
                        "node",
                        "--master",
                        "h:1",
                        "--local_hostname=10.0.0.2",
                        "--global_segment_size",
                        "4 GB");
        assertThat(node.exit()).isZero();
        assertThat(backend.log.getFirst())
                .contains("master=h:1")
                .contains("metadata=http://h:8080/metadata")
                .contains("localName=10.0.0.2")
                .contains("segmentBytes=4294967296");
        assertThat(node.out()).contains("10.0.0.2:15001").contains("4 GiB");
    }
}
