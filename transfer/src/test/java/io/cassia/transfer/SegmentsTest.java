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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Opened segments: closing, refreshing and looking at them; messages by number and name. */
final class SegmentsTest {
    private final List<AutoCloseable> open = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final TransferEngine engine = Peers.engine(Peers.overTcp());

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

    private TransferRequest read(SegmentHandle target) {
        return new TransferRequest(Opcode.READ, arena.allocate(64), target, PeerStandIn.BASE);
    }

    private Outcome<Done> readNow(SegmentHandle target) {
        return engine.transfer(List.of(read(target)), Peers.DEADLINE).getFirst();
    }

    private static Code code(Outcome<?> outcome) {
        return outcome instanceof Outcome.Failed<?>(Code code, String detail)
                ? code
                : TransferCode.OK;
    }

    @Test
    void who_gives_up_opening_takes_the_segment_from_nobody_who_waits_on() throws Exception {
        PeerStandIn peer = peer(PeerStandIn.Connection::answerAll);
        CountDownLatch late = new CountDownLatch(1);
        peer.answerAfter(late);
        CompletableFuture<Outcome<SegmentHandle>> patient =
                CompletableFuture.supplyAsync(
                        () -> engine.openSegment(peer.name()),
                        task -> Thread.ofPlatform().start(task));
        Peers.eventually("it asks", () -> peer.rpcExchanges() == 1);
        ScatterRange hasty =
                new ScatterRange(
                        Opcode.READ,
                        peer.name(),
                        PeerStandIn.BASE,
                        64,
                        arena.allocate(64),
                        List.of(new ScatterRange.Fragment(0, 0, 64)));
        assertThat(
                        engine.transferScatter(List.of(hasty), Duration.ofMillis(100))
                                .orThrow()
                                .getFirst()
                                .getFirst())
                .matches(outcome -> code(outcome) == TransferCode.ERR_SOCKET);
        late.countDown();
        SegmentHandle opened = patient.get(20, TimeUnit.SECONDS).orThrow();
        assertThat(engine.openSegment(peer.name())).isEqualTo(Outcome.ok(opened));
        assertThat(engine.syncSegment(peer.name())).isEqualTo(Outcome.done());
        assertThat(engine.removeLocalSegment(peer.name())).isEqualTo(Outcome.done());
    }

    @Test
    void a_closed_segment_ends_its_transfers_and_its_handle_and_can_be_opened_again()
            throws Exception {
        AtomicBoolean answering = new AtomicBoolean();
        PeerStandIn peer =
                peer(
                        connection -> {
                            if (answering.get()) {
                                connection.answerAll();
                            } else {
                                connection.awaitEnd();
                            }
                        });
        SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
        try (Batch batch = engine.allocateBatch(100).orThrow()) {
            List<TransferRequest> many = java.util.Collections.nCopies(100, read(handle));
            assertThat(batch.submit(many).isOk()).isTrue();
            Peers.eventually("a connection", () -> peer.connections() >= 1);
            assertThat(engine.closeSegment(handle).isOk()).isTrue();
            assertThat(batch.await(Peers.DEADLINE)).isTrue();
            // Which tasks met the connection that hangs is a matter of chance.
            List<Outcome.Failed<Done>> failures = new ArrayList<>();
            for (int task = 0; task < 100; task++) {
                batch.status(task).orThrow().failure().ifPresent(failures::add);
            }
            assertThat(failures)
                    .isNotEmpty()
                    .allSatisfy(
                            failure -> {
                                assertThat(failure.code()).isEqualTo(TransferCode.ERR_ENDPOINT);
                                assertThat(failure.detail()).contains("was closed meanwhile");
                            });
        }
        answering.set(true);
        assertThat(code(readNow(handle))).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        assertThat(code(engine.closeSegment(handle))).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        assertThat(code(engine.segment(handle.id()))).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        SegmentHandle again = engine.openSegment(peer.name()).orThrow();
        assertThat(again.id()).isNotEqualTo(handle.id());
        assertThat(readNow(again).isOk()).isTrue();
        assertThat(engine.removeLocalSegment("/" + peer.name()).isOk()).isTrue();
        assertThat(code(readNow(again))).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
    }

