package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Engines in two processes of this host: which transport carries what, and that it arrives. */
final class SameHostTest {
    private static HostPeerProcess peer;

    @BeforeAll
    static void start() throws IOException {
        peer = HostPeerProcess.start();
    }

    @AfterAll
    static void stop() {
        peer.close();
    }

    /** An engine of this process that may use some transports, and what it counts. */
    private record Initiator(TransferEngine engine, SimpleMeterRegistry meters)
            implements AutoCloseable {
        static Initiator with(Set<Transport> transports) {
            SimpleMeterRegistry meters = new SimpleMeterRegistry();
            return new Initiator(
                    TransferEngine.start(
                                    TransferConfig.p2p("127.0.0.1").withTransports(transports),
                                    Clock.system(),
                                    meters)
                            .orThrow(),
                    meters);
        }

        Outcome<Done> move(Opcode opcode, MemorySegment local, long address) {
            SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
            return engine.transfer(
                            List.of(new TransferRequest(opcode, local, handle, address)),
                            Peers.DEADLINE)
                    .getFirst();
        }

        @Override
        public void close() {
            engine.close();
        }
    }

    private static Set<Transport> from(Transport fastest) {
        return EnumSet.range(fastest, Transport.TCP);
    }

    private static void moveAllSizes(Set<Transport> transports, long target, String route) {
        int[] sizes = {
            1,
            7,
            8,
            63,
            64,
            65,
            511,
            4095,
            4096,
            4097,
            65535,
            65536,
            65537,
            (1 << 20) + 1,
            20_000_003
        };
        try (Initiator initiator = Initiator.with(transports);
                Arena arena = Arena.ofConfined()) {
            long moved = 0;
            for (int size : sizes) {
                for (int offset : new int[] {0, 1, 61, 4095}) {
                    MemorySegment out = arena.allocate(size + 64L).asSlice(offset % 64, size);
                    Peers.fill(out, size + offset);
                    assertThat(initiator.move(Opcode.WRITE, out, target + offset))
                            .as("WRITE of %d at %d", size, offset)
                            .isEqualTo(Outcome.done());
                    assertThat(peer.ask("crc", target, offset, size)).isEqualTo(Peers.crc(out));
                    MemorySegment back = arena.allocate(size + 64L).asSlice(offset % 61, size);
                    assertThat(initiator.move(Opcode.READ, back, target + offset))
                            .as("READ of %d at %d", size, offset)
                            .isEqualTo(Outcome.done());
                    assertThat(back.mismatch(out)).isEqualTo(-1);
                    moved += 2;
                }
            }
            assertThat(HostPeer.routes(initiator.meters())).containsOnlyKeys(route);
            assertThat(HostPeer.routes(initiator.meters())).containsEntry(route, moved);
        }
    }

    @Test
    void bytes_of_all_sizes_and_alignments_move_through_shared_memory() {
        long target = peer.ask("region", 21 << 20, 1);
        moveAllSizes(from(Transport.LOCAL), target, "shm/preferred");
    }

    @Test
    void the_kernel_moves_what_is_in_no_shared_file() {
        long target = peer.ask("foreign", 21 << 20, 1);
        moveAllSizes(from(Transport.LOCAL), target, "process-vm/foreign-memory");
    }

    @Test
    void a_socket_of_the_host_carries_the_same() {
        long target = peer.ask("region", 21 << 20, 1);
        moveAllSizes(from(Transport.UDS), target, "uds/not-allowed");
    }

    @Test
    void forced_tcp_is_tcp() {
        long target = peer.ask("region", 21 << 20, 1);
        moveAllSizes(Set.of(Transport.TCP), target, "tcp/not-allowed");
    }

    @Test
    void an_engine_that_offers_nothing_is_reached_over_tcp() throws IOException {
        try (HostPeerProcess plain = HostPeerProcess.start(Set.of(Transport.TCP), 0, 0);
                Initiator initiator = Initiator.with(HostPeerProcess.ALL);
                Arena arena = Arena.ofConfined()) {
            long target = plain.ask("region", 4096, 1);
            SegmentHandle handle = initiator.engine().openSegment(plain.name()).orThrow();
            MemorySegment local = arena.allocate(4096);
            assertThat(
                            initiator
                                    .engine()
                                    .transfer(
                                            List.of(
                                                    new TransferRequest(
                                                            Opcode.READ, local, handle, target)),
                                            Peers.DEADLINE))
                    .containsExactly(Outcome.done());
            assertThat(HostPeer.routes(initiator.meters())).containsOnlyKeys("tcp/not-offered");
            assertThat(initiator.engine().routes().getFirst().preferred()).contains(Transport.TCP);
        }
    }

