package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MasterConfigurationTest {
    private final FakeBackend backend = new FakeBackend();

    @TempDir private Path folder = Path.of("");

    @Test
    void a_file_is_read_and_flags_win_over_it() throws Exception {
        Path file =
                Files.writeString(
                        folder.resolve("master.yaml"), "rpc_port: 7\ndefault_kv_lease_ttl: 3s\n");
        CliRun run =
                CliRun.of(backend, "master", "--config_path=" + file, "--default_kv_lease_ttl=4s");
        assertThat(run.exit()).as(run.err()).isZero();
        assertThat(backend.master.config().rpcPort()).isEqualTo(7);
        assertThat(backend.master.config().defaultLeaseTtl()).hasSeconds(4);
    }

    @Test
    void what_is_in_force_is_printed_as_a_file_that_can_be_given_back() throws Exception {
        CliRun printed =
                CliRun.of(
                        backend,
                        "master",
                        "--print-config",
                        "--rpc_port=7",
                        "--http-port=off",
                        "--cluster-id",
                        "a: \"b\"");
        assertThat(printed.exit()).as(printed.err()).isZero();
        assertThat(backend.log).isEmpty();
        assertThat(printed.out()).containsPattern("rpc-port: 7 +# flag");
        assertThat(printed.out()).containsPattern("client-ttl: 10s +# default");
        Path file = Files.writeString(folder.resolve("again.yaml"), printed.out());
        CliRun again =
                CliRun.of(
                        backend, "master", "--config", file.toString(), "--print-config", "--json");
        assertThat(again.json().at("/rpc-port/value").asString()).isEqualTo("7");
        assertThat(again.json().at("/rpc-port/source").asString()).isEqualTo("file");
        assertThat(again.json().at("/http-port/value").asString()).isEqualTo("off");
        assertThat(again.json().at("/cluster-id/value").asString()).isEqualTo("a: \"b\"");
    }

    @Test
    void an_unknown_member_of_the_file_stops_the_start_and_names_the_nearest() throws Exception {
        Path file = Files.writeString(folder.resolve("m.json"), "{\"evicton_ratio\": 0.1}");
        CliRun run = CliRun.of(backend, "master", "--config", file.toString());
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).contains("evicton_ratio").contains("eviction-ratio");
        assertThat(backend.log).isEmpty();
    }

    @Test
    void a_missing_file_stops_the_start() {
        CliRun run = CliRun.of(backend, "up", "--config", folder.resolve("none").toString());
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).contains("configuration file").contains("none: no such file");
    }

    @Test
    void flags_without_effect_are_told() {
        CliRun run = CliRun.of(backend, "master", "--rpc_thread_num=8");
        assertThat(run.exit()).isZero();
        assertThat(run.err()).contains("note: rpc-thread-num has no effect");
    }
}