    @Test
    void each_way_not_to_close_a_segment_is_told_apart() {
        List<Outcome<Done>> outcomes =
                List.of(
                        engine.removeLocalSegment("//"),
                        engine.removeLocalSegment("nobody:1"),
                        engine.removeLocalSegment(engine.localName()),
                        engine.closeSegment(engine.localSegment()));
        assertThat(outcomes)
                .extracting(SegmentsTest::code)
                .containsOnly(TransferCode.ERR_INVALID_ARGUMENT);
        assertThat(outcomes)
                .extracting(outcome -> ((Outcome.Failed<Done>) outcome).detail())
                .satisfiesExactly(
                        detail -> assertThat(detail).contains("is empty"),
                        detail -> assertThat(detail).contains("nobody:1 is not open"),
                        detail -> assertThat(detail).contains("engine's own"),
                        detail -> assertThat(detail).contains("engine's own"));
    }

    @Test
    void a_segment_that_is_synchronised_goes_where_its_owner_is_now() throws Exception {
        PeerStandIn before = peer(PeerStandIn.Connection::answerAll);
        PeerStandIn after = peer(PeerStandIn.Connection::answerAll);
        PeerStandIn other = peer(PeerStandIn.Connection::answerAll);
        SegmentHandle handle = engine.openSegment(before.name()).orThrow();
        SegmentHandle second = engine.openSegment(other.name()).orThrow();
        assertThat(readNow(handle).isOk()).isTrue();
        before.answer(before.descriptor("tcp", after.dataPort(), 2));
        assertThat(readNow(handle).isOk()).isTrue();
        assertThat(after.connections()).as("nothing tells to look again").isZero();
        assertThat(engine.syncSegment(before.name()).isOk()).isTrue();
        assertThat(readNow(handle).isOk()).isTrue();
        assertThat(after.connections()).isEqualTo(1);

        other.answer("{\"name\":");
        before.answer(before.descriptor("tcp", before.dataPort(), 2));
        assertThat(code(engine.syncSegments())).isEqualTo(TransferCode.ERR_MALFORMED_JSON);
        int connections = before.connections();
        assertThat(readNow(handle).isOk()).isTrue();
        assertThat(before.connections()).as("read all the same").isEqualTo(connections + 1);
        assertThat(readNow(second).isOk()).as("the old way still works").isTrue();
        assertThat(code(engine.syncSegment("nobody:1")))
                .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
    }

    @Test
    void links_show_the_peers_and_their_lanes() throws Exception {
        PeerStandIn peer = peer(PeerStandIn.Connection::answerAll);
        SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
        assertThat(readNow(handle).isOk()).isTrue();
        assertThat(engine.links().peers())
                .singleElement()
                .satisfies(
                        link -> {
                            assertThat(link.segment()).isEqualTo(peer.name());
                            assertThat(link.endpoint()).isEqualTo("127.0.0.1:" + peer.dataPort());
                            assertThat(link.transport()).isEqualTo("tcp");
                            assertThat(link.lanes()).isEqualTo(1);
                            assertThat(link.busy()).isZero();
                            assertThat(link.state()).isEqualTo("idle");
                            assertThat(link.lastFailure()).isEmpty();
                        });
        assertThat(engine.links().toJson()).contains("\"local_nics\"").contains("\"topology\"");
        assertThat(engine.links().toText()).contains(peer.name() + " by tcp at 127.0.0.1");
    }