    @Test
    void mixed_requests_go_each_its_way_and_in_order() {
        long region = peer.ask("region", 1 << 20, 1);
        long foreign = peer.ask("foreign", 1 << 20, 2);
        try (Initiator initiator =
                        Initiator.with(EnumSet.of(Transport.SHM, Transport.UDS, Transport.TCP));
                Arena arena = Arena.ofShared()) {
            SegmentHandle handle = initiator.engine().openSegment(peer.name()).orThrow();
            List<TransferRequest> requests = new ArrayList<>();
            Random random = new Random(3);
            MemorySegment expected = arena.allocate(1 << 20);
            for (int i = 0; i < 400; i++) {
                MemorySegment local = arena.allocate(1 + random.nextInt(4000));
                Peers.fill(local, i);
                long offset = random.nextInt(60_000);
                boolean inRegion = random.nextBoolean();
                if (inRegion) {
                    // Later ones overwrite earlier ones: only the right order gives the right
                    // bytes.
                    MemorySegment.copy(local, 0, expected, offset, local.byteSize());
                }
                requests.add(
                        new TransferRequest(
                                Opcode.WRITE,
                                local,
                                handle,
                                (inRegion ? region : foreign) + offset));
            }
            MemorySegment back = arena.allocate(64_000);
            requests.add(new TransferRequest(Opcode.READ, back, handle, region));
            assertThat(initiator.engine().transfer(requests, Peers.DEADLINE))
                    .allMatch(Outcome::isOk);
            for (TransferRequest request : requests.subList(0, 400)) {
                long offset = request.targetAddress() - region;
                if (offset >= 0 && offset < 1 << 20) {
                    assertThat(
                                    back.asSlice(offset, request.lengthBytes())
                                            .mismatch(
                                                    expected.asSlice(
                                                            offset, request.lengthBytes())))
                            .isEqualTo(-1);
                }
            }
            assertThat(HostPeer.routes(initiator.meters()))
                    .containsOnlyKeys("shm/preferred", "uds/foreign-memory");
            // The same in the background.
            Batch batch = initiator.engine().allocateBatch(requests.size()).orThrow();
            assertThat(batch.submit(requests).isOk()).isTrue();
            assertThat(batch.await(Peers.DEADLINE)).isTrue();
            assertThat(batch.status().state()).isEqualTo(TransferState.COMPLETED);
        }
    }

    @Test
    void what_the_peer_does_not_open_is_refused_as_over_tcp() {
        long readOnly = peer.ask("region", 8192, 1, "readonly");
        long foreign = peer.ask("foreign", 8192, 1);
        try (Initiator initiator = Initiator.with(HostPeerProcess.ALL);
                Arena arena = Arena.ofConfined()) {
            MemorySegment local = arena.allocate(4096);
            assertRefused(initiator.move(Opcode.WRITE, local, readOnly), "peers may not do this");
            assertThat(initiator.move(Opcode.READ, local, readOnly)).isEqualTo(Outcome.done());
            assertRefused(
                    initiator.move(Opcode.READ, local, readOnly + 4097), "no registered buffer");
            assertRefused(initiator.move(Opcode.READ, local, 4096), "no registered buffer");
            assertRefused(initiator.move(Opcode.READ, local, -1), "no registered buffer");
            assertRefused(
                    initiator.move(Opcode.WRITE, local, foreign + 8191), "no registered buffer");
            assertThat(peer.tell("unregister", readOnly)).contains("Ok");
            assertRefused(initiator.move(Opcode.READ, local, readOnly), "no registered buffer");
            // What is registered later is found all the same.
            long later = peer.ask("region", 4096, 9);
            assertThat(initiator.move(Opcode.READ, local, later)).isEqualTo(Outcome.done());
            assertThat(peer.ask("crc", later, 0, 4096)).isEqualTo(Peers.crc(local));
            // No connection was made for any of this.
            assertThat(initiator.meters().find("cassia.transfer.lane.losses").counters()).isEmpty();
        }
    }

    private static void assertRefused(Outcome<Done> outcome, String why) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> {
                            assertThat(failed.code())
                                    .isEqualTo(TransferCode.ERR_ADDRESS_NOT_REGISTERED);
                            assertThat(failed.detail()).contains(why, "on this host");
                        });
    }

    @Test
    void many_small_buffers_are_found_each() {
        int count = 2000;
        int bytes = 24;
        long base = peer.ask("pieces", count, bytes);
        try (Initiator initiator = Initiator.with(HostPeerProcess.ALL);
                Arena arena = Arena.ofConfined()) {
            SegmentHandle handle = initiator.engine().openSegment(peer.name()).orThrow();
            MemorySegment all = arena.allocate((long) count * bytes);
            List<TransferRequest> requests = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                requests.add(
                        new TransferRequest(
                                Opcode.READ,
                                all.asSlice((long) i * bytes, bytes),
                                handle,
                                base + 2L * i * bytes));
            }
            assertThat(initiator.engine().transfer(requests, Peers.DEADLINE))
                    .allMatch(Outcome::isOk);
            MemorySegment expected = arena.allocate(2L * count * bytes);
            Peers.fill(expected, 1);
            for (int i = 0; i < count; i++) {
                assertThat(
                                all.asSlice((long) i * bytes, bytes)
                                        .mismatch(expected.asSlice(2L * i * bytes, bytes)))
                        .isEqualTo(-1);
            }
            assertRefused(
                    initiator.move(Opcode.READ, all.asSlice(0, bytes), base + bytes),
                    "no registered buffer");
            assertThat(HostPeer.routes(initiator.meters()))
                    .containsEntry("shm/preferred", (long) count);
        }
    }

    @Test
    void a_process_reads_from_its_parent_just_as_well() throws IOException {
        try (TransferEngine owner = Peers.engine(TransferConfig.p2p("127.0.0.1"));
                Arena arena = Arena.ofShared()) {
            MemorySegment region = owner.allocate(100_000).orThrow().memory();
            MemorySegment foreign = arena.allocate(100_000);
            for (MemorySegment memory : List.of(region, foreign)) {
                Peers.fill(memory, 7);
                RegisteredBuffer buffer = owner.register(memory, BufferOptions.DEFAULT).orThrow();
                assertThat(
                                peer.tell(
                                        "move",
                                        "READ",
                                        owner.localName(),
                                        buffer.address(),
                                        100_000,
                                        0))
                        .isEqualTo("ok " + Peers.crc(memory));
                String written =
                        peer.tell("move", "WRITE", owner.localName(), buffer.address(), 99_999, 5);
                assertThat(written).isEqualTo("ok " + Peers.crc(memory.asSlice(0, 99_999)));
                assertThat(owner.unregister(buffer).isOk()).isTrue();
            }
        }
    }
}
