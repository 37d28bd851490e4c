package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.metadata.HttpMetadataServer;
import io.cassia.transfer.metadata.HttpMetadataStore;
import io.cassia.transfer.metadata.MetadataStore;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whole engines with each other. */
final class TransferEngineTest {
    private final List<AutoCloseable> open = new ArrayList<>();
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
        arena.close();
    }

    private TransferEngine start(TransferConfig config) {
        TransferEngine engine = Peers.engine(config);
        open.add(engine);
        return engine;
    }

    private static RegisteredBuffer offer(TransferEngine engine, long bytes) {
        Region region = engine.allocate(bytes).orThrow();
        return engine.register(region.memory(), BufferOptions.DEFAULT).orThrow();
    }

    private static Outcome<Done> one(
            TransferEngine engine,
            Opcode opcode,
            MemorySegment local,
            SegmentHandle target,
            long address) {
        return engine.transfer(
                        List.of(new TransferRequest(opcode, local, target, address)),
                        Peers.DEADLINE)
                .getFirst();
    }

    private static void assertFailed(Outcome<?> outcome, TransferCode code, String detail) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code()).as(failed.toString()).isEqualTo(code);
                            assertThat(failed.detail()).contains(detail);
                        });
    }

    @Test
    void engines_of_a_process_copy_without_sockets_under_the_same_rules() {
        TransferEngine target = start(TransferConfig.p2p("127.0.0.1"));
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        TransferEngine engine =
                TransferEngine.start(TransferConfig.p2p("127.0.0.1"), Clock.system(), meters)
                        .orThrow();
        open.add(engine);
        RegisteredBuffer buffer = offer(target, 1000);
        RegisteredBuffer own = offer(engine, 1000);
        SegmentHandle handle = engine.openSegment("//" + target.localName()).orThrow();
        assertThat(handle.id()).isPositive();
        assertThat(engine.openSegment(target.localName()).orThrow()).isEqualTo(handle);
        assertThat(engine.openSegment(engine.localName()).orThrow())
                .isEqualTo(engine.localSegment());
        MemorySegment out = arena.allocate(1000);
        MemorySegment back = arena.allocate(1000);
        Peers.fill(out, 1);
        assertThat(one(engine, Opcode.WRITE, out, handle, buffer.address()).isOk()).isTrue();
        assertThat(buffer.memory().mismatch(out)).isEqualTo(-1);
        assertThat(one(engine, Opcode.WRITE, out, engine.localSegment(), own.address()).isOk())
                .isTrue();
        assertThat(one(engine, Opcode.READ, back, engine.localSegment(), own.address()).isOk())
                .isTrue();
        assertThat(back.mismatch(out)).isEqualTo(-1);
        assertFailed(
                one(engine, Opcode.READ, back, handle, buffer.address() + 1),
                TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                "crosses-end");
        assertThat(meters.get("cassia.transfer.bytes").tag("transport", "local").counters())
                .extracting(counter -> counter.count())
                .containsExactlyInAnyOrder(2000.0, 1000.0);
        assertThat(meters.get("cassia.transfer.bytes").tag("transport", "tcp").counters())
                .allMatch(counter -> counter.count() == 0);
        assertThat(
                        meters.get("cassia.transfer.failures")
                                .tag("code", "ERR_ADDRESS_NOT_REGISTERED")
                                .counter()
                                .count())
                .isEqualTo(1);
    }

    @Test
    void nothing_to_move_completes_but_the_target_must_be_known() {
        TransferEngine engine = start(TransferConfig.p2p("127.0.0.1"));
        MemorySegment nothing = arena.allocate(0);
        assertThat(one(engine, Opcode.READ, nothing, engine.localSegment(), 0).isOk()).isTrue();
        SegmentHandle stranger = new SegmentHandle(77, "who");
        assertFailed(
                one(engine, Opcode.READ, nothing, stranger, 0),
                TransferCode.ERR_INVALID_ARGUMENT,
                "who");
        assertThat(engine.transfer(List.of(), Peers.DEADLINE)).isEmpty();
    }

    @Test
    void requests_that_cannot_work_are_bugs() {
        SegmentHandle any = new SegmentHandle(0, "n");
        MemorySegment heap = MemorySegment.ofArray(new byte[8]);
        MemorySegment readOnly = arena.allocate(8).asReadOnly();
        assertThatThrownBy(() -> new TransferRequest(Opcode.READ, heap, any, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new TransferRequest(Opcode.READ, readOnly, any, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(new TransferRequest(Opcode.WRITE, readOnly, any, 1).lengthBytes()).isEqualTo(8);
    }

    @Test
    void memory_is_registered_once_and_freed_only_unregistered() {
        TransferEngine engine = start(TransferConfig.p2p("127.0.0.1"));
        TransferEngine other = start(TransferConfig.p2p("127.0.0.1"));
        Region region = engine.allocate(8192).orThrow();
        RegisteredBuffer half =
                engine.register(region.memory().asSlice(0, 4096), BufferOptions.DEFAULT).orThrow();
        assertThat(half.address()).isEqualTo(region.memory().address());
        assertThat(half.state()).isEqualTo(RegisteredBuffer.State.REGISTERED);
        assertFailed(
                engine.register(region.memory().asSlice(4095), BufferOptions.DEFAULT),
                TransferCode.ERR_ADDRESS_OVERLAPPED,
                "overlaps");
        RegisteredBuffer rest =
                engine.register(region.memory().asSlice(4096), BufferOptions.DEFAULT).orThrow();
        assertFailed(engine.free(region), TransferCode.ERR_BATCH_BUSY, "registered");
        assertFailed(
                other.unregister(half), TransferCode.ERR_ADDRESS_NOT_REGISTERED, "not registered");
        assertThat(engine.unregister(half).isOk()).isTrue();
        assertFailed(
                engine.unregister(half), TransferCode.ERR_ADDRESS_NOT_REGISTERED, "not registered");
        assertThat(engine.unregister(rest).isOk()).isTrue();
        assertFailed(other.free(region), TransferCode.ERR_INVALID_ARGUMENT, "not of this engine");
        assertThat(engine.free(region).isOk()).isTrue();
        assertThat(region.memory().scope().isAlive()).isFalse();
        assertFailed(engine.free(region), TransferCode.ERR_INVALID_ARGUMENT, "freed");
        assertFailed(engine.allocate(0), TransferCode.ERR_INVALID_ARGUMENT, "0 bytes");
    }

    @Test
    void memory_cannot_be_freed_while_a_call_moves_it() throws Exception {
        TransferEngine engine = start(Peers.overTcp());
        Region local = engine.allocate(64 << 20).orThrow();
        CountDownLatch done = new CountDownLatch(1);
        PeerStandIn.Script deaf =
                connection -> {
                    connection.request();
                    try {
                        boolean _ = done.await(30, TimeUnit.SECONDS);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                };
        try (PeerStandIn peer = new PeerStandIn(2, deaf)) {
            SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
            Batch batch = engine.allocateBatch(1).orThrow();
            assertThat(
                            batch.submit(
                                            List.of(
                                                    new TransferRequest(
                                                            Opcode.WRITE,
                                                            local.memory(),
                                                            handle,
                                                            PeerStandIn.BASE)))
                                    .isOk())
                    .isTrue();
            // Header and body go out in one call, which the body does not fit.
            Peers.eventually("header sent", () -> peer.headers().size() == 1);
            assertFailed(engine.free(local), TransferCode.ERR_BATCH_BUSY, "in use");
            engine.close();
            assertThat(batch.status().state()).isEqualTo(TransferState.FAILED);
            assertThat(local.memory().scope().isAlive()).isFalse();
            done.countDown();
        }
    }

    @Test
    void a_peer_that_restarts_on_its_ports_is_found_again() {
        TransferEngine initiator = start(Peers.overTcp());
        TransferEngine first = start(Peers.overTcp());
        int rpc = first.rpcPort();
        int data = first.dataPort();
        SegmentHandle handle = initiator.openSegment(first.localName()).orThrow();
        MemorySegment local = arena.allocate(64);
        RegisteredBuffer before = offer(first, 64);
        assertThat(one(initiator, Opcode.READ, local, handle, before.address()).isOk()).isTrue();
        first.close();
        assertFailed(
                one(initiator, Opcode.READ, local, handle, before.address()),
                TransferCode.ERR_SOCKET,
                "refused");
        TransferEngine second = start(Peers.overTcp().withPorts(rpc, data));
        RegisteredBuffer after = offer(second, 64);
        assertThat(one(initiator, Opcode.READ, local, handle, after.address()))
                .isEqualTo(Outcome.done());
        second.close();
        // Elsewhere under the same name, with lanes to the old place idle.
        TransferEngine third = start(Peers.overTcp().withPorts(rpc, 0));
        RegisteredBuffer last = offer(third, 64);
        assertThat(one(initiator, Opcode.WRITE, local, handle, last.address()))
                .isEqualTo(Outcome.done());
    }

    @Test
    void memory_of_the_calling_thread_alone_works_and_reaches_several_peers() {
        TransferEngine initiator = start(Peers.overTcp());
        List<TransferRequest> requests = new ArrayList<>();
        try (Arena confined = Arena.ofConfined()) {
            for (int i = 0; i < 3; i++) {
                TransferEngine target = start(Peers.overTcp());
                RegisteredBuffer buffer = offer(target, 64);
                buffer.memory().fill((byte) (i + 1));
                requests.add(
                        new TransferRequest(
                                Opcode.READ,
                                confined.allocate(64),
                                initiator.openSegment(target.localName()).orThrow(),
                                buffer.address()));
            }
            assertThat(initiator.transfer(requests, Peers.DEADLINE)).allMatch(Outcome::isOk);
            assertThat(requests)
                    .extracting(request -> request.local().get(ValueLayout.JAVA_BYTE, 63))
                    .containsExactly((byte) 1, (byte) 2, (byte) 3);
            Batch batch = initiator.allocateBatch(1).orThrow();
            assertFailed(
                    batch.submit(requests.subList(0, 1)),
                    TransferCode.ERR_INVALID_ARGUMENT,
                    "confined");
        }
    }

    @Test
    void large_calls_are_spread_over_lanes_and_put_together_again() {
        TransferEngine target = start(Peers.overTcp());
        TransferEngine initiator = start(Peers.overTcp().withStripes(3));
        int bytes = 40_000_003;
        RegisteredBuffer buffer = offer(target, bytes);
        SegmentHandle handle = initiator.openSegment(target.localName()).orThrow();
        MemorySegment out = arena.allocate(bytes);
        MemorySegment back = arena.allocate(bytes);
        Peers.fill(out, 4);
        assertThat(one(initiator, Opcode.WRITE, out, handle, buffer.address()).isOk()).isTrue();
        assertThat(Peers.crc(buffer.memory())).isEqualTo(Peers.crc(out));
        List<TransferRequest> requests = new ArrayList<>();
        int[] cuts = {0, 1, 5_000_000, 5_000_001, 31_000_000, bytes};
        for (int i = 1; i < cuts.length; i++) {
            requests.add(
                    new TransferRequest(
                            Opcode.READ,
                            back.asSlice(cuts[i - 1], (long) cuts[i] - cuts[i - 1]),
                            handle,
                            buffer.address() + cuts[i - 1]));
        }
        // One that is rejected fails, whole, and alone.
        requests.add(new TransferRequest(Opcode.READ, out, handle, buffer.address() + 1));
        List<Outcome<Done>> outcomes = initiator.transfer(requests, Peers.DEADLINE);
        assertThat(outcomes.subList(0, 5)).allMatch(Outcome::isOk);
        assertFailed(outcomes.get(5), TransferCode.ERR_ADDRESS_NOT_REGISTERED, "status 1");
        assertThat(Peers.crc(back)).isEqualTo(Peers.crc(buffer.memory()));
    }

    @Test
    void a_batch_takes_all_requests_or_none_and_tells_each_end() {
        TransferEngine target = start(Peers.overTcp());
        TransferEngine initiator = start(Peers.overTcp());
        RegisteredBuffer buffer = offer(target, 64);
        SegmentHandle handle = initiator.openSegment(target.localName()).orThrow();
        Batch batch = initiator.allocateBatch(4).orThrow();
        assertThat(batch.status()).isEqualTo(new BatchStatus(TransferState.COMPLETED, 0, 0, 0, 0));
        MemorySegment local = arena.allocate(8);
        TransferRequest good = new TransferRequest(Opcode.READ, local, handle, buffer.address());
        TransferRequest bad = new TransferRequest(Opcode.READ, local, handle, 5);
        TransferRequest empty =
                new TransferRequest(Opcode.READ, arena.allocate(0), handle, buffer.address());
        TransferRequest stranger =
                new TransferRequest(
                        Opcode.READ, local, new SegmentHandle(9, "x"), buffer.address());
        assertFailed(batch.submit(List.of(good, stranger)), TransferCode.ERR_INVALID_ARGUMENT, "x");
        assertFailed(
                batch.submit(List.of(good, good, good, good, good)),
                TransferCode.ERR_TOO_MANY_REQUESTS,
                "capacity of 4");
        assertThat(batch.status().tasks()).isZero();
        assertThat(batch.submit(List.of(good, empty)).isOk()).isTrue();
        assertThat(batch.await(Peers.DEADLINE)).isTrue();
        assertThat(batch.status()).isEqualTo(new BatchStatus(TransferState.COMPLETED, 8, 2, 2, 0));
        // A batch that was once complete is not for ever.
        assertThat(batch.submit(List.of(bad, good)).isOk()).isTrue();
        assertThat(batch.await(Peers.DEADLINE)).isTrue();
        assertThat(batch.status()).isEqualTo(new BatchStatus(TransferState.FAILED, 16, 4, 3, 1));
        assertThat(batch.status(0).orThrow().state()).isEqualTo(TransferState.COMPLETED);
        assertThat(batch.status(2).orThrow().state()).isEqualTo(TransferState.FAILED);
        assertThat(batch.status(2).orThrow().failure())
                .hasValueSatisfying(
                        failed ->
                                assertThat(failed.code())
                                        .isEqualTo(TransferCode.ERR_ADDRESS_NOT_REGISTERED));
        assertFailed(batch.status(4), TransferCode.ERR_INVALID_ARGUMENT, "task 4 of a batch of 4");
        assertFailed(batch.status(-1), TransferCode.ERR_INVALID_ARGUMENT, "task -1");
        assertThat(batch.free().isOk()).isTrue();
        assertFailed(batch.submit(List.of(good)), TransferCode.ERR_INVALID_ARGUMENT, "freed");
        assertFailed(batch.status(0), TransferCode.ERR_INVALID_ARGUMENT, "freed");
        assertFailed(initiator.allocateBatch(0), TransferCode.ERR_INVALID_ARGUMENT, "capacity");
    }

    @Test
    void a_task_of_a_batch_ends_with_its_deadline() throws Exception {
        TransferEngine initiator =
                start(
                        Peers.overTcp()
                                .withTimeouts(
                                        TransferConfig.Timeouts.DEFAULT.withBatch(
                                                Duration.ofSeconds(1))));
        try (PeerStandIn peer = new PeerStandIn(2, PeerStandIn.Connection::awaitEnd)) {
            SegmentHandle handle = initiator.openSegment(peer.name()).orThrow();
            Batch batch = initiator.allocateBatch(200).orThrow();
            List<TransferRequest> requests = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                requests.add(
                        new TransferRequest(
                                Opcode.READ, arena.allocate(8), handle, PeerStandIn.BASE));
            }
            assertThat(batch.submit(requests).isOk()).isTrue();
            assertThat(batch.await(Duration.ZERO)).isFalse();
            assertThat(batch.await(Peers.DEADLINE)).isTrue();
            assertThat(batch.status().state()).isEqualTo(TransferState.TIMEOUT);
            assertThat(batch.status().failed()).isEqualTo(200);
        }
    }

    @Test
    void a_closed_engine_fails_calls_and_closes_once_more() {
        TransferEngine target = start(Peers.overTcp());
        TransferEngine engine = start(Peers.overTcp());
        RegisteredBuffer buffer = offer(target, 8);
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        MemorySegment local = arena.allocate(8);
        assertThat(one(engine, Opcode.READ, local, handle, buffer.address()).isOk()).isTrue();
        engine.close();
        engine.close();
        assertFailed(
                one(engine, Opcode.READ, local, handle, buffer.address()),
                TransferCode.ERR_CONTEXT,
                "closed");
        assertFailed(
                engine.register(local, BufferOptions.DEFAULT), TransferCode.ERR_CONTEXT, "closed");
        assertFailed(engine.allocate(8), TransferCode.ERR_CONTEXT, "closed");
        assertFailed(engine.openSegment("x:1"), TransferCode.ERR_CONTEXT, "closed");
        Batch batch = engine.allocateBatch(1).orThrow();
        assertThat(
                        batch.submit(
                                        List.of(
                                                new TransferRequest(
                                                        Opcode.READ,
                                                        local,
                                                        handle,
                                                        buffer.address())))
                                .isOk())
                .isFalse();
    }

    @Test
    void a_port_that_is_taken_is_told() {
        TransferEngine engine = start(Peers.overTcp());
        assertFailed(
                TransferEngine.start(
                        Peers.overTcp().withPorts(engine.rpcPort(), 0),
                        Clock.system(),
                        new SimpleMeterRegistry()),
                TransferCode.ERR_SOCKET,
                "port " + engine.rpcPort());
        assertFailed(
                TransferEngine.start(
                        Peers.overTcp().withPorts(0, engine.dataPort()),
                        Clock.system(),
                        new SimpleMeterRegistry()),
                TransferCode.ERR_CONTEXT,
                "port " + engine.dataPort());
        assertFailed(
                TransferEngine.start(
                        TransferConfig.p2p("no-such-host.invalid"),
                        Clock.system(),
                        new SimpleMeterRegistry()),
                TransferCode.ERR_DNS,
                "no-such-host.invalid");
    }

    @Test
    void engines_find_each_other_through_a_metadata_server() {
        HttpMetadataServer server =
                HttpMetadataServer.start("127.0.0.1", 0, Clock.system(), new SimpleMeterRegistry())
                        .orThrow();
        open.add(server);
        TransferConfig config =
                TransferConfig.of(server.uri(), "127.0.0.1").withTransports(Set.of(Transport.TCP));
        MetadataStore store = HttpMetadataStore.open(server.uri()).orThrow();
        open.add(store);
        Duration limit = Duration.ofSeconds(3);
        // What a predecessor, or anybody, left behind is overwritten and never adopted.
        assertThat(
                        store.put(
                                        "mooncake/ram/nodeA",
                                        "{\"buffers\":[{\"addr\":4096,\"length\":8192,"
                                                + "\"name\":\"nodeA\"}],\"name\":\"nodeA\","
                                                + "\"protocol\":\"tcp\",\"tcp_data_port\":9}")
                                .isOk())
                .isTrue();
        TransferEngine target = start(config.withSegmentName("nodeA"));
        assertThat(target.localName()).isEqualTo("nodeA");
        assertThat(store.find("mooncake/ram/nodeA", limit).orThrow())
                .hasValueSatisfying(
                        text ->
                                assertThat(text)
                                        .startsWith("{\"buffers\":[],\"incarnation\":")
                                        .contains(",\"name\":\"nodeA\","));
        TransferEngine initiator = start(config);
        assertThat(initiator.localName()).isEqualTo("127.0.0.1:" + initiator.rpcPort());
        RegisteredBuffer buffer = offer(target, 64);
        SegmentHandle handle = initiator.openSegment("nodeA").orThrow();
        assertThat(initiator.remoteBuffers(handle).orThrow())
                .containsExactly(new RemoteBuffer(buffer.address(), 64));
        MemorySegment local = arena.allocate(64);
        assertThat(one(initiator, Opcode.READ, local, handle, buffer.address()).isOk()).isTrue();
        assertThat(initiator.probe(handle).isOk()).isTrue();
        assertThat(target.unregister(buffer).isOk()).isTrue();
        assertThat(initiator.remoteBuffers(handle).orThrow()).isEmpty();
        assertFailed(initiator.openSegment("nodeB"), TransferCode.ERR_METADATA, "nodeB");

        // A restart takes the name over at once, and the predecessor leaves the entries alone.
        TransferEngine restarted = start(config.withSegmentName("nodeA"));
        RegisteredBuffer again = offer(restarted, 64);
        target.close();
        assertThat(one(initiator, Opcode.READ, local, handle, again.address()).isOk()).isTrue();
        restarted.close();
        assertThat(store.find("mooncake/ram/nodeA", limit).orThrow()).isEmpty();
        assertThat(store.find("mooncake/rpc_meta/nodeA", limit).orThrow()).isEmpty();
    }

    @Test
    void without_its_metadata_server_an_engine_does_not_start_and_registers_nothing() {
        HttpMetadataServer server =
                HttpMetadataServer.start("127.0.0.1", 0, Clock.system(), new SimpleMeterRegistry())
                        .orThrow();
        TransferConfig config = TransferConfig.of(server.uri(), "127.0.0.1");
        TransferEngine engine = start(config);
        server.close();
        assertFailed(
                TransferEngine.start(config, Clock.system(), new SimpleMeterRegistry()),
                TransferCode.ERR_METADATA,
                "publishing segment");
        Region region = engine.allocate(64).orThrow();
        assertFailed(
                engine.register(region.memory(), BufferOptions.DEFAULT),
                TransferCode.ERR_METADATA,
                "registering");
        assertThat(engine.free(region).isOk()).isTrue();
    }
}
