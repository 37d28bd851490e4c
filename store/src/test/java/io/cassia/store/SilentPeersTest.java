package io.cassia.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.ByteString;
import io.cassia.base.Clock;
import io.cassia.base.Deadline;
import io.cassia.rpc.cassia.CheckedMessages.WrittenObject;
import io.cassia.rpc.mooncake.Args;
import io.cassia.rpc.mooncake.MasterMethods;
import io.cassia.rpc.mooncake.Segment;
import io.cassia.rpc.mooncake.Uuid;
import io.cassia.status.Code;
import io.cassia.status.Outcome;
import io.cassia.status.StoreCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes and masters that take connections and say nothing, as a stopped process does. */
class SilentPeersTest {
    private static final ByteString TENANT = ByteString.of("default");
    private static final Duration DEADLINE = Duration.ofSeconds(2);
    private static final Duration MARGIN = Duration.ofSeconds(2);
    private static final long BYTES = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final Cluster cluster = Cluster.start();
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable resource : open) {
            resource.close();
        }
        cluster.close();
        arena.close();
    }

    private ServerSocket listen(int backlog) throws IOException {
        ServerSocket socket = new ServerSocket(0, backlog, InetAddress.getLoopbackAddress());
        open.add(socket);
        return socket;
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?> failed ? failed.code() : StoreCode.OK;
    }

    private static ByteString key(String text) {
        return ByteString.of(text);
    }

    private StoreClient client() {
        return cluster.client(
                new StoreClientConfig(
                        cluster.address(),
                        StoreClientConfig.P2P,
                        "127.0.0.1",
                        "default",
                        DEADLINE));
    }

    /** Lends memory of a node that never answers, and puts an object there on its behalf. */
    private String putAtSilentNode(ByteString key) throws IOException {
        Clock clock = Clock.system();
        Deadline deadline = Deadline.after(clock, Duration.ofSeconds(20));
        Uuid id = new Uuid(7, 7);
        MasterLink master =
                MasterLink.connect(
                                cluster.address(),
                                StoreClientConfig.Calls.DEFAULT,
                                id,
                                clock,
                                deadline,
                                new SimpleMeterRegistry())
                        .orThrow();
        open.add(master);
        String name = "127.0.0.1:" + listen(16).getLocalPort();
        Segment segment = new Segment(new Uuid(7, 8), name, 1L << 40, BYTES * 4, name, "tcp", "");
        master.call(MasterMethods.MOUNT_SEGMENT, new Args.MountSegment(segment, id), deadline)
                .orThrow();
        Args.BatchPutStart start =
                new Args.BatchPutStart(
                        id,
                        List.of(key),
                        List.of(BYTES),
                        PutOptions.DEFAULT.withPreferred(List.of(name)).replicate(),
                        TENANT);
        long put =
                master.callBatch(MasterMethods.BATCH_PUT_START, start, 1, deadline)
                        .getFirst()
                        .orThrow()
                        .getFirst()
                        .id();
        WrittenObject written = new WrittenObject(key, OptionalLong.empty(), ByteString.EMPTY);
        master.end(id, List.of(written), List.of(put), TENANT, deadline).getFirst().orThrow();
        return name;
    }

    private static Duration since(long began) {
        return Duration.ofNanos(Clock.system().nanos() - began);
    }

    @Test
    void node_that_never_answered_costs_no_more_than_the_deadline() throws Exception {
        putAtSilentNode(key("silent"));
        StoreClient client = client();
        MemorySegment into = arena.allocate(BYTES);
        long began = Clock.system().nanos();
        assertThat(code(client.get(key("silent"), into))).isEqualTo(StoreCode.TRANSFER_FAIL);
        assertThat(since(began)).isLessThan(DEADLINE.plus(MARGIN));
    }

    @Test
    void node_that_never_answered_harms_no_neighbour_of_the_batch() throws Exception {
        putAtSilentNode(key("silent"));
        StorageNode node = cluster.node(64 << 20);
        StoreClient client = client();
        client.put(
                        key("k"),
                        arena.allocate(BYTES),
                        PutOptions.DEFAULT.withPreferred(List.of(node.endpoint())))
                .orThrow();
        long began = Clock.system().nanos();
        List<Outcome<Long>> got =
                client.getBatch(
                        List.of(key("silent"), key("k")),
                        List.of(arena.allocate(BYTES), arena.allocate(BYTES)));
        assertThat(got)
                .extracting(SilentPeersTest::code)
                .containsExactly(StoreCode.TRANSFER_FAIL, StoreCode.OK);
        assertThat(since(began)).isLessThan(DEADLINE.plus(MARGIN));
    }

    @Test
    void session_whose_write_did_not_end_keeps_its_space() throws Exception {
        String name = putAtSilentNode(key("silent"));
        cluster.node(64 << 20);
        StoreClient client = client();
        PutOptions there = PutOptions.DEFAULT.withPreferred(List.of(name));
        MemorySegment bytes = arena.allocate(BYTES);
        WriteSession session = client.openWrite(key("k"), BYTES, there).orThrow();
        assertThat(code(session.write(0, bytes))).isEqualTo(StoreCode.TRANSFER_FAIL);
        assertThat(code(session.revoke())).isEqualTo(StoreCode.WRITE_FAIL);
        assertThat(code(client.put(key("k"), bytes, PutOptions.DEFAULT)))
                .as("bytes may still come: the space is nobody else's yet")
                .isEqualTo(StoreCode.OBJECT_ALREADY_EXISTS);
    }

    @Test
    void master_that_takes_no_connection_costs_no_more_than_the_deadline() throws Exception {
        ServerSocket full = listen(1);
        InetSocketAddress address =
                new InetSocketAddress(full.getInetAddress(), full.getLocalPort());
        boolean isFull = false;
        for (int i = 0; i < 16 && !isFull; i++) {
            Socket waiting = new Socket();
            open.add(waiting);
            try {
                waiting.connect(address, 200);
            } catch (IOException e) {
                isFull = true;
            }
        }
        assertThat(isFull).as("the queue of connections has an end").isTrue();
        long began = Clock.system().nanos();
        Outcome<StoreClient> connected =
                StoreClient.connect(
                        new StoreClientConfig(
                                "127.0.0.1:" + full.getLocalPort(),
                                StoreClientConfig.P2P,
                                "127.0.0.1",
                                "default",
                                DEADLINE),
                        Clock.system(),
                        new SimpleMeterRegistry());
        assertThat(code(connected)).isEqualTo(StoreCode.RPC_TIMEOUT);
        assertThat(since(began)).isLessThan(DEADLINE.plus(MARGIN));
    }
}
