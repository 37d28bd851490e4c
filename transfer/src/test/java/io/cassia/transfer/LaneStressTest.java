package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Code;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.cassia.transfer.topology.LinkReport;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Many callers and batches share the lanes to a peer that resets, rejects, hangs and closes at
 * random: each request ends once, with the right bytes or a code; lanes are never more than
 * configured; what was cancelled touches no memory any more.
 */
final class LaneStressTest {
    private static final int LANES = 3;
    private static final int BLOCK = 512;
    private static final int BLOCKS = 64;

    private final AtomicInteger connected = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicLong ended = new AtomicLong();
    private final Set<Code> codes = ConcurrentHashMap.newKeySet();
    private final Set<String> wrong = ConcurrentHashMap.newKeySet();

    @Test
    void each_request_ends_once_whatever_happens_to_the_lanes() throws Exception {
        stress(Duration.ofSeconds(2));
    }

    @Test
    @Tag("deep")
    void each_request_ends_once_whatever_happens_to_the_lanes_for_a_minute() throws Exception {
        stress(Duration.ofSeconds(60));
    }

    private void stress(Duration duration) throws Exception {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        TransferConfig config =
                Peers.overTcp()
                        .withLanesPerPeer(LANES)
                        .withTimeouts(
                                TransferConfig.Timeouts.DEFAULT.withStall(Duration.ofMillis(400)));
        long end = System.nanoTime() + duration.toNanos();
        try (PeerStandIn peer = new PeerStandIn(2, this::serve);
                TransferEngine engine =
                        TransferEngine.start(config, Clock.system(), meters).orThrow();
                Arena arena = Arena.ofShared()) {
            for (int i = 0; i < PeerStandIn.MEMORY_BYTES; i++) {
                peer.memory[i] = value(i);
            }
            Peers.eventually("open", () -> engine.openSegment(peer.name()).isOk());
            SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                Random random = new Random(i);
                MemorySegment memory = arena.allocate((long) BLOCKS * BLOCK);
                boolean blocking = i % 2 == 0;
                threads.add(
                        Thread.ofPlatform()
                                .start(
                                        () -> {
                                            while (System.nanoTime() - end < 0) {
                                                if (blocking) {
                                                    call(engine, handle, memory, random);
                                                } else {
                                                    submit(engine, handle, memory, random);
                                                }
                                            }
                                        }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            LinkReport.Peer link = engine.links().peers().getFirst();
            assertThat(link.busy()).as("%s", link).isZero();
            assertThat(link.lanes()).isLessThanOrEqualTo(LANES);
            for (String state : List.of("busy", "connecting")) {
                assertThat(meters.get("cassia.transfer.lanes").tag("state", state).gauge().value())
                        .as(state)
                        .isZero();
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(ended.get()).isGreaterThan(100);
        // The peer sees a connection end a little later than the engine, which replaces it.
        assertThat(most.get()).isLessThanOrEqualTo(2 * LANES);
        assertThat(codes)
                .isSubsetOf(
                        EnumSet.of(
                                TransferCode.ERR_SOCKET,
                                TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                                TransferCode.ERR_ENDPOINT,
                                TransferCode.ERR_TOO_MANY_REQUESTS,
                                TransferCode.ERR_CONTEXT));
    }

    private static byte value(int address) {
        return (byte) (1 + address / BLOCK % 100);
    }

    /** A well-behaved peer, most of the time. */
    private void serve(PeerStandIn.Connection connection) throws IOException {
        most.accumulateAndGet(connected.incrementAndGet(), Math::max);
        Random random = new Random(connection.number);
        try {
            while (true) {
                switch (random.nextInt(40)) {
                    case 0 -> {
                        connection.reset();
                        return;
                    }
                    case 1 -> {
                        PeerStandIn.Request _ = connection.request();
                        connection.status(1);
                        return;
                    }
                    case 2 -> {
                        PeerStandIn.Request request = connection.request();
                        if (!request.isWrite()) {
                            connection.status(0);
                            connection.out.write(connection.memory(), 0, 3);
                        }
                        return;
                    }
                    case 3 -> {
                        if (random.nextInt(40) == 0) {
                            connection.awaitEnd();
                            return;
                        }
                    }
                    default -> {
                        if (!connection.answerOne()) {
                            return;
                        }
                    }
                }
            }
        } finally {
            connected.decrementAndGet();
        }
    }

    private static List<TransferRequest> requests(
            SegmentHandle handle, MemorySegment memory, Random random, List<Integer> blocks) {
        List<TransferRequest> requests = new ArrayList<>();
        for (int i = 0; i < BLOCKS; i++) {
            int block = random.nextInt(PeerStandIn.MEMORY_BYTES / BLOCK);
            blocks.add(block);
            requests.add(
                    new TransferRequest(
                            Opcode.READ,
                            memory.asSlice((long) i * BLOCK, BLOCK),
                            handle,
                            PeerStandIn.BASE + (long) block * BLOCK));
        }
        return requests;
    }

    private void call(
            TransferEngine engine, SegmentHandle handle, MemorySegment memory, Random random) {
        List<Integer> blocks = new ArrayList<>();
        List<TransferRequest> requests = requests(handle, memory.fill((byte) 0), random, blocks);
        List<Outcome<Done>> outcomes = engine.transfer(requests, Duration.ofSeconds(2));
        for (int i = 0; i < BLOCKS; i++) {
            if (outcomes.get(i) instanceof Outcome.Failed<Done> failed) {
                codes.add(failed.code());
            } else {
                check(requests.get(i).local(), value(blocks.get(i) * BLOCK), "read");
            }
            ended.incrementAndGet();
        }
    }

    private void submit(
            TransferEngine engine, SegmentHandle handle, MemorySegment memory, Random random) {
        List<Integer> blocks = new ArrayList<>();
        List<TransferRequest> requests = requests(handle, memory.fill((byte) 0), random, blocks);
        try (Batch batch = engine.allocateBatch(BLOCKS, Duration.ofSeconds(2)).orThrow()) {
            if (batch.submit(requests) instanceof Outcome.Failed<Done> failed) {
                codes.add(failed.code());
                return;
            }
            if (random.nextInt(3) == 0) {
                if (!batch.cancel(random.nextInt(BLOCKS)).isOk() || !batch.cancel().isOk()) {
                    wrong.add("a task did not let go");
                }
                // Nobody may touch the memory of a cancelled task any more.
                memory.fill((byte) 127);
                check(memory, (byte) 127, "late");
            } else if (!batch.await(Duration.ofSeconds(30))) {
                wrong.add("a batch did not end");
                return;
            }
            BatchStatus status = batch.status();
            if (status.completed() + status.failed() != BLOCKS || status.tasks() != BLOCKS) {
                wrong.add("counted wrong: " + status);
            }
            ended.addAndGet(BLOCKS);
        }
    }

    private void check(MemorySegment memory, byte expected, String what) {
        for (long at = 0; at < memory.byteSize(); at++) {
            byte found = memory.get(ValueLayout.JAVA_BYTE, at);
            if (found != expected) {
                wrong.add("%s %d instead of %d".formatted(what, found, expected));
                return;
            }
        }
    }
}
