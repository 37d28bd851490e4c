package io.cassia.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.status.StoreCode;
import io.cassia.store.StoreClient;
import io.cassia.store.StoreClientConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

/** Starts that cannot work end with one clear line, the code, and an exit code that is not 0. */
class StartFailureTest {
    private static void assertOneLine(CassiaProcess.Ended ended, String code, String said) {
        assertThat(ended.exit()).as(ended.stderr()).isNotZero();
        assertThat(ended.stderr().lines().filter(line -> line.startsWith("error: ")))
                .singleElement()
                .asString()
                .contains(code)
                .contains(said);
        assertThat(ended.stderr()).doesNotContain("\tat ");
    }

    @Test
    void port_in_use() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertOneLine(
                    CassiaProcess.run(
                            "master",
                            "--rpc-port",
                            port,
                            "--http-port",
                            "0",
                            "--metadata-port",
                            "0"),
                    "RPC_FAIL(-900)",
                    port);
        }
    }

    @Test
    void unresolvable_host() throws Exception {
        assertOneLine(
                CassiaProcess.run("get", "k", "--master", "no-such-host.invalid:50051"),
                "RPC_FAIL(-900)",
                "no-such-host.invalid");
    }

    @Test
    @Covers(
            store = StoreCode.RPC_FAIL,
            scenario = "A client connects to a port where no master listens.")
    void master_that_is_not_there(Coverage coverage) throws Exception {
        int free;
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = probe.getLocalPort();
        }
        String address = "127.0.0.1:" + free;
        assertOneLine(
                CassiaProcess.run("get", "k", "--master", address), "RPC_FAIL(-900)", address);
        assertOneLine(
                CassiaProcess.run("node", "--master", address, "--segment", "1MiB"),
                "RPC_FAIL(-900)",
                address);
        coverage.expect(
                StoreClient.connect(
                        StoreClientConfig.of(address), Clock.system(), new SimpleMeterRegistry()),
                StoreCode.RPC_FAIL);
    }
}
