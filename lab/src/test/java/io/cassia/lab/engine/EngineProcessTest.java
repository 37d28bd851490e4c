package io.cassia.lab.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.Batch;
import io.cassia.transfer.Opcode;
import io.cassia.transfer.RemoteBuffer;
import io.cassia.transfer.SegmentHandle;
import io.cassia.transfer.TransferConfig;
import io.cassia.transfer.TransferEngine;
import io.cassia.transfer.TransferRequest;
import io.cassia.transfer.TransferState;
import io.cassia.transfer.transport.Transport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a peer's process does to those who transfer to it. */
class EngineProcessTest {
    private static final long REGION = 16L << 20;
    private static final int BLOCK = 64 << 10;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration BATCH = Duration.ofSeconds(6);

    private final Arena arena = Arena.ofShared();
    private final TransferEngine engine =
            TransferEngine.start(
                            TransferConfig.p2p("127.0.0.1").withTransports(Set.of(Transport.TCP)),
                            Clock.system(),
                            new SimpleMeterRegistry())
                    .orThrow();

    @AfterEach
    void close() {
        engine.close();
        arena.close();
    }

    private static int freePort() throws Exception {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    private static void eventually(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("not in time: " + what).isNegative();
            LockSupport.parkNanos(5_000_000);
        }
    }

    private Outcome<Done> move(
            Opcode opcode, MemorySegment local, SegmentHandle target, long address) {
        return engine.transfer(
                        List.of(new TransferRequest(opcode, local, target, address)), PATIENCE)
                .getFirst();
    }

    @Test
    void a_stopped_peer_ends_its_own_transfers_alone_and_serves_again_when_it_goes_on()
            throws Exception {
        try (EngineProcess stuck = EngineProcess.start(REGION, 0, 0);
                EngineProcess fine = EngineProcess.start(REGION, 0, 0)) {
            SegmentHandle toStuck = engine.openSegment(stuck.segment()).orThrow();
            SegmentHandle toFine = engine.openSegment(fine.segment()).orThrow();
            MemorySegment local = arena.allocate(1 << 20);
            TransferRequest read =
                    new TransferRequest(Opcode.READ, local, toStuck, stuck.address());
            try (Batch batch = engine.allocateBatch(100_000, BATCH).orThrow()) {
                assertThat(batch.submit(Collections.nCopies(100_000, read)).isOk()).isTrue();
                eventually("bytes", () -> batch.status().completed() > 10);
                stuck.stop();
                for (int i = 0; i < 10; i++) {
                    MemorySegment block = arena.allocate(BLOCK).fill((byte) i);
                    Outcome<Done> moved = move(Opcode.WRITE, block, toFine, fine.address());
                    assertThat(moved.isOk()).as("%s", moved).isTrue();
                    assertThat(fine.crc(0, BLOCK)).isEqualTo(EnginePeer.crc(block));
                }
                assertThat(batch.status().state())
                        .as("the other one has delayed nobody")
                        .isEqualTo(TransferState.WAITING);
                assertThat(batch.await(PATIENCE)).isTrue();
                assertThat(batch.status().state()).isEqualTo(TransferState.TIMEOUT);
                assertThat(
                                batch.status(99_999)
                                        .orThrow()
                                        .failure()
                                        .map(Outcome.Failed::code)
                                        .orElseThrow())
                        .isEqualTo(TransferCode.ERR_SOCKET);
            }
            stuck.resume();
            MemorySegment block = arena.allocate(BLOCK).fill((byte) 0x5a);
            assertThat(move(Opcode.WRITE, block, toStuck, stuck.address()).isOk()).isTrue();
            assertThat(stuck.crc(0, BLOCK)).isEqualTo(EnginePeer.crc(block));
        }
    }

    @Test
    void a_peer_that_is_killed_and_restarted_on_its_address_is_met_again() throws Exception {
        survives(3);
    }

    @Test
    @Tag("deep")
    void a_peer_may_be_killed_and_restarted_twenty_times_under_load() throws Exception {
        survives(20);
    }

    private void survives(int restarts) throws Exception {
        int rpcPort = freePort();
        int dataPort = freePort();
        EngineProcess peer = EngineProcess.start(REGION, rpcPort, dataPort);
        try {
            SegmentHandle handle = engine.openSegment(peer.segment()).orThrow();
            AtomicBoolean stop = new AtomicBoolean();
            AtomicLong good = new AtomicLong();
            AtomicLong wrong = new AtomicLong();
            AtomicLong surprising = new AtomicLong();
            Thread load =
                    Thread.ofPlatform().start(() -> loop(handle, stop, good, wrong, surprising));
            for (int i = 0; i < restarts; i++) {
                long before = good.get();
                eventually("load", () -> good.get() > before + 20);
                peer.kill();
                peer = EngineProcess.start(REGION, rpcPort, dataPort);
                assertThat(peer.rpcPort()).isEqualTo(rpcPort);
            }
            long before = good.get();
            eventually("load after the last restart", () -> good.get() > before + 20);
            stop.set(true);
            load.join();
            assertThat(wrong.get()).as("blocks with wrong bytes").isZero();
            assertThat(surprising.get()).as("failures with another code").isZero();
        } finally {
            peer.close();
        }
    }

    /** Writes blocks and reads them back, whoever serves; each block is of one value. */
    private void loop(
            SegmentHandle handle,
            AtomicBoolean stop,
            AtomicLong good,
            AtomicLong wrong,
            AtomicLong surprising) {
        MemorySegment out = arena.allocate(BLOCK);
        MemorySegment back = arena.allocate(BLOCK);
        for (int round = 1; !stop.get(); round++) {
            Outcome<List<RemoteBuffer>> buffers = engine.remoteBuffers(handle);
            if (!(buffers instanceof Outcome.Ok<List<RemoteBuffer>>(List<RemoteBuffer> found))
                    || found.isEmpty()) {
                continue;
            }
            long address =
                    found.getFirst().address() + (long) BLOCK * (round % (int) (REGION / BLOCK));
            byte value = (byte) (1 + round % 100);
            Outcome<Done> written = move(Opcode.WRITE, out.fill(value), handle, address);
            Outcome<Done> read = move(Opcode.READ, back.fill((byte) -1), handle, address);
            if (written.isOk() && read.isOk()) {
                byte first = back.get(ValueLayout.JAVA_BYTE, 0);
                // Zeros are those of a process that has started in between.
                boolean right = (first == value || first == 0) && isUniform(back, first);
                (right ? good : wrong).incrementAndGet();
            } else if (!isExpected(written) || !isExpected(read)) {
                surprising.incrementAndGet();
            }
        }
    }

    private static boolean isUniform(MemorySegment memory, byte value) {
        for (long i = 0; i < memory.byteSize(); i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != value) {
                return false;
            }
        }
        return true;
    }

    private static boolean isExpected(Outcome<Done> outcome) {
        return switch (outcome) {
            case Outcome.Ok<Done> ok -> true;
            case Outcome.Failed<Done>(Code code, String detail) ->
                    code == TransferCode.ERR_SOCKET
                            || code == TransferCode.ERR_ADDRESS_NOT_REGISTERED
                            || code == TransferCode.ERR_METADATA;
        };
    }
}
