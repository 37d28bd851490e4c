package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Engines in two processes of this host, one of which dies, stops, lies or is kept out. */
final class SameHostFailuresTest {
    private static final TransferConfig CONFIG = TransferConfig.p2p("127.0.0.1");

    private static TransferEngine engine(Duration drain, SimpleMeterRegistry meters) {
        return TransferEngine.start(
                        CONFIG.withTimeouts(TransferConfig.Timeouts.DEFAULT.withDrain(drain)),
                        Clock.system(),
                        meters)
                .orThrow();
    }

    private static Outcome<Done> read(
            TransferEngine engine, String name, MemorySegment to, long at) {
        SegmentHandle handle = engine.openSegment(name).orThrow();
        return engine.transfer(
                        List.of(new TransferRequest(Opcode.READ, to, handle, at)), Peers.DEADLINE)
                .getFirst();
    }

    /** Files in shared memory, by the process that a name tells. */
    private static Set<String> sharedFiles() {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return new TreeSet<>(
                    files.map(file -> file.getFileName().toString())
                            .filter(name -> name.startsWith("cassia-"))
                            .toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> mappings(String name) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(name)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long processDescriptors() {
        try (Stream<Path> links = Files.list(Path.of("/proc/self/fd"))) {
            return links.filter(SameHostFailuresTest::isProcessDescriptor).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isProcessDescriptor(Path link) {
        try {
            return Files.readSymbolicLink(link).toString().contains("pidfd");
        } catch (IOException e) {
            // That of the directory stream itself is gone by now.
            return false;
        }
    }

    /** The prefix of the names of a process's files. */
    private static String token(HostPeerProcess peer) throws IOException {
        String access = hostAccess(peer);
        int from = access.indexOf("cassia-");
        return access.substring(from, access.indexOf('-', from + "cassia-".length()) + 1);
    }

    @Test
    void no_byte_moves_in_memory_that_is_not_registered() throws Exception {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (HostPeerProcess peer = HostPeerProcess.start();
                TransferEngine owner = engine(Duration.ofSeconds(5), meters);
                Arena arena = Arena.ofShared()) {
            List<MemorySegment> both =
                    List.of(
                            owner.allocate(256 << 10).orThrow().memory(),
                            arena.allocate(256 << 10, 4096));
            for (MemorySegment memory : both) {
                assertThat(
                                peer.tell(
                                        "loop",
                                        owner.localName(),
                                        memory.address(),
                                        memory.byteSize(),
                                        memory.byteSize() / 4))
                        .isEqualTo("running");
            }
            long completed = 0;
            long end = System.nanoTime() + Duration.ofMillis(1500).toNanos();
            while (System.nanoTime() < end || completed < 100) {
                for (MemorySegment memory : both) {
                    memory.fill((byte) 5);
                    RegisteredBuffer buffer =
                            owner.register(memory, BufferOptions.DEFAULT).orThrow();
                    completed = Long.parseLong(peer.tell("loops").split(" ", 2)[0]);
                    assertThat(owner.unregister(buffer).isOk()).isTrue();
                    assertThat(buffer.state()).isEqualTo(RegisteredBuffer.State.CLOSED);
                    memory.fill((byte) 99);
                    assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(99);
                }
            }
            assertThat(peer.tell("loops")).endsWith(" []");
            assertThat(peer.tell("routes"))
                    .contains("shm/preferred", "process-vm/foreign-memory")
                    .doesNotContain("tcp", "uds");
        }
    }

    /** Stops a peer until it stands in the middle of a copy, which unregister then waits for. */
    private static CompletableFuture<Outcome<Done>> unregisterUnderStoppedCopy(
            TransferEngine owner, HostPeerProcess peer, MemorySegment memory) throws Exception {
        for (int i = 0; i < 100; i++) {
            RegisteredBuffer buffer = owner.register(memory, BufferOptions.DEFAULT).orThrow();
            long before = Long.parseLong(peer.tell("loops").split(" ", 2)[0]);
            Peers.eventually(
                    "a copy", () -> Long.parseLong(peer.tell("loops").split(" ", 2)[0]) > before);
            peer.signal("STOP");
            CompletableFuture<Outcome<Done>> done =
                    CompletableFuture.supplyAsync(() -> owner.unregister(buffer));
            try {
                assertThat(done.get(200, TimeUnit.MILLISECONDS).isOk()).isTrue();
            } catch (java.util.concurrent.TimeoutException e) {
                assertThat(buffer.state()).isEqualTo(RegisteredBuffer.State.DRAINING);
                return done;
            }
            // It stood between two copies.
            peer.signal("CONT");
        }
        throw new AssertionError("the peer never stood in a copy");
    }

    @Test
    void a_peer_that_is_killed_in_a_copy_leaves_nothing_to_wait_for() throws Exception {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (HostPeerProcess peer = HostPeerProcess.start();
                TransferEngine owner = engine(Duration.ofSeconds(60), meters)) {
            Region region = owner.allocate(64 << 20).orThrow();
            region.memory().fill((byte) 5);
            long size = region.lengthBytes();
            assertThat(peer.tell("press", owner.localName(), region.memory().address(), size))
                    .isEqualTo("running");
            CompletableFuture<Outcome<Done>> unregistered =
                    unregisterUnderStoppedCopy(owner, peer, region.memory());
            assertThat(owner.free(region))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed ->
                                    assertThat(failed.code())
                                            .isEqualTo(TransferCode.ERR_BATCH_BUSY));
            peer.kill();
            assertThat(unregistered.get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.done());
            assertThat(owner.free(region).isOk()).isTrue();
        }
    }

    @Test
    void a_copy_that_outlasts_the_drain_time_stops_at_its_next_step() throws Exception {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (HostPeerProcess peer = HostPeerProcess.start();
                TransferEngine owner = engine(Duration.ofMillis(1), meters)) {
            MemorySegment memory = owner.allocate(128 << 20).orThrow().memory();
            memory.fill((byte) 5);
            assertThat(peer.tell("press", owner.localName(), memory.address(), memory.byteSize()))
                    .isEqualTo("running");
            String loops = "";
            for (int i = 0; i < 20 && !loops.contains("before the copy had ended"); i++) {
                CompletableFuture<Outcome<Done>> unregistered =
                        unregisterUnderStoppedCopy(owner, peer, memory);
                peer.signal("CONT");
                assertThat(unregistered.get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.done());
                loops = peer.tell("loops");
            }
            assertThat(loops)
                    .contains("ERR_ADDRESS_NOT_REGISTERED/", "before the copy had ended")
                    .endsWith(" []");
        }
    }

    @Test
    void a_killed_owner_is_noticed_and_its_successor_found_on_the_same_ports() throws Exception {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        int rpcPort;
        int dataPort;
        try (TransferEngine initiator = engine(Duration.ofSeconds(5), meters);
                Arena arena = Arena.ofShared()) {
            MemorySegment local = arena.allocate(100_000);
            String name;
            try (HostPeerProcess first = HostPeerProcess.start()) {
                name = first.name();
                rpcPort = first.rpcPort();
                dataPort = first.dataPort();
                long address = first.ask("region", 100_000, 1);
                assertThat(read(initiator, name, local, address)).isEqualTo(Outcome.done());
                String token = token(first);
                assertThat(mappings(token)).hasSize(2);
                first.kill();
                // Without any request: the memory of the dead must not stay with the host.
                Peers.eventually("unmapped", () -> mappings(token).isEmpty());
                assertThat(read(initiator, name, local, address))
                        .isInstanceOfSatisfying(
                                Outcome.Failed.class,
                                failed ->
                                        assertThat(failed.code())
                                                .isEqualTo(TransferCode.ERR_SOCKET));
                assertThat(sharedFiles()).anyMatch(file -> file.startsWith(token));
                try (HostPeerProcess second =
                        HostPeerProcess.start(HostPeerProcess.ALL, rpcPort, dataPort)) {
                    // It has swept up after its predecessor.
                    assertThat(sharedFiles()).noneMatch(file -> file.startsWith(token));
                    assertThat(second.name()).isEqualTo(name);
                    long again = second.ask("region", 100_000, 2);
                    assertThat(read(initiator, name, local, again)).isEqualTo(Outcome.done());
                    assertThat(second.ask("crc", again, 0, 100_000)).isEqualTo(Peers.crc(local));
                    assertThat(HostPeer.routes(meters)).containsEntry("shm/preferred", 2L);
                    // Killed and replaced between two requests, without a word.
                    second.kill();
                    try (HostPeerProcess third =
                            HostPeerProcess.start(HostPeerProcess.ALL, rpcPort, dataPort)) {
                        long last = third.ask("region", 100_000, 3);
                        assertThat(read(initiator, name, local, last)).isEqualTo(Outcome.done());
                        assertThat(third.ask("crc", last, 0, 100_000)).isEqualTo(Peers.crc(local));
                        assertThat(HostPeer.routes(meters)).containsEntry("shm/preferred", 3L);
                    }
                }
            }
        }
    }

    @Test
    void an_orderly_end_leaves_no_file_mapping_or_descriptor_at_either_side() throws Exception {
        long descriptors = processDescriptors();
        try (HostPeerProcess peer = HostPeerProcess.start()) {
            String token = token(peer);
            SimpleMeterRegistry meters = new SimpleMeterRegistry();
            try (TransferEngine initiator = engine(Duration.ofSeconds(5), meters);
                    Arena arena = Arena.ofShared()) {
                MemorySegment local = arena.allocate(5000);
                long kept = peer.ask("region", 5000, 1);
                long freed = peer.ask("region", 5000, 2);
                assertThat(read(initiator, peer.name(), local, kept).isOk()).isTrue();
                assertThat(read(initiator, peer.name(), local, freed).isOk()).isTrue();
                assertThat(mappings(token)).hasSize(3);
                assertThat(processDescriptors()).isEqualTo(descriptors + 1);
                // A region that is registered no more is let go of, also by who does nothing.
                assertThat(peer.tell("unregister", freed)).contains("Ok");
                Peers.eventually("unmapped", () -> mappings(token).size() == 2);
            }
            assertThat(mappings(token)).isEmpty();
            assertThat(processDescriptors()).isEqualTo(descriptors);
            assertThat(peer.tell("close")).isEqualTo("closed");
            assertThat(sharedFiles()).noneMatch(file -> file.startsWith(token));
        }
    }

    @Test
    void a_descriptor_that_others_have_made_leads_only_over_tcp() throws Exception {
        try (HostPeerProcess peer = HostPeerProcess.start();
                PeerStandIn liar = new PeerStandIn(2, PeerStandIn.Connection::answerAll);
                Arena arena = Arena.ofShared()) {
            long region = peer.ask("region", 4096, 1);
            String plain = liar.descriptor("tcp", liar.dataPort(), 2).strip();
            String access = hostAccess(peer);
            // All that a stranger can know: what the peer tells everybody.
            String stolen = plain.replace("\"buffers\"", access + ",\"buffers\"");
            assertCarried(stolen, liar, arena, "tcp/unproven");
            String path = stolen.replaceFirst("\"control\":\"[^\"]*\"", "\"control\":\"../etc/x\"");
            assertCarried(path, liar, arena, "tcp/unproven");
            String absent =
                    stolen.replaceFirst("\"control\":\"[^\"]*\"", "\"control\":\"cassia-1-1\"");
            assertCarried(absent, liar, arena, "tcp/no-access");
            String elsewhere = stolen.replaceFirst("\"boot\":\"[^\"]*\"", "\"boot\":\"another\"");
            assertCarried(elsewhere, liar, arena, "tcp/other-host");
            String other = stolen.replaceFirst("\"user\":\\d+", "\"user\":4711");
            assertCarried(other, liar, arena, "tcp/other-user");
            assertCarried(
                    stolen.replaceFirst("\"transports\":\\[[^]]*]", "\"transports\":[\"rdma\"]"),
                    liar,
                    arena,
                    "tcp/not-offered");
            // The peer's memory was not touched in all this.
            MemorySegment expected = arena.allocate(4096);
            Peers.fill(expected, 1);
            assertThat(peer.ask("crc", region, 0, 4096)).isEqualTo(Peers.crc(expected));
        }
    }

    /** What a peer's descriptor says about its host, as it stands there. */
    private static String hostAccess(HostPeerProcess peer) throws IOException {
        try (RawClient client = new RawClient(peer.rpcPort())) {
            client.send(RawClient.hex("0400000000000000017b7d0a"));
            String text = new String(client.receiveAll(), StandardCharsets.UTF_8);
            int from = text.indexOf("\"cassia_host\"");
            return text.substring(from, text.indexOf('}', from) + 1);
        }
    }

    private static void assertCarried(
            String descriptor, PeerStandIn liar, Arena arena, String route) {
        liar.answer(descriptor + "\n");
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (TransferEngine initiator = engine(Duration.ofSeconds(5), meters)) {
            MemorySegment local = arena.allocate(100);
            assertThat(read(initiator, liar.name(), local, PeerStandIn.BASE))
                    .isEqualTo(Outcome.done());
            assertThat(local.asByteBuffer())
                    .isEqualTo(java.nio.ByteBuffer.wrap(liar.memory, 0, 100));
            assertThat(HostPeer.routes(meters)).containsOnlyKeys(route);
            RouteReport report = initiator.routes().getFirst();
            assertThat(report.segment()).isEqualTo(liar.name());
            assertThat(report.preferred()).contains(Transport.TCP);
            assertThat(report.ways().get(1).reason())
                    .startsWith(route.substring(route.indexOf('/') + 1));
        }
    }

    @Test
    void what_the_kernel_refuses_goes_another_way_and_is_not_asked_again() throws Exception {
        assumeThat(System.getProperty("user.name")).as("drops a privilege").isEqualTo("root");
        Path setpriv = Path.of("/usr/bin/setpriv");
        assumeThat(Files.isExecutable(setpriv)).as("setpriv").isTrue();
        List<String> without = List.of(setpriv.toString(), "--bounding-set", "-sys_ptrace");
        Set<Transport> transports = EnumSet.of(Transport.PROCESS_VM, Transport.TCP);
        try (HostPeerProcess peer = HostPeerProcess.start(without, transports, 0, 0);
                TransferEngine owner = engine(Duration.ofSeconds(5), new SimpleMeterRegistry());
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(10_000);
            Peers.fill(memory, 3);
            RegisteredBuffer buffer = owner.register(memory, BufferOptions.DEFAULT).orThrow();
            for (int i = 0; i < 3; i++) {
                assertThat(
                                peer.tell(
                                        "move",
                                        "READ",
                                        owner.localName(),
                                        buffer.address(),
                                        10_000,
                                        0))
                        .isEqualTo("ok " + Peers.crc(memory));
            }
            assertThat(peer.tell("routes")).isEqualTo("{tcp/kernel-refused=3}");
            assertThat(peer.tell("report"))
                    .contains("transport=PROCESS_VM, usable=false, reason=kernel-refused: errno 1");
            assertThat(owner.unregister(buffer).isOk()).isTrue();
        }
    }

    @Test
    void a_process_whose_end_could_not_be_seen_is_met_at_its_socket() throws Exception {
        assumeThat(System.getProperty("user.name")).as("makes a namespace").isEqualTo("root");
        Path unshare = Path.of("/usr/bin/unshare");
        assumeThat(Files.isExecutable(unshare)).as("unshare").isTrue();
        List<String> inside = List.of(unshare.toString(), "--pid", "--fork", "--mount-proc");
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (HostPeerProcess peer = HostPeerProcess.start(inside, HostPeerProcess.ALL, 0, 0);
                TransferEngine initiator = engine(Duration.ofSeconds(5), meters);
                Arena arena = Arena.ofShared()) {
            long region = peer.ask("region", 10_000, 1);
            MemorySegment local = arena.allocate(10_000);
            assertThat(read(initiator, peer.name(), local, region)).isEqualTo(Outcome.done());
            assertThat(peer.ask("crc", region, 0, 10_000)).isEqualTo(Peers.crc(local));
            assertThat(HostPeer.routes(meters)).containsOnlyKeys("uds/other-pid-namespace");
            assertThat(initiator.routes().getFirst().preferred()).contains(Transport.UDS);
        }
    }

    @Test
    void a_socket_that_is_gone_leaves_tcp() throws Exception {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        TransferConfig sockets = CONFIG.withTransports(EnumSet.of(Transport.UDS, Transport.TCP));
        try (HostPeerProcess peer = HostPeerProcess.start();
                TransferEngine initiator =
                        TransferEngine.start(sockets, Clock.system(), meters).orThrow();
                Arena arena = Arena.ofShared()) {
            long region = peer.ask("region", 10_000, 1);
            MemorySegment local = arena.allocate(10_000);
            assertThat(initiator.openSegment(peer.name()).isOk()).isTrue();
            String token = token(peer);
            for (String file : sharedFiles()) {
                if (file.startsWith(token) && file.endsWith(".d")) {
                    Files.delete(Path.of("/dev/shm", file, "data.sock"));
                }
            }
            for (int i = 0; i < 2; i++) {
                assertThat(read(initiator, peer.name(), local, region)).isEqualTo(Outcome.done());
            }
            assertThat(HostPeer.routes(meters))
                    .isEqualTo(Map.of("uds/not-allowed", 1L, "tcp/socket-lost", 2L));
            assertThat(initiator.routes().getFirst().preferred()).contains(Transport.TCP);
        }
    }
}
