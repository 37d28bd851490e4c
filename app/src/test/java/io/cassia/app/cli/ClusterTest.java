package io.cassia.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.app.cluster.Backend;
import io.cassia.app.cluster.Running;
import io.cassia.base.Clock;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** The commands against the real parts: what the fakes of the other tests stand for. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClusterTest {
    private static final long NODE_BYTES = 32L << 20;

    private final Backend backend = Backend.real(Clock.system(), Map.of());
    private Running cluster = new Running.Builder().build();

    @BeforeAll
    void start() {
        cluster = RealCluster.start(backend, NODE_BYTES, NODE_BYTES);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    private CliRun run(String line) {
        return run(new byte[0], line);
    }

    private CliRun run(byte[] stdin, String line) {
        String at = " --master " + cluster.master() + " --metadata " + cluster.metadata();
        return CliRun.of(backend, stdin, (line + at).split(" ", -1));
    }

    @Test
    void an_object_goes_in_is_seen_and_comes_out() {
        byte[] value = "Hello, KV cache".repeat(10_000).getBytes(StandardCharsets.UTF_8);
        assertThat(run(value, "put greeting -").err()).isEmpty();
        assertThat(run("get greeting").outBytes()).isEqualTo(value);
        assertThat(run("exists greeting nothing").exit()).isEqualTo(3);
        assertThat(run("ls --prefix greet").out()).contains("146.48 KiB").contains("greeting");
        assertThat(run("stat greeting --json").json().get("bytes").asInt()).isEqualTo(value.length);
        assertThat(run(value, "put greeting -").exit()).isEqualTo(4);
        assertThat(run("rm greeting --force").exit()).isZero();
        assertThat(run("get greeting").exit()).isEqualTo(3);
    }

    @Test
    void two_replicas_lie_on_two_nodes() {
        assertThat(run(new byte[5000], "put twice - --replicas 2").err()).isEmpty();
        assertThat(run("stat twice --json").json().get("replicas").asInt()).isEqualTo(2);
        JsonNode pool = run("stat --json").json();
        assertThat(pool.get("segments")).hasSize(2);
        assertThat(pool.get("capacityBytes").asLong()).isEqualTo(2 * NODE_BYTES);
    }

    @Test
    void a_replay_of_its_own_cluster_reads_every_byte_right() {
        CliRun demo = CliRun.of(backend, "demo", "--requests", "300", "--clients", "2", "--json");
        assertThat(demo.err()).isEmpty();
        JsonNode ample = demo.json().get("ample");
        JsonNode tight = demo.json().get("tight");
        JsonNode map = CliRun.of(new FakeBackend(), "demo", "--requests", "300", "--json").json();
        assertThat(ample.get("bytesWritten")).isEqualTo(map.get("ample").get("bytesWritten"));
        assertThat(ample.get("verificationErrors").asLong()).isZero();
        assertThat(ample.get("failures").asLong()).isZero();
        assertThat(ample.get("evictions").asLong()).isZero();
        assertThat(tight.get("verificationErrors").asLong()).isZero();
        assertThat(tight.get("evictions").asLong()).isPositive();
        assertThat(tight.get("hits").asLong()).isLessThan(ample.get("hits").asLong());
    }

    @Test
    void a_master_that_is_not_there_is_unreachable() {
        CliRun run = CliRun.of(backend, "stat", "--master", "127.0.0.1:1", "--timeout", "2s");
        assertThat(run.exit()).isEqualTo(5);
        assertThat(run.err()).contains("RPC_FAIL(-900)").contains("127.0.0.1:1");
    }

    @Test
    void a_taken_port_is_told() {
        String port = cluster.master().substring(cluster.master().lastIndexOf(':') + 1);
        CliRun run =
                CliRun.of(
                        backend,
                        "master",
                        "--rpc-port",
                        port,
                        "--http-port=off",
                        "--metadata-port=off");
        assertThat(run.exit()).isNotZero();
        assertThat(run.err()).contains(port);
    }
}
