package io.cassia.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.cassia.base.Clock;
import io.cassia.status.Done;
import io.cassia.status.Outcome;
import io.cassia.status.TransferCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests in the background: their ends, waiting for them, and giving them up. */
final class BatchTest {
    private static final int HALF = 1 << 10;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final TransferEngine engine =
            TransferEngine.start(Peers.overTcp(), Clock.system(), meters).orThrow();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
        engine.close();
        arena.close();
    }

    private PeerStandIn peer(PeerStandIn.Script script) throws IOException {
        PeerStandIn peer = new PeerStandIn(2, script);
        open.add(peer);
        return peer;
    }

    /** A peer that answers nothing. */
    private SegmentHandle mute() throws IOException {
        return engine.openSegment(peer(PeerStandIn.Connection::awaitEnd).name()).orThrow();
    }

    private SegmentHandle good() throws IOException {
        return engine.openSegment(peer(PeerStandIn.Connection::answerAll).name()).orThrow();
    }

    private TransferRequest read(SegmentHandle target) {
        return new TransferRequest(Opcode.READ, arena.allocate(64), target, PeerStandIn.BASE);
    }

    private Batch batch(int capacity) {
        Batch batch = engine.allocateBatch(capacity).orThrow();
        open.add(batch);
        return batch;
    }

    private static TransferState state(Batch batch, int task) {
        return batch.status(task).orThrow().state();
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

    /** Sends half of a body, then the rest when told to. */
    private static final class Hesitant {
        final CountDownLatch halfSent = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final CountDownLatch over = new CountDownLatch(1);

        void serve(PeerStandIn.Connection connection) throws IOException {
            PeerStandIn.Request request = connection.request();
            connection.status(0);
            connection.out.write(connection.memory(), 0, HALF);
            halfSent.countDown();
            try {
                assertThat(goOn.await(10, TimeUnit.SECONDS)).isTrue();
                connection.out.write(connection.memory(), HALF, (int) request.size() - HALF);
            } catch (InterruptedException e) {
                throw new IOException(e);
            } finally {
                over.countDown();
            }
        }
    }

    @Test
    void a_cancelled_task_ends_at_once_and_no_late_byte_lands() throws Exception {
        Hesitant hesitant = new Hesitant();
        PeerStandIn peer = peer(hesitant::serve);
        SegmentHandle target = engine.openSegment(peer.name()).orThrow();
        MemorySegment into = arena.allocate(2 * HALF);
        Batch batch = batch(1);
        assertThat(
                        batch.submit(
                                        List.of(
                                                new TransferRequest(
                                                        Opcode.READ,
                                                        into,
                                                        target,
                                                        PeerStandIn.BASE)))
                                .isOk())
                .isTrue();
        assertThat(hesitant.halfSent.await(10, TimeUnit.SECONDS)).isTrue();
        Peers.eventually("half a body", () -> into.asSlice(0, HALF).mismatch(half(peer)) == -1);
        assertThat(batch.cancel().isOk()).isTrue();
        assertThat(state(batch, 0)).isEqualTo(TransferState.CANCELED);
        assertThat(batch.status(0).orThrow().failure()).isEmpty();
        assertThat(batch.status()).isEqualTo(new BatchStatus(TransferState.CANCELED, 0, 1, 0, 1));
        into.fill((byte) 0x55);
        hesitant.goOn.countDown();
        assertThat(hesitant.over.await(10, TimeUnit.SECONDS)).isTrue();
        // A whole exchange with another peer: what was on its way here has arrived.
        assertThat(engine.transfer(List.of(read(good())), Peers.DEADLINE)).allMatch(Outcome::isOk);
        for (long i = 0; i < into.byteSize(); i++) {
            assertThat(into.get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) 0x55);
        }
        assertThat(meters.get("cassia.transfer.cancellations").counter().count()).isEqualTo(1);
        assertThat(meters.find("cassia.transfer.failures").counters()).isEmpty();
    }

    private static MemorySegment half(PeerStandIn peer) {
        return MemorySegment.ofArray(peer.memory).asSlice(0, HALF);
    }

    @Test
    void one_cancelled_task_leaves_the_others_alone() throws Exception {
        // The first request of the first connection is never answered, the others are.
        AtomicInteger requests = new AtomicInteger();
        PeerStandIn peer =
                peer(
                        connection -> {
                            if (connection.number == 0) {
                                PeerStandIn.Request _ = connection.request();
                                requests.incrementAndGet();
                                connection.awaitEnd();
                            } else {
                                connection.answerAll();
                            }
                        });
        SegmentHandle target = engine.openSegment(peer.name()).orThrow();
        Batch batch = batch(5);
        assertThat(
                        batch.submit(
                                        List.of(
                                                read(target),
                                                read(target),
                                                read(target),
                                                read(target),
                                                read(target)))
                                .isOk())
                .isTrue();
        Peers.eventually("a request", () -> requests.get() == 1);
        assertThat(batch.cancel(2).isOk()).isTrue();
        assertThat(state(batch, 2)).isEqualTo(TransferState.CANCELED);
        assertThat(batch.await(Peers.DEADLINE)).isTrue();
        for (int task : List.of(0, 1, 3, 4)) {
            assertThat(state(batch, task)).isEqualTo(TransferState.COMPLETED);
        }
        assertThat(batch.status())
                .isEqualTo(new BatchStatus(TransferState.CANCELED, 4 * 64, 5, 4, 1));
        assertFailed(batch.cancel(5), TransferCode.ERR_INVALID_ARGUMENT, "task 5");
        assertThat(batch.cancel(0).isOk()).as("too late is fine").isTrue();
        assertThat(state(batch, 0)).isEqualTo(TransferState.COMPLETED);
    }

    @Test
    void cancelling_a_batch_does_not_disturb_another_one_on_the_same_lane() throws Exception {
        PeerStandIn peer =
                peer(
                        connection -> {
                            if (connection.number == 0) {
                                connection.awaitEnd();
                            } else {
                                connection.answerAll();
                            }
                        });
        try (TransferEngine narrow = Peers.engine(Peers.overTcp().withLanesPerPeer(1))) {
            SegmentHandle target = narrow.openSegment(peer.name()).orThrow();
            try (Batch unwanted = narrow.allocateBatch(100).orThrow();
                    Batch wanted = narrow.allocateBatch(100).orThrow()) {
                List<TransferRequest> many = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    many.add(read(target));
                }
                assertThat(unwanted.submit(many).isOk()).isTrue();
                assertThat(wanted.submit(many).isOk()).isTrue();
                Peers.eventually("a connection", () -> peer.connections() == 1);
                assertThat(unwanted.cancel().isOk()).isTrue();
                assertThat(unwanted.status().state()).isEqualTo(TransferState.CANCELED);
                assertThat(wanted.join(Peers.DEADLINE).orThrow())
                        .isEqualTo(new BatchStatus(TransferState.COMPLETED, 40 * 64, 40, 40, 0));
            }
        }
    }

    @Test
    void a_long_copy_inside_the_process_is_cancelled_too() {
        long bytes = 256L << 20;
        try (TransferEngine near = Peers.engine(TransferConfig.p2p("127.0.0.1"))) {
            Region region = near.allocate(bytes).orThrow();
            RegisteredBuffer buffer =
                    near.register(region.memory(), BufferOptions.DEFAULT).orThrow();
            Region other = near.allocate(bytes).orThrow();
            TransferRequest copy =
                    new TransferRequest(
                            Opcode.WRITE, other.memory(), near.localSegment(), buffer.address());
            try (Batch batch = near.allocateBatch(64).orThrow()) {
                assertThat(batch.submit(java.util.Collections.nCopies(64, copy)).isOk()).isTrue();
                assertThat(batch.cancel().isOk()).isTrue();
                assertThat(batch.status().state()).isEqualTo(TransferState.CANCELED);
                assertThat(batch.status().transferredBytes()).isLessThan(64 * bytes);
            }
        }
    }

    @Test
    void tasks_added_later_make_a_completed_batch_wait_again() throws Exception {
        SegmentHandle good = good();
        SegmentHandle mute = mute();
        Batch batch = batch(3);
        assertThat(batch.submit(List.of(read(good))).isOk()).isTrue();
        assertThat(batch.join(Peers.DEADLINE).orThrow().state()).isEqualTo(TransferState.COMPLETED);
        assertThat(batch.submit(List.of(read(mute))).isOk()).isTrue();
        assertThat(batch.status()).isEqualTo(new BatchStatus(TransferState.WAITING, 64, 2, 1, 0));
        // A failed task hides neither the one before nor the one behind.
        assertThat(
                        batch.submit(
                                        List.of(
                                                new TransferRequest(
                                                        Opcode.READ, arena.allocate(8), good, 5)))
                                .isOk())
                .isTrue();
        Peers.eventually("a failure", () -> state(batch, 2) == TransferState.FAILED);
        assertThat(state(batch, 1)).isEqualTo(TransferState.WAITING);
        assertThat(batch.status().state()).isEqualTo(TransferState.WAITING);
        assertFailed(batch.join(Duration.ofMillis(1)), TransferCode.ERR_CLOCK, "1 of 3 tasks");
        assertFailed(batch.free(), TransferCode.ERR_BATCH_BUSY, mute.name());
        assertThat(batch.cancel().isOk()).isTrue();
        assertThat(batch.status()).isEqualTo(new BatchStatus(TransferState.FAILED, 64, 3, 1, 2));
        assertThat(batch.free().isOk()).isTrue();
        assertThat(batch.free().isOk()).isTrue();
    }

    @Test
    void each_batch_has_its_own_deadline_even_behind_another_one() throws Exception {
        PeerStandIn peer = peer(PeerStandIn.Connection::awaitEnd);
        try (TransferEngine narrow = Peers.engine(Peers.overTcp().withLanesPerPeer(1))) {
            SegmentHandle target = narrow.openSegment(peer.name()).orThrow();
            try (Batch patient = narrow.allocateBatch(1, Duration.ofMinutes(1)).orThrow();
                    Batch brief = narrow.allocateBatch(2, Duration.ofMillis(150)).orThrow()) {
                assertThat(patient.submit(List.of(read(target))).isOk()).isTrue();
                Peers.eventually("a connection", () -> peer.connections() == 1);
                assertThat(brief.submit(List.of(read(target))).isOk()).isTrue();
                assertThat(brief.await(Duration.ofSeconds(10))).isTrue();
                assertThat(brief.status().state()).isEqualTo(TransferState.TIMEOUT);
                assertThat(brief.status(0).orThrow().failure())
                        .hasValueSatisfying(
                                f -> assertThat(f.code()).isEqualTo(TransferCode.ERR_SOCKET));
                assertThat(patient.status().state()).isEqualTo(TransferState.WAITING);
                // Its watch is set again for what comes later.
                assertThat(brief.submit(List.of(read(target))).isOk()).isTrue();
                assertThat(brief.await(Duration.ofSeconds(10))).isTrue();
                assertThat(brief.status().state()).isEqualTo(TransferState.TIMEOUT);
            }
        }
        assertFailed(
                engine.allocateBatch(1, Duration.ZERO),
                TransferCode.ERR_INVALID_ARGUMENT,
                "timeout");
    }

    @Test
    void a_stage_completes_with_the_tasks_submitted_until_then_and_may_block() throws Exception {
        SegmentHandle good = good();
        Batch batch = batch(2);
        assertThat(batch.completion().toCompletableFuture().join().tasks()).isZero();
        assertThat(batch.submit(List.of(read(mute()))).isOk()).isTrue();
        CompletableFuture<BatchStatus> first = batch.completion().toCompletableFuture();
        CountDownLatch blocked = new CountDownLatch(1);
        CompletableFuture<BatchStatus> dependent =
                first.thenApply(
                        status -> {
                            blocked.countDown();
                            // The engine goes on although this one waits for it.
                            Outcome<Done> submitted = batch.submit(List.of(read(good)));
                            assertThat(submitted.isOk()).isTrue();
                            return batch.join(Peers.DEADLINE).orThrow();
                        });
        assertThat(first).isNotDone();
        assertThat(batch.cancel(0).isOk()).isTrue();
        assertThat(dependent.get(10, TimeUnit.SECONDS))
                .isEqualTo(new BatchStatus(TransferState.CANCELED, 64, 2, 1, 1));
        assertThat(first.join()).isEqualTo(new BatchStatus(TransferState.CANCELED, 0, 1, 0, 1));
        assertThat(blocked.getCount()).isZero();
    }

    @Test
    void a_busy_batch_that_is_let_go_is_freed_when_its_last_task_has_ended() throws Exception {
        Batch batch = batch(2);
        SegmentHandle mute = mute();
        assertThat(batch.submit(List.of(read(mute), read(mute))).isOk()).isTrue();
        assertFailed(batch.free(), TransferCode.ERR_BATCH_BUSY, "2 of 2 tasks");
        assertThat(batch.status().tasks()).as("still valid").isEqualTo(2);
        CompletableFuture<BatchStatus> end = batch.completion().toCompletableFuture();
        assertFailed(batch.freeDeferred(), TransferCode.ERR_BATCH_CLEANUP_DEFERRED, "2 of 2 tasks");
        assertFailed(batch.submit(List.of(read(mute))), TransferCode.ERR_INVALID_ARGUMENT, "freed");
        assertFailed(batch.status(0), TransferCode.ERR_INVALID_ARGUMENT, "freed");
        assertThat(end.get(10, TimeUnit.SECONDS))
                .isEqualTo(new BatchStatus(TransferState.CANCELED, 0, 2, 0, 2));
        Peers.eventually("no deferred batch", () -> deferred() == 0);
        assertThat(batch.freeDeferred().isOk()).isTrue();
        assertThat(batch(1).freeDeferred().isOk()).as("an idle one is freed at once").isTrue();
    }

    private double deferred() {
        return meters.get("cassia.transfer.batches.deferred").gauge().value();
    }

    @Test
    void a_message_follows_a_whole_batch_once_though_nobody_polls() throws Exception {
        TransferEngine target = Peers.engine(Peers.overTcp());
        open.add(target);
        Region region = target.allocate(64).orThrow();
        RegisteredBuffer buffer = target.register(region.memory(), BufferOptions.DEFAULT).orThrow();
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        TransferRequest write =
                new TransferRequest(Opcode.WRITE, arena.allocate(64), handle, buffer.address());
        Batch batch = batch(200);
        assertThat(batch.submit(java.util.Collections.nCopies(99, write)).isOk()).isTrue();
        Delivery delivery =
                batch.submit(List.of(write), new Notification("me", "all there")).orThrow();
        assertThat(delivery.completion().toCompletableFuture().get(10, TimeUnit.SECONDS).isOk())
                .isTrue();
        assertThat(target.drainNotifications())
                .containsExactly(new Notification("me", "all there"));
        assertThat(batch.status().completed()).isEqualTo(100);
        assertThat(batch.submit(List.of(write)).isOk()).isTrue();
        assertThat(batch.await(Peers.DEADLINE)).isTrue();
        assertThat(target.drainNotifications()).as("once").isEmpty();
        assertFailed(
                batch.submit(List.of(), new Notification("me", "")),
                TransferCode.ERR_INVALID_ARGUMENT,
                "requests");
    }

    @Test
    void a_message_that_cannot_follow_tells_why() throws Exception {
        TransferEngine target = Peers.engine(Peers.overTcp());
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        Batch failing = batch(1);
        Delivery unsent =
                failing.submit(
                                List.of(
                                        new TransferRequest(
                                                Opcode.READ, arena.allocate(8), handle, 5)),
                                new Notification("me", "never"))
                        .orThrow();
        assertFailed(
                unsent.completion().toCompletableFuture().get(10, TimeUnit.SECONDS),
                TransferCode.ERR_ADDRESS_NOT_REGISTERED,
                "not sent");
        assertThat(target.drainNotifications()).isEmpty();
        target.close();
        Batch empty = batch(1);
        Delivery lost =
                empty.submit(
                                List.of(
                                        new TransferRequest(
                                                Opcode.READ, arena.allocate(0), handle, 5)),
                                new Notification("me", "lost"))
                        .orThrow();
        assertFailed(
                lost.completion().toCompletableFuture().get(10, TimeUnit.SECONDS),
                TransferCode.ERR_SOCKET,
                target.localName());
        assertThat(lost.outcome()).hasValueSatisfying(o -> assertThat(o.isOk()).isFalse());
        assertThat(lost.target()).isEqualTo(handle);
        assertThat(
                        meters.get("cassia.transfer.notification.failures")
                                .tag("code", "ERR_SOCKET")
                                .counter()
                                .count())
                .isEqualTo(1);
    }

    @Test
    void tasks_by_the_hundred_thousand_end_in_one_batch_empty_ones_among_them() throws Exception {
        int blocks = 300_000;
        long block = 4096;
        int slots = 256;
        TransferEngine target = Peers.engine(Peers.overTcp());
        open.add(target);
        Region there = target.allocate(slots * block).orThrow();
        Peers.fill(there.memory(), 3);
        RegisteredBuffer buffer = target.register(there.memory(), BufferOptions.DEFAULT).orThrow();
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        Region here = engine.allocate(slots * block).orThrow();
        List<TransferRequest> requests = new ArrayList<>(blocks);
        long bytes = 0;
        for (int i = 0; i < blocks; i++) {
            long length = i % 7 == 3 ? 0 : block;
            long at = (i % slots) * block;
            requests.add(
                    new TransferRequest(
                            Opcode.READ,
                            here.memory().asSlice(at, length),
                            handle,
                            buffer.address() + at));
            bytes += length;
        }
        Batch batch = batch(blocks);
        assertThat(batch.submit(requests).isOk()).isTrue();
        assertThat(batch.join(Duration.ofSeconds(60)).orThrow())
                .isEqualTo(new BatchStatus(TransferState.COMPLETED, bytes, blocks, blocks, 0));
        assertThat(here.memory().mismatch(there.memory())).isEqualTo(-1);
    }
}
