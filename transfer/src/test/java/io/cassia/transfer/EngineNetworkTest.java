package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Ports, addresses and connections of engines. */
final class EngineNetworkTest {
    private final List<AutoCloseable> open = new ArrayList<>();
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
        arena.close();
    }

    /** The machine's time, and what a test adds to it. Guarded: atomic. */
    private static final class LeapingClock implements Clock {
        private final AtomicLong ahead = new AtomicLong();

        @Override
        public long nanos() {
            return System.nanoTime() + ahead.get();
        }

        @Override
        public long epochMillis() {
            return System.currentTimeMillis() + ahead.get() / 1_000_000;
        }

        void leap(Duration time) {
            ahead.addAndGet(time.toNanos());
        }
    }

    @Test
    void a_lane_that_was_idle_for_minutes_is_replaced_without_a_failure() throws IOException {
        LeapingClock clock = new LeapingClock();
        // A middle box forgets the first connection: what is sent on it is swallowed.
        AtomicInteger swallowed = new AtomicInteger();
        try (PeerStandIn peer =
                        new PeerStandIn(
                                2,
                                connection -> {
                                    if (connection.number > 0) {
                                        connection.answerAll();
                                        return;
                                    }
                                    boolean _ = connection.answerOne();
                                    PeerStandIn.Request _ = connection.request();
                                    swallowed.incrementAndGet();
                                    connection.awaitEnd();
                                });
                TransferEngine engine =
                        TransferEngine.start(Peers.overTcp(), clock, new SimpleMeterRegistry())
                                .orThrow()) {
            SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
            TransferRequest read =
                    new TransferRequest(Opcode.READ, arena.allocate(64), handle, PeerStandIn.BASE);
            assertThat(engine.transfer(List.of(read), Peers.DEADLINE)).allMatch(Outcome::isOk);
            clock.leap(Duration.ofMinutes(10));
            assertThat(engine.transfer(List.of(read), Peers.DEADLINE)).allMatch(Outcome::isOk);
            assertThat(peer.connections()).isEqualTo(2);
            assertThat(swallowed).hasValue(0);
        }
    }

    @Test
    void lanes_that_are_idle_for_minutes_are_closed_though_nobody_asks_for_them()
            throws IOException, InterruptedException {
        LeapingClock clock = new LeapingClock();
        CountDownLatch ended = new CountDownLatch(1);
        try (PeerStandIn peer =
                        new PeerStandIn(
                                2,
                                connection -> {
                                    connection.answerAll();
                                    ended.countDown();
                                });
                TransferEngine engine =
                        TransferEngine.start(Peers.overTcp(), clock, new SimpleMeterRegistry())
                                .orThrow()) {
            SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
            TransferRequest read =
                    new TransferRequest(Opcode.READ, arena.allocate(64), handle, PeerStandIn.BASE);
            assertThat(engine.transfer(List.of(read), Peers.DEADLINE)).allMatch(Outcome::isOk);
            clock.leap(Duration.ofMinutes(4));
            engine.dropStaleLanes();
            assertThat(engine.links().peers().getFirst().idle()).isEqualTo(1);
            clock.leap(Duration.ofMinutes(2));
            engine.dropStaleLanes();
            assertThat(engine.links().peers().getFirst().idle()).isZero();
            assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(engine.transfer(List.of(read), Peers.DEADLINE)).allMatch(Outcome::isOk);
        }
    }

    @Test
    void idle_lanes_are_looked_for_until_the_engine_ends() throws InterruptedException {
        CountDownLatch sweeps = new CountDownLatch(3);
        try (IdleLanes lanes = new IdleLanes(sweeps::countDown, Duration.ofMillis(1))) {
            assertThat(sweeps.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(lanes).isNotNull();
        }
    }

    @RepeatedTest(20)
    void a_server_that_closed_its_idle_connections_is_connected_again_without_a_failure()
            throws IOException {
        List<PeerStandIn.Connection> connections = new ArrayList<>();
        try (PeerStandIn peer =
                        new PeerStandIn(
                                2,
                                connection -> {
                                    synchronized (connections) {
                                        connections.add(connection);
                                    }
                                    connection.answerAll();
                                });
                TransferEngine engine = Peers.engine(Peers.overTcp())) {
            SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
            for (Opcode opcode : List.of(Opcode.READ, Opcode.WRITE, Opcode.READ)) {
                TransferRequest request =
                        new TransferRequest(opcode, arena.allocate(64), handle, PeerStandIn.BASE);
                try (Batch batch = engine.allocateBatch(100).orThrow()) {
                    assertThat(batch.submit(java.util.Collections.nCopies(100, request)).isOk())
                            .isTrue();
                    assertThat(batch.await(Peers.DEADLINE)).isTrue();
                    for (int task = 0; task < 100; task++) {
                        assertThat(batch.status(task).orThrow().failure()).isEmpty();
                    }
                }
                synchronized (connections) {
                    for (PeerStandIn.Connection connection : connections) {
                        connection.socket.close();
                    }
                }
            }
            assertThat(peer.connections()).isGreaterThanOrEqualTo(3);
        }
    }

    @Test
    void engines_started_at_once_have_ports_of_their_own() throws Exception {
        int engines = 64;
        Set<Integer> ports = new HashSet<>();
        Set<String> names = new HashSet<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<TransferEngine>> starting = new ArrayList<>();
            for (int i = 0; i < engines; i++) {
                starting.add(threads.submit(() -> Peers.engine(Peers.overTcp())));
            }
            for (Future<TransferEngine> future : starting) {
                TransferEngine engine = future.get();
                open.add(engine);
                ports.add(engine.rpcPort());
                ports.add(engine.dataPort());
                names.add(engine.localName());
            }
        }
        assertThat(names).hasSize(engines);
        assertThat(ports)
                .hasSize(2 * engines)
                .allSatisfy(port -> assertThat(port).isBetween(15000, 17000));
        TransferEngine first = (TransferEngine) open.getFirst();
        for (AutoCloseable engine : open) {
            assertThat(first.probe(((TransferEngine) engine).localName()).isOk()).isTrue();
        }
    }

    @Test
    void an_ipv6_literal_is_a_name_like_any_other() throws Exception {
        assumeTrue(isUsable(InetAddress.ofLiteral("::1")), "this host has no IPv6");
        String name = movesBytes("::1");
        assertThat(name).startsWith("[::1]:");
    }

    @Test
    void an_address_with_a_zone_is_reached_through_its_interface() throws Exception {
        Optional<Inet6Address> linkLocal =
                NetworkInterface.networkInterfaces()
                        .flatMap(NetworkInterface::inetAddresses)
                        .filter(address -> address instanceof Inet6Address)
                        .map(Inet6Address.class::cast)
                        .filter(address -> address.isLinkLocalAddress() && isUsable(address))
                        .findFirst();
        assumeTrue(linkLocal.isPresent(), "this host has no link-local address");
        String host = linkLocal.orElseThrow().getHostAddress();
        assertThat(host).contains("%");
        assertThat(movesBytes(host)).startsWith("[" + host + "]:");
    }

    private static boolean isUsable(InetAddress address) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(address, 0));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** The name of the peer. */
    private String movesBytes(String host) {
        TransferConfig config = TransferConfig.p2p(host).withLocalCopies(false);
        TransferEngine target = Peers.engine(config);
        open.add(target);
        TransferEngine engine = Peers.engine(config);
        open.add(engine);
        RegisteredBuffer buffer =
                target.register(target.allocate(64).orThrow().memory(), BufferOptions.DEFAULT)
                        .orThrow();
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        MemorySegment local = arena.allocate(64).fill((byte) 9);
        Outcome<Done> moved =
                engine.transfer(
                                List.of(
                                        new TransferRequest(
                                                Opcode.WRITE, local, handle, buffer.address())),
                                Peers.DEADLINE)
                        .getFirst();
        assertThat(moved).isEqualTo(Outcome.done());
        assertThat(buffer.memory().mismatch(local)).isEqualTo(-1);
        assertThat(engine.probe(handle).isOk()).isTrue();
        return target.localName();
    }
}