    @Test
    void links_tell_what_was_lost_last_and_why() throws Exception {
        PeerStandIn peer =
                peer(
                        connection -> {
                            PeerStandIn.Request _ = connection.request();
                            connection.reset();
                        });
        SegmentHandle handle = engine.openSegment(peer.name()).orThrow();
        assertThat(engine.links().peers().getFirst().state()).isEqualTo("unconnected");
        assertThat(readNow(handle).isOk()).isFalse();
        assertThat(engine.links().peers().getFirst().lastFailure())
                .startsWith("broken ")
                .contains(" ms ago: ")
                .contains("127.0.0.1:" + peer.dataPort());
        peer.close();
        // What was accepted just before is broken first.
        Peers.eventually(
                "unreachable",
                () ->
                        !readNow(handle).isOk()
                                && engine.links()
                                        .peers()
                                        .getFirst()
                                        .lastFailure()
                                        .startsWith("unreachable "));
        LinkReport.Peer gone = engine.links().peers().getFirst();
        assertThat(gone.lastFailure()).contains("refused");
        assertThat(gone.state()).isIn("backing-off", "unconnected");
        assertThat(engine.links().toText()).contains("last failure: unreachable");
    }

    @Test
    void links_tell_when_bytes_take_no_connection() {
        TransferConfig config = TransferConfig.p2p("127.0.0.1");
        TransferEngine target = Peers.engine(config);
        open.add(target);
        TransferEngine near = Peers.engine(config);
        open.add(near);
        SegmentHandle _ = near.openSegment(target.localName()).orThrow();
        LinkReport.Peer link = near.links().peers().getFirst();
        assertThat(link.transport()).isEqualTo("local");
        assertThat(link.state()).isEqualTo("attached");
        assertThat(link.lanes()).isZero();
    }

    @Test
    void messages_and_probes_reach_peers_by_number_and_by_name() {
        TransferEngine target = Peers.engine(Peers.overTcp());
        open.add(target);
        SegmentHandle handle = engine.openSegment(target.localName()).orThrow();
        SegmentHandle same = engine.segment(handle.id()).orThrow();
        Notification first = new Notification("by number", "1");
        Notification second = new Notification("by name", "2");
        assertThat(engine.sendNotification(same, first).isOk()).isTrue();
        assertThat(engine.sendNotification("/" + target.localName(), second).isOk()).isTrue();
        assertThat(target.drainNotifications()).containsExactly(first, second);
        assertThat(target.drainNotifications()).isEmpty();
        assertThat(engine.probe(handle.id()).isOk()).isTrue();
        assertThat(engine.probe(target.localName()).isOk()).isTrue();
        assertThat(code(engine.probe(99))).isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        assertThat(code(engine.sendNotification("", first)))
                .isEqualTo(TransferCode.ERR_INVALID_ARGUMENT);
        target.close();
        assertThat(code(engine.probe(handle.id()))).isEqualTo(TransferCode.ERR_SOCKET);
        assertThat(code(engine.sendNotification("no-such-host.invalid:1", first)))
                .isEqualTo(TransferCode.ERR_DNS);
    }

    @Test
    void messages_that_nobody_takes_are_refused_above_a_limit_and_counted() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        TransferEngine target =
                TransferEngine.start(Peers.overTcp(), Clock.system(), meters).orThrow();
        open.add(target);
        Notification large = new Notification("me", "x".repeat(1_000_000));
        int taken = 0;
        Outcome<Done> last = engine.sendNotification(target.localName(), large);
        while (last.isOk() && taken < 100) {
            taken++;
            last = engine.sendNotification(target.localName(), large);
        }
        assertThat(taken).isEqualTo(67);
        assertThat(code(last)).isEqualTo(TransferCode.ERR_METADATA);
        assertThat(
                        meters.get("cassia.transfer.handshake.dropped")
                                .tag("reason", "inbox-full")
                                .counter()
                                .count())
                .isEqualTo(1);
        assertThat(target.drainNotifications()).hasSize(67);
        assertThat(engine.sendNotification(target.localName(), large).isOk()).isTrue();
    }
}
