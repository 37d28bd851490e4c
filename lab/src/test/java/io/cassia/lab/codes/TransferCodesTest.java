package io.cassia.lab.codes;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.lab.coverage.Coverage;
import io.cassia.lab.coverage.Covers;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.testkit.KeyFiles;
import io.cassia.transfer.Batch;
import io.cassia.transfer.BufferOptions;
import io.cassia.transfer.Notification;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.Region;
import io.cassia.transfer.RegisteredBuffer;
import io.cassia.transfer.ScatterOperation;
import io.cassia.transfer.ScatterRange;
import io.cassia.transfer.Security;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import io.cassia.transfer.TransferState;
import io.cassia.transfer.metadata.HttpMetadataServer;
import io.cassia.transfer.net.PeerFilter;
import io.cassia.transfer.topology.DeviceFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The codes of the Transfer Engine. */
class TransferCodesTest {
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofMillis(20);

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
        arena.close();
    }

    private static TransferConfig config() {
        return TransferConfig.p2p("127.0.0.1").withLocalCopies(false);
    }

    private static Outcome<TransferEngine> starting(TransferConfig config) {
        return TransferEngine.start(config, Clock.system(), new SimpleMeterRegistry());
    }

    private TransferEngine start(TransferConfig config) {
        TransferEngine engine = starting(config).orThrow();
        open.add(engine);
        return engine;
    }

    private TransferEngine start() {
        return start(config());
    }

    private TransferStandIn add(TransferStandIn standIn) {
        open.add(standIn);
        return standIn;
    }

    private static RegisteredBuffer offer(TransferEngine engine, long bytes) {
        Region region = engine.allocate(bytes).orThrow();
        return engine.register(region.memory(), BufferOptions.DEFAULT).orThrow();
    }

    private TransferRequest read(SegmentHandle target, long address, long length) {
        return new TransferRequest(Opcode.READ, arena.allocate(length), target, address);
    }

    private static Outcome<Done> run(TransferEngine engine, TransferRequest request) {
        return engine.transfer(List.of(request), DEADLINE).getFirst();
    }

    private static int freePort() throws Exception {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    @Test
    @Covers(
            transfer = TransferCode.OK,
            scenario = "Bytes are written to a peer's memory, read back, and a message is pushed.")
    void bytes_written_and_read_back(Coverage coverage) {
        TransferEngine target = start();
        TransferEngine engine = start();
        RegisteredBuffer buffer = offer(target, 1 << 16);
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        MemorySegment out = arena.allocate(1 << 16).fill((byte) 7);
        MemorySegment back = arena.allocate(1 << 16);
        coverage.expect(
                run(engine, new TransferRequest(Opcode.WRITE, out, handle, buffer.address())),
                TransferCode.OK);
        coverage.expect(
                run(engine, new TransferRequest(Opcode.READ, back, handle, buffer.address())),
                TransferCode.OK);
        assertThat(back.mismatch(out)).isEqualTo(-1);
        Notification done = new Notification("me", "done");
        coverage.expect(engine.sendNotification(handle, done), TransferCode.OK);
        assertThat(target.drainNotifications()).containsExactly(done);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_INVALID_ARGUMENT,
            scenario =
                    "Nothing is registered, a segment without a name is opened, a fragment leaves"
                            + " its span, a batch has no such task, a target was never opened.")
    void arguments_that_can_never_be_right(Coverage coverage) {
        TransferEngine engine = start();
        TransferCode code = TransferCode.ERR_INVALID_ARGUMENT;
        coverage.expect(engine.register(arena.allocate(0), BufferOptions.DEFAULT), code);
        coverage.expect(engine.openSegment("//"), code);
        coverage.expect(engine.allocate(0), code);
        coverage.expect(engine.allocateBatch(0), code);
        try (Batch batch = engine.allocateBatch(1).orThrow()) {
            coverage.expect(batch.status(0), code);
            coverage.expect(
                    batch.submit(List.of(read(new SegmentHandle(9, "nobody"), 1, 8))), code);
        }
        ScatterRange outside =
                new ScatterRange(
                        Opcode.READ,
                        engine.localName(),
                        4096,
                        16,
                        arena.allocate(16),
                        List.of(new ScatterRange.Fragment(8, 0, 9)));
        coverage.expect(
                engine.transferScatter(List.of(outside), DEADLINE).orThrow().getFirst().getFirst(),
                code);
        coverage.expect(starting(TransferConfig.of("gopher://x", "127.0.0.1")), code);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_TOO_MANY_REQUESTS,
            scenario = "Three tasks are submitted to a batch that was allocated for two.")
    void batch_over_its_capacity(Coverage coverage) {
        TransferEngine engine = start();
        RegisteredBuffer buffer = offer(engine, 64);
        TransferRequest request = read(engine.localSegment(), buffer.address(), 8);
        try (Batch batch = engine.allocateBatch(2).orThrow()) {
            coverage.expect(
                    batch.submit(List.of(request, request, request)),
                    TransferCode.ERR_TOO_MANY_REQUESTS);
            assertThat(batch.status().tasks()).as("none of them is under way").isZero();
            assertThat(batch.submit(List.of(request, request)).isOk()).isTrue();
        }
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_ADDRESS_NOT_REGISTERED,
            scenario =
                    "A transfer crosses the end of a peer's buffer, or names one that was"
                            + " unregistered; an address inside a buffer is unregistered.")
    void ranges_that_nobody_registered(Coverage coverage) {
        TransferEngine target = start();
        TransferEngine engine = start();
        TransferCode code = TransferCode.ERR_ADDRESS_NOT_REGISTERED;
        RegisteredBuffer buffer = offer(target, 4096);
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        coverage.expect(run(engine, read(handle, buffer.address() + 4090, 8)), code);
        coverage.expect(run(engine, read(handle, 0x1000, 8)), code);
        coverage.expect(target.unregister(buffer.address() + 1), code);
        assertThat(target.unregister(buffer).isOk()).isTrue();
        coverage.expect(target.unregister(buffer), code);
        coverage.expect(run(engine, read(handle, buffer.address(), 8)), code);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_BATCH_BUSY,
            scenario =
                    "A batch is freed while its peer has not answered; a region is freed while a"
                            + " buffer of it is registered.")
    void what_transfers_or_peers_still_use_is_not_freed(Coverage coverage) throws Exception {
        TransferEngine engine = start();
        RegisteredBuffer buffer = offer(engine, 64);
        Region region = engine.allocate(64).orThrow();
        RegisteredBuffer held = engine.register(region.memory(), BufferOptions.DEFAULT).orThrow();
        coverage.expect(engine.free(region), TransferCode.ERR_BATCH_BUSY);
        assertThat(engine.unregister(List.of(buffer, held)).isOk()).isTrue();
        assertThat(engine.free(region).isOk()).isTrue();
        SegmentHandle mute = engine.openSegment(add(TransferStandIn.mute()).name()).orThrow();
        try (Batch batch = engine.allocateBatch(1).orThrow()) {
            assertThat(batch.submit(List.of(read(mute, 4096, 8))).isOk()).isTrue();
            coverage.expect(batch.free(), TransferCode.ERR_BATCH_BUSY);
            assertThat(batch.cancel().isOk()).isTrue();
            assertThat(batch.free().isOk()).isTrue();
        }
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_BATCH_CLEANUP_DEFERRED,
            scenario = "A batch is let go while its peer has not answered.")
    void batch_let_go_while_it_runs(Coverage coverage) throws Exception {
        TransferEngine engine = start();
        SegmentHandle mute = engine.openSegment(add(TransferStandIn.mute()).name()).orThrow();
        Batch batch = engine.allocateBatch(2).orThrow();
        assertThat(batch.submit(List.of(read(mute, 4096, 8), read(mute, 4096, 8))).isOk()).isTrue();
        coverage.expect(batch.freeDeferred(), TransferCode.ERR_BATCH_CLEANUP_DEFERRED);
        assertThat(batch.await(DEADLINE)).isTrue();
        assertThat(batch.status().state()).isEqualTo(TransferState.CANCELED);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_DEVICE_NOT_FOUND,
            scenario =
                    "An engine is started for protocol rdma on a host without such a device; memory"
                            + " is registered at an accelerator that the host does not have.")
    void device_that_is_not_there(Coverage coverage) {
        coverage.expect(
                starting(
                        config().withNetwork(
                                        TransferConfig.Network.DEFAULT
                                                .withProtocol(TransferConfig.Protocol.RDMA)
                                                .withDevices(DeviceFilter.parse("absent_0")))),
                TransferCode.ERR_DEVICE_NOT_FOUND);
        coverage.expect(
                start().register(arena.allocate(64), new BufferOptions("npu:4095", true, true)),
                TransferCode.ERR_DEVICE_NOT_FOUND);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_ADDRESS_OVERLAPPED,
            scenario =
                    "Memory is registered that is registered in part; a batch of registrations"
                            + " holds the same bytes twice.")
    void memory_registered_twice(Coverage coverage) {
        TransferEngine engine = start();
        MemorySegment memory = arena.allocate(4096);
        assertThat(engine.register(memory.asSlice(0, 1000), BufferOptions.DEFAULT).isOk()).isTrue();
        coverage.expect(
                engine.register(memory.asSlice(999, 10), BufferOptions.DEFAULT),
                TransferCode.ERR_ADDRESS_OVERLAPPED);
        coverage.expect(
                engine.register(
                        List.of(memory.asSlice(2000, 100), memory.asSlice(2050, 100)),
                        BufferOptions.DEFAULT),
                TransferCode.ERR_ADDRESS_OVERLAPPED);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_DNS,
            scenario = "A peer, or the engine itself, has a host name that does not resolve.")
    void name_that_does_not_resolve(Coverage coverage) {
        coverage.expect(start().openSegment("no-such-host.invalid:15000"), TransferCode.ERR_DNS);
        coverage.expect(starting(TransferConfig.p2p("no-such-host.invalid")), TransferCode.ERR_DNS);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_SOCKET,
            scenario =
                    "A segment is opened at a port where nobody listens; a peer ends after its"
                            + " segment was opened; a peer does not answer within the deadline.")
    void peer_that_is_not_there_or_silent(Coverage coverage) throws Exception {
        TransferEngine engine = start();
        coverage.expect(engine.openSegment("127.0.0.1:" + freePort()), TransferCode.ERR_SOCKET);
        TransferEngine target = start();
        RegisteredBuffer buffer = offer(target, 64);
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        target.close();
        coverage.expect(run(engine, read(handle, buffer.address(), 8)), TransferCode.ERR_SOCKET);
        SegmentHandle mute = engine.openSegment(add(TransferStandIn.mute()).name()).orThrow();
        coverage.expect(
                engine.transfer(List.of(read(mute, 4096, 8)), SHORT).getFirst(),
                TransferCode.ERR_SOCKET);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_MALFORMED_JSON,
            scenario = "The peer's handshake port answers a text that is cut off.")
    void answer_that_is_no_json(Coverage coverage) throws Exception {
        TransferStandIn peer = add(TransferStandIn.mute());
        peer.answer("{\"name\":\"127.0.0.1");
        coverage.expect(start().openSegment(peer.name()), TransferCode.ERR_MALFORMED_JSON);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_REJECT_HANDSHAKE,
            scenario =
                    "A plain engine asks one in secure mode, and the other way round; an engine"
                            + " comes with another cluster's token; an engine asks one that serves"
                            + " peers of another network alone.")
    void peer_that_says_no(Coverage coverage, @TempDir Path directory) throws Exception {
        Path keys = KeyFiles.make(directory, "member", "ip:127.0.0.1");
        TransferEngine secure = start(config().withSecurity(mutual(keys, "token of this cluster")));
        TransferEngine plain = start();
        TransferEngine other = start(config().withSecurity(mutual(keys, "token of another one")));
        TransferCode code = TransferCode.ERR_REJECT_HANDSHAKE;
        coverage.expect(plain.openSegment(secure.localName()), code);
        coverage.expect(plain.probe(secure.localName()), code);
        coverage.expect(secure.openSegment(plain.localName()), code);
        coverage.expect(other.openSegment(secure.localName()), code);
        TransferEngine elsewhere =
                start(
                        config().withNetwork(
                                        TransferConfig.Network.DEFAULT.withPeers(
                                                PeerFilter.parse("10.20.0.0/16"))));
        coverage.expect(plain.openSegment(elsewhere.localName()), code);
        coverage.expect(
                plain.sendNotification(elsewhere.localName(), new Notification("me", "hi")), code);
        TransferStandIn known = add(TransferStandIn.mute());
        known.answer(known.descriptor("tcp", elsewhere.dataPort()));
        SegmentHandle handle = plain.openSegment(known.name()).orThrow();
        coverage.expect(run(plain, read(handle, 4096, 8)), code);
    }

    private static Security mutual(Path keys, String token) {
        return Security.mutual(keys, keys, KeyFiles.PASSWORD, token);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_METADATA,
            scenario =
                    "An engine is started while its metadata server is down; a segment is opened"
                            + " that nobody published; memory is registered when it cannot be"
                            + " published.")
    void metadata_that_cannot_be_had(Coverage coverage) throws Exception {
        TransferCode code = TransferCode.ERR_METADATA;
        coverage.expect(
                starting(
                        TransferConfig.of(
                                "http://127.0.0.1:" + freePort() + "/metadata", "127.0.0.1")),
                code);
        HttpMetadataServer server =
                HttpMetadataServer.start("127.0.0.1", 0, Clock.system(), new SimpleMeterRegistry())
                        .orThrow();
        open.add(server);
        TransferEngine engine = start(TransferConfig.of(server.uri(), "127.0.0.1"));
        coverage.expect(engine.openSegment("nobody"), code);
        server.close();
        coverage.expect(engine.register(arena.allocate(64), BufferOptions.DEFAULT), code);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_ENDPOINT,
            scenario =
                    "What listens on the peer's data port speaks another protocol; a segment is"
                            + " closed while transfers to it run.")
    void endpoint_that_cannot_be_used(Coverage coverage) throws Exception {
        TransferEngine engine = start();
        TransferStandIn web =
                add(
                        new TransferStandIn(
                                socket -> {
                                    socket.getOutputStream()
                                            .write(
                                                    "HTTP/1.1 400 Bad Request\r\n\r\n"
                                                            .getBytes(StandardCharsets.US_ASCII));
                                    while (socket.getInputStream().read() >= 0) {
                                        // Until the engine has had enough.
                                    }
                                }));
        SegmentHandle strange = engine.openSegment(web.name()).orThrow();
        coverage.expect(run(engine, read(strange, 4096, 8)), TransferCode.ERR_ENDPOINT);
        SegmentHandle mute = engine.openSegment(add(TransferStandIn.mute()).name()).orThrow();
        try (Batch batch = engine.allocateBatch(1).orThrow()) {
            assertThat(batch.submit(List.of(read(mute, 4096, 8))).isOk()).isTrue();
            assertThat(engine.closeSegment(mute).isOk()).isTrue();
            assertThat(batch.await(DEADLINE)).isTrue();
            coverage.expect(
                    batch.status(0).orThrow().failure().orElseThrow(), TransferCode.ERR_ENDPOINT);
        }
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_CONTEXT,
            scenario =
                    "The configured data port belongs to another process; the key file of the"
                            + " secure mode is missing; a closed engine is used.")
    void engine_that_cannot_work_on_this_host(Coverage coverage, @TempDir Path directory)
            throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            coverage.expect(
                    starting(config().withPorts(0, taken.getLocalPort())),
                    TransferCode.ERR_CONTEXT);
        }
        coverage.expect(
                starting(
                        config().withSecurity(
                                        mutual(
                                                directory.resolve("absent.p12"),
                                                "a token that is long enough"))),
                TransferCode.ERR_CONTEXT);
        TransferEngine engine = start();
        engine.close();
        coverage.expect(engine.allocate(64), TransferCode.ERR_CONTEXT);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_NUMA,
            scenario = "Memory is asked for on a NUMA node that the machine does not have.")
    void memory_on_a_node_that_is_not_there(Coverage coverage) {
        coverage.expect(start().allocate(1 << 16, "cpu:4095"), TransferCode.ERR_NUMA);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_CLOCK,
            scenario =
                    "The clock that an engine is to live by cannot be read, or was never set; the"
                            + " time to wait for a batch, or for fragments, is over before they"
                            + " end.")
    void time_that_cannot_be_told_or_is_over(Coverage coverage, @TempDir Path devices)
            throws Exception {
        coverage.expect(starting(clock(devices.resolve("ptp0"))), TransferCode.ERR_CLOCK);
        Path unset = Files.writeString(devices.resolve("rtc0"), "315532800000");
        coverage.expect(starting(clock(unset)), TransferCode.ERR_CLOCK);
        TransferEngine engine = start();
        TransferStandIn peer = add(TransferStandIn.mute());
        SegmentHandle mute = engine.openSegment(peer.name()).orThrow();
        try (Batch batch = engine.allocateBatch(1).orThrow()) {
            assertThat(batch.submit(List.of(read(mute, 4096, 8))).isOk()).isTrue();
            coverage.expect(batch.join(SHORT), TransferCode.ERR_CLOCK);
        }
        ScatterRange range =
                new ScatterRange(
                        Opcode.READ,
                        peer.name(),
                        4096,
                        16,
                        arena.allocate(16),
                        List.of(new ScatterRange.Fragment(0, 0, 8)));
        try (ScatterOperation operation =
                engine.submitScatter(List.of(range), Duration.ofMillis(500)).orThrow()) {
            coverage.expect(operation.await(SHORT), TransferCode.ERR_CLOCK);
        }
    }

    private static Outcome<TransferEngine> starting(Clock clock) {
        return TransferEngine.start(config(), clock, new SimpleMeterRegistry());
    }

    /** A clock that stands in a file, as those of the kernel's devices do, in milliseconds. */
    private static Clock clock(Path device) {
        return new Clock() {
            @Override
            public long nanos() {
                return epochMillis() * 1_000_000;
            }

            @Override
            public long epochMillis() {
                try {
                    return Long.parseLong(Files.readString(device));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_MEMORY,
            scenario = "A region is asked for that is larger than the machine's memory.")
    void more_memory_than_there_is(Coverage coverage) {
        coverage.expect(start().allocate(1L << 50), TransferCode.ERR_MEMORY);
    }

    @Test
    @Covers(
            transfer = TransferCode.ERR_NOT_IMPLEMENTED,
            scenario = "A segment is opened that its owner publishes for rdma alone.")
    void segment_of_another_transport(Coverage coverage) throws Exception {
        TransferStandIn peer = add(TransferStandIn.mute());
        peer.answer(peer.descriptor("rdma"));
        coverage.expect(start().openSegment(peer.name()), TransferCode.ERR_NOT_IMPLEMENTED);
    }
}
