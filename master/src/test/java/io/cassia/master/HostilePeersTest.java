package io.cassia.master;

import static io.cassia.master.TestMaster.A;
import static io.cassia.master.TestMaster.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import io.cassia.base.ByteString;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.ObjectMeta;
import io.cassia.rpc.mooncake.ReplicateConfig;
import io.cassia.rpc.pack.WireWriter;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A master keeps serving others, whatever a peer sends, leaves out, or never reads. */
class HostilePeersTest {
    private static final ByteString TENANT = ByteString.of("default");
    private static final int BATCH = 100_000;

    private static Socket open(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(10_000);
        return socket;
    }

    /** Works as ever: for a client, and for an operator. */
    private static void assertServes(TestMaster master, String key) throws Exception {
        master.put(key, 10);
        assertThat(master.ok(MasterMethods.EXIST_KEY, new Args.Key(ByteString.of(key), TENANT)))
                .isTrue();
        assertThat(master.get("/health/ready").statusCode()).isEqualTo(200);
    }

    private static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
    }

    @Test
    void garbage_on_both_ports_ends_its_own_connection_only() throws Exception {
        Random random = new Random(4711);
        try (TestMaster master = TestMaster.start().mounted()) {
            for (int port : List.of(master.master().rpcPort(), master.master().httpPort())) {
                for (int i = 0; i < 50; i++) {
                    byte[] garbage = new byte[1 + random.nextInt(4096)];
                    random.nextBytes(garbage);
                    if (i % 5 == 0) {
                        garbage[0] = 0x15; // The magic of a frame, with anything behind it.
                    }
                    try (Socket socket = open(port)) {
                        socket.getOutputStream().write(garbage);
                        socket.shutdownOutput();
                        while (socket.getInputStream().read() >= 0) {
                            // An answer or none.
                        }
                    } catch (SocketException e) {
                        // Reset, because it did not read all of it.
                        assertThat(e.getMessage()).containsAnyOf("reset", "closed", "pipe");
                    }
                }
            }
            assertServes(master, "k");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rpc", "http"})
    void half_a_request_waits_for_its_rest_alone(String which) throws Exception {
        try (TestMaster master = TestMaster.start().mounted()) {
            boolean rpc = which.equals("rpc");
            int port = rpc ? master.master().rpcPort() : master.master().httpPort();
            byte[] half =
                    rpc
                            ? new byte[] {0x15, 0, 0}
                            : "GET /health HTTP/1.1\r\nHost".getBytes(StandardCharsets.UTF_8);
            List<Socket> open = new ArrayList<>();
            try {
                for (int i = 0; i < 300; i++) {
                    Socket socket = open(port);
                    socket.getOutputStream().write(half);
                    open.add(socket);
                }
                assertServes(master, "k");
            } finally {
                for (Socket socket : open) {
                    socket.close();
                }
            }
            assertServes(master, "l");
        }
    }

    @Test
    void a_client_that_never_reads_blocks_itself_only() throws Exception {
        try (TestMaster master = TestMaster.start().mounted()) {
            master.putMany("key-", 0, 5000, 10);
            try (Socket lazy = open(master.master().rpcPort())) {
                // Each answer has all objects; the requests are small.
                byte[] request =
                        RawConnection.frame(
                                MasterMethods.GET_REPLICA_LIST_BY_REGEX.functionId(), packed(".*"));
                for (int i = 0; i < 100; i++) {
                    lazy.getOutputStream().write(request);
                }
                assertServes(master, "k");
            }
            // Nor does one that asks for a page and does not read it.
            try (Socket lazy = open(master.master().httpPort())) {
                byte[] request =
                        "GET /get_all_keys HTTP/1.1\r\nHost: h\r\n\r\n"
                                .getBytes(StandardCharsets.UTF_8);
                for (int i = 0; i < 50; i++) {
                    lazy.getOutputStream().write(request);
                }
                assertServes(master, "l");
            }
        }
    }

    /** The body of a request. */
    private static byte[] packed(String regex) {
        WireWriter writer = new WireWriter(64, 1 << 16);
        MasterMethods.GET_REPLICA_LIST_BY_REGEX
                .arguments()
                .write(writer, new Args.Key(ByteString.of(regex), TENANT));
        return Arrays.copyOf(writer.array(), writer.position());
    }

    @ParameterizedTest
    @ValueSource(strings = {"(a+)+$", "(a|aa)+$", "(.*a){20}", "([a-z]+)*=", "(x+x+)+y"})
    void an_expression_that_explodes_is_refused(String bomb) throws Exception {
        try (TestMaster master = TestMaster.start().mounted()) {
            master.put("a".repeat(60) + "!", 10);
            master.put("x".repeat(60), 10);
            Outcome<?> answer =
                    master.call(
                            MasterMethods.REMOVE_BY_REGEX,
                            new Args.Remove(ByteString.of(bomb), true, TENANT));
            if (answer instanceof Outcome.Failed<?> failed) {
                assertThat(failed.code()).isEqualTo(StoreCode.INVALID_PARAMS);
            }
            assertServes(master, "k");
        }
    }

    @Test
    void a_batch_of_100_000_keys_is_answered_whole() throws Exception {
        try (TestMaster master = TestMaster.start().mounted()) {
            List<ByteString> keys = new ArrayList<>(BATCH);
            List<ObjectMeta> metas = new ArrayList<>(BATCH);
            for (int i = 0; i < BATCH; i++) {
                keys.add(ByteString.of("batch-" + i));
                metas.add(new ObjectMeta(keys.getLast(), OptionalLong.empty()));
            }
            List<Long> lengths = Collections.nCopies(BATCH, 16L);
            assertThat(
                            master.call(
                                    MasterMethods.BATCH_PUT_START,
                                    new Args.BatchPutStart(
                                            A, keys, lengths, ReplicateConfig.DEFAULT, TENANT)))
                    .hasSize(BATCH)
                    .allMatch(Outcome::isOk);
            assertThat(
                            master.call(
                                    MasterMethods.BATCH_PUT_END,
                                    new Args.BatchPutEnd(A, metas, 4, TENANT)))
                    .hasSize(BATCH)
                    .allMatch(Outcome::isOk);
            assertThat(master.call(MasterMethods.BATCH_EXIST_KEY, new Args.Keys(keys, TENANT)))
                    .hasSize(BATCH)
                    .allMatch(found -> found.orThrow());
            assertThat(
                            master.call(
                                    MasterMethods.BATCH_GET_REPLICA_LIST,
                                    new Args.Keys(keys, TENANT)))
                    .hasSize(BATCH)
                    .allMatch(Outcome::isOk);
            assertThat(
                            json(master.http("POST", "/api/v1/longest_prefix", prefix(BATCH)))
                                    .get("count"))
                    .hasToString("100000");
            assertThat(
                            master.call(
                                    MasterMethods.BATCH_REMOVE,
                                    new Args.BatchRemove(keys, true, TENANT)))
                    .hasSize(BATCH)
                    .allMatch(Outcome::isOk);
            assertServes(master, "k");
        }
    }

    private static String prefix(int count) {
        StringBuilder body = new StringBuilder("{\"keys\":[");
        for (int i = 0; i < count; i++) {
            body.append(i == 0 ? "" : ",").append("\"batch-").append(i).append('"');
        }
        return body.append("]}").toString();
    }

    @Test
    void many_idle_connections_cost_the_others_nothing() throws Exception {
        idle(1000);
    }

    @Test
    @Tag("deep")
    void ten_thousand_idle_connections_cost_the_others_nothing() throws Exception {
        // Both ends are in this process.
        long descriptors =
                ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class)
                        .getMaxFileDescriptorCount();
        int connections = (int) Math.min(10_000, (descriptors - 500) / 2);
        System.out.printf("%d idle connections; the limit is %d%n", connections, descriptors);
        idle(connections);
    }

    private static void idle(int count) throws Exception {
        try (TestMaster master = TestMaster.start().mounted()) {
            List<Socket> open = new ArrayList<>();
            try {
                for (int i = 0; i < count; i++) {
                    open.add(open(master.master().rpcPort()));
                }
                until(() -> connections(master) >= count);
                assertServes(master, "k");
            } finally {
                for (Socket socket : open) {
                    socket.close();
                }
            }
            until(() -> connections(master) <= 2);
            assertServes(master, "l");
        }
    }

    private static double connections(TestMaster master) {
        return master.meters().get("cassia.rpc.server.connections").gauge().value();
    }
}
